//! Shows the progress of an embedding training and writes its checkpoints.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rana::embed::{Checkpoint, EpochReport, Observer, Pretraining};
use rana::graph::{Progress, Unit};

use crate::terminal::{Bar, Terminal};

/// A progress bar with facts per second, loss and validation; a line for each validation.
pub(super) struct TrainingProgress<'t> {
    terminal: &'t Terminal,
    bar: Bar,
    epochs: u32,
    /// At least one line is printed per this many epochs.
    log_every: u32,
    facts_per_epoch: u64,
    /// The last validation: its epoch and its MRR.
    validation: Option<(u32, f64)>,
    rates: Vec<f64>,
    checkpoint: PathBuf,
    last_checkpoint: Instant,
}

/// The time between checkpoints.
const CHECKPOINT_EVERY: Duration = Duration::from_secs(60);

impl<'t> TrainingProgress<'t> {
    /// Starts the display of a training. Checkpoints are written to the file `checkpoint`.
    pub(super) fn new(
        terminal: &'t Terminal,
        pretraining: &Pretraining<'_>,
        start: &Checkpoint,
        checkpoint: &Path,
    ) -> Self {
        let epochs = pretraining.config().epochs;
        let facts_per_epoch = pretraining.data().facts().len() as u64;
        let bar = terminal.progress();
        bar.begin("training", Some(facts_per_epoch * u64::from(epochs)), Unit::Facts);
        bar.jump(facts_per_epoch * u64::from(start.position.epoch) + start.position.fact as u64);
        Self {
            terminal,
            bar,
            epochs,
            log_every: epochs.div_ceil(10),
            facts_per_epoch,
            validation: start.best.as_ref().map(|best| (best.epoch, best.score)),
            rates: Vec::new(),
            checkpoint: checkpoint.to_owned(),
            last_checkpoint: Instant::now(),
        }
    }

    /// The median speed of all epochs.
    pub(super) fn facts_per_second(&self) -> f64 {
        let mut rates = self.rates.clone();
        rates.sort_by(f64::total_cmp);
        rates.get(rates.len() / 2).copied().unwrap_or_default()
    }

    fn message(&self, epoch: u32, loss: f64) -> String {
        let validation = self.validation.map_or_else(String::new, |(at, mrr)| match at == epoch {
            true => format!(", valid MRR {mrr:.3}"),
            false => format!(", valid MRR {mrr:.3} at epoch {at}"),
        });
        format!("epoch {epoch}/{}: loss {loss:.4}{validation}", self.epochs)
    }
}

impl Observer for TrainingProgress<'_> {
    fn advanced(&mut self, facts: usize, loss: f64) {
        self.bar.advance(facts as u64);
        let epoch = (self.bar.position() / self.facts_per_epoch.max(1)) as u32 + 1;
        self.bar.say(|| self.message(epoch.min(self.epochs), loss));
    }

    fn epoch_ended(&mut self, report: &EpochReport, checkpoint: &Checkpoint) {
        self.rates.push(report.facts_per_second);
        self.validation = report.validation.map(|mrr| (report.epoch, mrr)).or(self.validation);
        let is_due = report.epoch.is_multiple_of(self.log_every) || report.epoch == self.epochs;
        if report.validation.is_some() || is_due {
            let rate = report.facts_per_second / 1000.0;
            let line = format!("{}, {rate:.0} k facts/s", self.message(report.epoch, report.loss));
            self.bar.above(|| self.terminal.note(&line));
        }
        if self.last_checkpoint.elapsed() >= CHECKPOINT_EVERY && report.epoch < self.epochs {
            if let Err(error) = checkpoint.write(&self.checkpoint) {
                self.bar.above(|| self.terminal.warn(&format!("no checkpoint could be written: {error}")));
            }
            self.last_checkpoint = Instant::now();
        }
    }
}
