//! [`Progress`]: how long operations report their progress.

/// What the progress of a stage is counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Bytes of input.
    Bytes,
    /// Facts.
    Facts,
    /// Steps of a training.
    Steps,
}

/// Receives the progress of a long operation; `()` ignores it.
pub trait Progress: Sync {
    /// A stage begins; `total` is the amount of work, if that is known.
    fn begin(&self, stage: &str, total: Option<u64>, unit: Unit);
    /// Another `amount` of the stage is done.
    fn advance(&self, amount: u64);
    /// The stage is over.
    fn end(&self);
}

impl Progress for () {
    fn begin(&self, _: &str, _: Option<u64>, _: Unit) {}
    fn advance(&self, _: u64) {}
    fn end(&self) {}
}
