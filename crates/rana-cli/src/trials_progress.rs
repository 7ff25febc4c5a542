//! [`TrialsProgress`]: the progress display of commands that run many trials, and their stop on Ctrl-C.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use rana::graph::{Progress, Unit};
use rana::trial::{Turn, Watch};

use crate::interrupt::stop_on_interrupt;
use crate::terminal::{Bar, Terminal, duration};

/// Shows a progress bar for the current work, with its trial, and prints a line for each trial.
pub(crate) struct TrialsProgress<'t> {
    terminal: &'t Terminal,
    bar: TurnBar,
    stop: Arc<AtomicBool>,
}

impl<'t> TrialsProgress<'t> {
    /// Starts the display. From now on Ctrl-C stops the trials between two steps.
    pub(crate) fn new(terminal: &'t Terminal) -> Self {
        let bar = TurnBar { bar: terminal.progress(), turn: Mutex::new(String::new()) };
        Self { terminal, bar, stop: stop_on_interrupt() }
    }
}

impl Watch for TrialsProgress<'_> {
    fn progress(&self) -> &dyn Progress {
        &self.bar
    }

    fn note(&self, line: &str) {
        self.bar.bar.above(|| self.terminal.note(line));
    }

    fn turn(&self, turn: &Turn<'_>) {
        let Turn { at, of, label, left } = *turn;
        let left = left.map_or_else(String::new, |left| format!(", about {} left", duration(left)));
        *self.bar.turn.lock().unwrap_or_else(PoisonError::into_inner) = format!("{at}/{of}{left}: ");
        self.note(&format!("trial {at} of {of}: {label}{left}"));
    }

    fn stop(&self) -> &AtomicBool {
        &self.stop
    }
}

struct TurnBar {
    bar: Bar,
    /// The text before the name of the work.
    turn: Mutex<String>,
}

impl Progress for TurnBar {
    fn begin(&self, stage: &str, total: Option<u64>, unit: Unit) {
        let turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        self.bar.begin(&format!("{turn}{stage}"), total, unit);
    }

    fn advance(&self, amount: u64) {
        self.bar.advance(amount);
    }

    fn end(&self) {
        self.bar.end();
    }
}
