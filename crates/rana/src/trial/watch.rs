//! [`Watch`]: observes trials while they run, and may stop them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rana_embed::{Checkpoint, EpochReport, Observer};
use rana_graph::Progress;
use rana_models::training::{StepReport, TrainingObserver};
use std::path::PathBuf;

/// Observes trials while they run.
pub trait Watch: Sync {
    /// Where the progress of each stretch of work is shown.
    fn progress(&self) -> &dyn Progress {
        &()
    }
    /// Something worth keeping in a log.
    fn note(&self, _line: &str) {}
    /// One of several trials begins.
    fn turn(&self, _turn: &Turn<'_>) {}
    /// How long the whole work will still take; told again and again.
    fn time_left(&self, _left: Duration) {}
    /// Set to stop.
    fn stop(&self) -> &AtomicBool;
}

/// One of several trials that begins.
#[derive(Clone, Copy, Debug)]
pub struct Turn<'a> {
    /// Its number, counted from 1, those that were finished before included.
    pub at: usize,
    /// How many there are.
    pub of: usize,
    /// What it is.
    pub label: &'a str,
    /// How long it and all after it will take, if that can be told.
    pub left: Option<Duration>,
}

/// Observes nothing.
#[derive(Debug, Default)]
pub struct Unwatched {
    /// Set to stop.
    pub stop: AtomicBool,
}

impl Watch for Unwatched {
    fn stop(&self) -> &AtomicBool {
        &self.stop
    }
}

/// How often the state of a training is kept.
pub(crate) const CHECKPOINT_EVERY: Duration = Duration::from_secs(30);

/// What a pre-training reports, passed on; its state is kept now and then.
pub(crate) struct PretrainingWatch<'w> {
    pub(crate) watch: &'w dyn Watch,
    /// Where progress is shown.
    pub(crate) progress: &'w dyn Progress,
    pub(crate) checkpoint: PathBuf,
    pub(crate) last: Instant,
}

impl Observer for PretrainingWatch<'_> {
    fn advanced(&mut self, facts: usize, _: f64) {
        self.progress.advance(facts as u64);
    }

    fn epoch_ended(&mut self, _: &EpochReport, checkpoint: &Checkpoint) {
        if self.last.elapsed() >= CHECKPOINT_EVERY {
            if let Err(error) = checkpoint.write(&self.checkpoint) {
                self.watch.note(&format!("no checkpoint could be written: {error}"));
            }
            self.last = Instant::now();
        }
    }
}

/// What a meta-training reports, passed on.
pub(crate) struct TrainingWatch<'w> {
    pub(crate) watch: &'w dyn Watch,
}

impl TrainingObserver for TrainingWatch<'_> {
    fn stepped(&mut self, _: &StepReport) {
        self.watch.progress().advance(1);
    }

    fn should_stop(&self) -> bool {
        self.watch.stop().load(Ordering::Relaxed)
    }
}

/// How long work takes, told from what is done already.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pace {
    work: f64,
    seconds: f64,
}

impl Pace {
    /// So much work took so long.
    pub fn add(&mut self, work: f64, seconds: f64) {
        self.work += work;
        self.seconds += seconds;
    }

    /// How long so much more will take; unknown before anything is done.
    #[must_use]
    pub fn left(&self, work: f64) -> Option<Duration> {
        let seconds = work * self.seconds / self.work;
        Duration::try_from_secs_f64(seconds).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_follows_what_was_done() {
        let mut pace = Pace::default();
        assert_eq!(pace.left(3.0), None);
        pace.add(2.0, 10.0);
        pace.add(2.0, 30.0);
        assert_eq!(pace.left(3.0), Some(Duration::from_secs(30)));
        assert_eq!(pace.left(0.0), Some(Duration::ZERO));
    }
}
