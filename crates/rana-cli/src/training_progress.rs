//! [`TrainingProgress`]: the progress display of one training, and its stop on Ctrl-C.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rana::graph::{Observer, Unit};

use crate::interrupt::stop_on_interrupt;
use crate::terminal::{Bar, Terminal};

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
}

impl Text {
    fn with(&mut self, name: &'static str, value: f64) -> String {
        match self.measured.iter_mut().find(|(known, _)| *known == name) {
            Some((_, known)) => *known = value,
            None => self.measured.push((name, value)),
        }
        let numbers = self.measured.iter().map(|(name, value)| format!("{name} {value:.4}"));
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
        *self.text() = Text { stage: stage.to_owned(), measured: Vec::new() };
        self.bar.begin(stage, total, unit);
    }

    fn advance(&self, amount: u64) {
        self.bar.advance(amount);
    }

    fn resume(&self, amount: u64) {
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
        self.note(line);
    }

    fn should_stop(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}
