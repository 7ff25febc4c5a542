//! [`Observer`]: how a training reports where it is, without knowing who listens.

use super::checkpoint::Checkpoint;

/// What one epoch did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EpochReport {
    /// How many epochs are done.
    pub epoch: u32,
    /// The mean loss per fact and side.
    pub loss: f64,
    /// Facts per second, validation not counted; of a resumed epoch, the part since then.
    pub facts_per_second: f64,
    /// What the validation gave, if there was one.
    pub validation: Option<f64>,
    /// Whether that is the best so far.
    pub is_best: bool,
}

/// A listener to a training; `()` listens to nothing.
pub trait Observer {
    /// So many more facts were trained on, at this mean loss.
    fn advanced(&mut self, facts: usize, loss: f64);
    /// An epoch is over; the training can be resumed from this checkpoint.
    fn epoch_ended(&mut self, report: &EpochReport, checkpoint: &Checkpoint);
}

impl Observer for () {
    fn advanced(&mut self, _: usize, _: f64) {}
    fn epoch_ended(&mut self, _: &EpochReport, _: &Checkpoint) {}
}
