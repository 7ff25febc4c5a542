//! [`Watch`]: what work tells of its progress, and [`Shown`]: what Python shows of it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use pyo3::prelude::*;
use rana::graph::{Observer, Turn, Unit};

/// Sees the progress of work on another thread, and stops it.
#[derive(Default)]
pub(crate) struct Watch {
    state: Mutex<State>,
    stop: AtomicBool,
}

#[derive(Clone, Default)]
struct State {
    stage: String,
    done: u64,
    total: Option<u64>,
    unit: &'static str,
    left: Option<Duration>,
    /// Lines that were not shown yet.
    notes: Vec<String>,
}

impl Watch {
    /// Asks the work to stop.
    pub(crate) fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Observer for Watch {
    fn begin(&self, stage: &str, total: Option<u64>, unit: Unit) {
        let mut state = self.state();
        stage.clone_into(&mut state.stage);
        (state.done, state.total) = (0, total);
        state.unit = match unit {
            Unit::Bytes => "bytes",
            Unit::Facts => "facts",
            Unit::Steps => "steps",
        };
    }

    fn advance(&self, amount: u64) {
        self.state().done += amount;
    }

    fn time_left(&self, left: Duration) {
        self.state().left = Some(left);
    }

    fn turn(&self, turn: &Turn<'_>) {
        self.note(&format!("training {} of {}: {}", turn.at, turn.of, turn.label));
    }

    fn note(&self, line: &str) {
        self.state().notes.push(line.to_owned());
    }

    fn should_stop(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// Where progress is shown: `rana._progress` decides what that is.
pub(crate) struct Shown {
    is_silent: bool,
    wanted: Option<Py<PyAny>>,
    display: Option<Py<PyAny>>,
}

impl Shown {
    /// By the argument `progress`: None, a bool or a callable.
    pub(crate) fn new(wanted: Option<Py<PyAny>>) -> Self {
        Self { is_silent: false, wanted, display: None }
    }

    /// Nowhere.
    pub(crate) fn silent() -> Self {
        Self { is_silent: true, wanted: None, display: None }
    }

    /// Shows where the work is.
    pub(crate) fn update(&mut self, py: Python<'_>, watch: &Watch) -> PyResult<()> {
        if self.is_silent {
            return Ok(());
        }
        let State { stage, done, total, unit, left, notes } = {
            let mut state = watch.state();
            let notes = std::mem::take(&mut state.notes);
            State { notes, ..state.clone() }
        };
        if self.display.is_none() {
            let made = py.import("rana._progress")?.call_method1("display", (&self.wanted,))?;
            self.display = Some(made.unbind());
        }
        let Some(display) = &self.display else { return Ok(()) };
        for note in notes {
            display.call_method1(py, "note", (note,))?;
        }
        if !stage.is_empty() {
            let left = left.map(|left| left.as_secs_f64());
            display.call_method1(py, "update", (stage, done, total, unit, left))?;
        }
        Ok(())
    }

    /// Ends the display: a last time to those that asked for it, and whatever was shown is cleared.
    pub(crate) fn end(mut self, py: Python<'_>, watch: &Watch) -> PyResult<()> {
        let is_callable = self.wanted.as_ref().is_some_and(|wanted| wanted.bind(py).is_callable());
        if is_callable || self.display.is_some() {
            self.update(py, watch)?;
        }
        match self.display {
            Some(display) => display.call_method0(py, "close").map(|_| ()),
            None => Ok(()),
        }
    }
}
