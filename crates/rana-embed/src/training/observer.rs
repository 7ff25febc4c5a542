//! [`Observer`]: receives the progress of a training.

use super::checkpoint::Checkpoint;

/// The result of one epoch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EpochReport {
    /// The number of finished epochs.
    pub epoch: u32,
    /// The mean loss per fact and side.
    pub loss: f64,
    /// Facts per second, without validation. For a resumed epoch, only since it was resumed.
    pub facts_per_second: f64,
    /// The score of the validation, if there was one.
    pub validation: Option<f64>,
    /// Whether this score is the best so far.
    pub is_best: bool,
}

/// Receives the progress of a training; `()` ignores it.
pub trait Observer {
    /// Called after each batch with its number of facts and their mean loss.
    fn advanced(&mut self, facts: usize, loss: f64);
    /// Called after each epoch. The training can be resumed from this checkpoint.
    fn epoch_ended(&mut self, report: &EpochReport, checkpoint: &Checkpoint);
}

impl Observer for () {
    fn advanced(&mut self, _: usize, _: f64) {}
    fn epoch_ended(&mut self, _: &EpochReport, _: &Checkpoint) {}
}
