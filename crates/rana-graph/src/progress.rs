//! [`Progress`]: how long work reports where it is, without knowing who listens.

/// What a stage of work counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Bytes of input.
    Bytes,
    /// Facts.
    Facts,
    /// Steps of a training.
    Steps,
}

/// A listener to the progress of long work; `()` listens to nothing.
pub trait Progress: Sync {
    /// A stage begins; `total` is how much there is to do, if that is known.
    fn begin(&self, stage: &str, total: Option<u64>, unit: Unit);
    /// So much more of the stage is done.
    fn advance(&self, amount: u64);
    /// The stage is over.
    fn end(&self);
}

impl Progress for () {
    fn begin(&self, _: &str, _: Option<u64>, _: Unit) {}
    fn advance(&self, _: u64) {}
    fn end(&self) {}
}
