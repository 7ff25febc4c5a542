//! [`TrainingProgress`]: the progress display of one training, and its stop on Ctrl-C.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rana::graph::{Observer, Unit};
use rana::models::training::DEV_MRR;
use rana::report::sparkline;

use crate::human_numbers::duration;
use crate::interrupt::stop_on_interrupt;
use crate::progress_bar::Bar;
use crate::terminal::Terminal;

/// How many evaluations the curve beside the bar shows.
const CURVE_WIDTH: usize = 20;

/// A progress bar with the numbers that were measured last; a line for each evaluation.
pub(crate) struct TrainingProgress<'t> {
    terminal: &'t Terminal,
    bar: Bar,
    stop: Arc<AtomicBool>,
    text: Mutex<Text>,
}

/// The text beside the bar.
#[derive(Default)]
struct Text {
    stage: String,
    measured: Vec<(&'static str, f64)>,
    /// All values of the last number that was measured on dev.
    curve: Vec<f64>,
    pace: StagePace,
}

/// How fast a stage goes.
#[derive(Default)]
struct StagePace {
    total: u64,
    /// How much is done, and how much of that before this process.
    done: u64,
    before: u64,
    started: Option<Instant>,
}

impl StagePace {
    /// How long it takes to its end; it may end earlier.
    fn left(&self, elapsed: Duration) -> Option<Duration> {
        let done = self.done.checked_sub(self.before).filter(|&done| done > 0)?;
        let ahead = self.total.saturating_sub(self.done);
        Some(elapsed.mul_f64(ahead as f64 / done as f64))
    }
}

impl Text {
    fn with(&mut self, name: &'static str, value: f64) -> String {
        match self.measured.iter_mut().find(|(known, _)| *known == name) {
            Some((_, known)) => *known = value,
            None => self.measured.push((name, value)),
        }
        if name == DEV_MRR {
            self.curve.push(value);
        }
        let numbers = self.measured.iter().map(|(name, value)| match *name == DEV_MRR {
            true => format!("{name} {} {value:.4}", sparkline(&self.curve, CURVE_WIDTH)),
            false => format!("{name} {value:.4}"),
        });
        format!("{}: {}", self.stage, numbers.collect::<Vec<_>>().join(", "))
    }
}

impl<'t> TrainingProgress<'t> {
    /// Starts the display. From now on Ctrl-C stops the training between two steps.
    pub(crate) fn new(terminal: &'t Terminal) -> Self {
        Self { terminal, bar: terminal.progress(), stop: stop_on_interrupt(), text: Mutex::default() }
    }

    fn text(&self) -> std::sync::MutexGuard<'_, Text> {
        self.text.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Observer for TrainingProgress<'_> {
    fn begin(&self, stage: &str, total: Option<u64>, unit: Unit) {
        let pace =
            StagePace { total: total.unwrap_or(0), started: Some(Instant::now()), ..StagePace::default() };
        *self.text() = Text { stage: stage.to_owned(), pace, ..Text::default() };
        self.bar.begin(stage, total, unit);
    }

    fn advance(&self, amount: u64) {
        self.text().pace.done += amount;
        self.bar.advance(amount);
    }

    fn resume(&self, amount: u64) {
        let mut text = self.text();
        (text.pace.done, text.pace.before) = (amount, amount);
        drop(text);
        self.bar.resume(amount);
    }

    fn measured(&self, name: &'static str, value: f64) {
        let text = self.text().with(name, value);
        self.bar.say(|| text);
    }

    fn end(&self) {
        self.bar.end();
    }

    fn note(&self, line: &str) {
        self.bar.above(|| self.terminal.note(line));
    }

    fn detail(&self, line: &str) {
        let text = self.text();
        let left = text.pace.started.and_then(|started| text.pace.left(started.elapsed()));
        drop(text);
        match left {
            Some(left) if left >= Duration::from_secs(2) => {
                self.note(&format!("{line}, up to {} left", duration(left)));
            }
            _ => self.note(line),
        }
    }

    fn should_stop(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_has_the_curve_of_dev() {
        let mut text = Text { stage: "training".to_owned(), ..Text::default() };
        text.with(DEV_MRR, 0.1);
        text.with("loss", 2.0);
        assert_eq!(text.with(DEV_MRR, 0.25), "training: dev MRR ▁█ 0.2500, loss 2.0000");
    }

    #[test]
    fn what_was_done_before_does_not_count_as_speed() {
        let pace = StagePace { total: 100, done: 60, before: 50, started: None };
        assert_eq!(pace.left(Duration::from_secs(5)), Some(Duration::from_secs(20)));
        let begun = StagePace { total: 100, done: 50, before: 50, started: None };
        assert_eq!(begun.left(Duration::from_secs(5)), None);
    }
}
