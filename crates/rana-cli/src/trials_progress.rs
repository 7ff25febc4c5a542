//! [`TrialsProgress`]: the progress display of commands that run many trials, and their stop on Ctrl-C.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rana::graph::{Observer, Turn, Unit};

use crate::human_numbers::duration;
use crate::interrupt::stop_on_interrupt;
use crate::progress_bar::Bar;
use crate::terminal::Terminal;

/// Shows a progress bar for the current work, with its trial, and prints a line for each trial.
pub(crate) struct TrialsProgress<'t> {
    terminal: &'t Terminal,
    bar: Bar,
    /// The text before the name of the work.
    turn: Mutex<String>,
    stop: Arc<AtomicBool>,
}

impl<'t> TrialsProgress<'t> {
    /// Starts the display. From now on Ctrl-C stops the trials between two steps.
    pub(crate) fn new(terminal: &'t Terminal) -> Self {
        Self { terminal, bar: terminal.progress(), turn: Mutex::default(), stop: stop_on_interrupt() }
    }
}

impl TrialsProgress<'_> {
    fn turn_text(&self) -> std::sync::MutexGuard<'_, String> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Observer for TrialsProgress<'_> {
    fn begin(&self, stage: &str, total: Option<u64>, unit: Unit) {
        self.bar.begin(&format!("{}{stage}", self.turn_text()), total, unit);
    }

    fn advance(&self, amount: u64) {
        self.bar.advance(amount);
    }

    fn resume(&self, amount: u64) {
        self.bar.resume(amount);
    }

    fn end(&self) {
        self.bar.end();
    }

    fn turn(&self, turn: &Turn<'_>) {
        let Turn { at, of, label, left } = *turn;
        let left = left.map_or_else(String::new, |left| format!(", about {} left", duration(left)));
        *self.turn_text() = format!("{at}/{of}{left}: ");
        self.note(&format!("trial {at} of {of}: {label}{left}"));
    }

    fn note(&self, line: &str) {
        self.bar.above(|| self.terminal.note(line));
    }

    fn should_stop(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}
