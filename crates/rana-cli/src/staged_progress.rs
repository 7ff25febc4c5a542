//! [`StagedProgress`]: the progress display of commands with many stages, and their stop on Ctrl-C.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rana::graph::{Observer, Turn, Unit};

use crate::human_numbers::duration;
use crate::interrupt::stop_on_interrupt;
use crate::progress_bar::Bar;
use crate::terminal::Terminal;

/// A bar for each stage with the time left for the whole command; in a log, a line for each stage and now and then.
pub(crate) struct StagedProgress<'t> {
    terminal: &'t Terminal,
    bar: Bar,
    stage: Mutex<Stage>,
    stop: Arc<AtomicBool>,
}

struct Stage {
    name: String,
    left: Option<Duration>,
    noted: Instant,
}

/// How often a log says how long it still takes.
const NOTE_EVERY: Duration = Duration::from_secs(30);

impl<'t> StagedProgress<'t> {
    pub(crate) fn new(terminal: &'t Terminal) -> Self {
        let stage = Stage { name: String::new(), left: None, noted: Instant::now() };
        let bar = terminal.progress_of_whole();
        Self { terminal, bar, stage: Mutex::new(stage), stop: stop_on_interrupt() }
    }

    fn stage(&self) -> MutexGuard<'_, Stage> {
        self.stage.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Stage {
    fn text(&self) -> String {
        match self.left {
            Some(left) => format!("{}, about {} left for all", self.name, duration(left)),
            None => self.name.clone(),
        }
    }
}

impl Observer for StagedProgress<'_> {
    fn begin(&self, name: &str, total: Option<u64>, unit: Unit) {
        let mut stage = self.stage();
        name.clone_into(&mut stage.name);
        stage.noted = Instant::now();
        let text = stage.text();
        drop(stage);
        self.note(&text);
        self.bar.begin(&text, total, unit);
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

    fn time_left(&self, left: Duration) {
        let mut stage = self.stage();
        stage.left = Some(left);
        let text = stage.text();
        if stage.noted.elapsed() >= NOTE_EVERY && !stage.name.is_empty() {
            stage.noted = Instant::now();
            drop(stage);
            self.note(&text);
        }
        self.bar.say(|| text);
    }

    fn turn(&self, turn: &Turn<'_>) {
        self.note(&format!("training {} of {}: {}", turn.at, turn.of, turn.label));
    }

    fn note(&self, line: &str) {
        self.bar.above(|| self.terminal.note(line));
    }

    fn should_stop(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}
