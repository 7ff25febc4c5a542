//! [`Observer`]: sees the progress of long work, and may stop it.

use std::time::Duration;

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

/// Sees the progress of long work, and may stop it. Every method does nothing by default; `()` ignores everything.
///
/// Imports, trainings, evaluations, sweeps and reproductions all report to this trait.
pub trait Observer: Sync {
    /// A stage begins; `total` is the amount of work, if that is known.
    fn begin(&self, _stage: &str, _total: Option<u64>, _unit: Unit) {}
    /// Another `amount` of the stage is done.
    fn advance(&self, _amount: u64) {}
    /// So much of the stage was done before this work was interrupted.
    fn resume(&self, amount: u64) {
        self.advance(amount);
    }
    /// A number that describes the stage now, such as its loss.
    fn measured(&self, _name: &'static str, _value: f64) {}
    /// The stage is over.
    fn end(&self) {}
    /// One of several jobs begins.
    fn turn(&self, _turn: &Turn<'_>) {}
    /// How long the whole work will still take; told again and again.
    fn time_left(&self, _left: Duration) {}
    /// A line for the log.
    fn note(&self, _line: &str) {}
    /// A line for the log of this stage alone; one stage among many leaves it out.
    fn detail(&self, _line: &str) {}
    /// Whether to stop. What is done can be resumed.
    fn should_stop(&self) -> bool {
        false
    }
}

impl Observer for () {}

/// One of several jobs that begins, such as a trial of a sweep.
#[derive(Clone, Copy, Debug)]
pub struct Turn<'a> {
    /// Its number, counted from 1, those that were finished before included.
    pub at: usize,
    /// How many there are.
    pub of: usize,
    /// Its name.
    pub label: &'a str,
    /// How long it and all after it will take, if that can be told.
    pub left: Option<Duration>,
}
