//! [`Bar`]: a progress bar with rate and time left.

use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressState, ProgressStyle};
use rana::graph::{Observer, Unit};

use crate::escaped_output::escape;
use crate::human_numbers::thousands;

/// A progress bar with rate and time left.
pub(crate) struct Bar {
    shown: bool,
    /// Whether its text says the time left.
    is_of_whole: bool,
    bar: Mutex<Option<ProgressBar>>,
}

impl Bar {
    /// A bar that is drawn if `shown`.
    pub(crate) fn new(shown: bool) -> Self {
        Self { shown, is_of_whole: false, bar: Mutex::new(None) }
    }

    /// The same without the time left, which its text says.
    pub(crate) fn without_time_left(mut self) -> Self {
        self.is_of_whole = true;
        self
    }

    pub(crate) fn show(&self, bar: ProgressBar, message: &str, template: &str) {
        if !self.shown {
            return;
        }
        let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
        let style = style.with_key("whole_per_sec", |state: &ProgressState, text: &mut dyn fmt::Write| {
            let _ = write!(text, "{}/s", thousands(state.per_sec() as u64));
        });
        bar.set_style(style.with_key(
            "tenths_per_sec",
            |state: &ProgressState, text: &mut dyn fmt::Write| {
                let _ = write!(text, "{:.1}/s", state.per_sec());
            },
        ));
        bar.set_message(escape(message).into_owned());
        bar.enable_steady_tick(Duration::from_millis(200));
        *self.current() = Some(bar);
    }

    /// Changes the text before the bar.
    pub(crate) fn say(&self, message: impl FnOnce() -> String) {
        if let Some(bar) = &*self.current() {
            bar.set_message(escape(&message()).into_owned());
        }
    }

    /// Hides the bar while `print` prints.
    pub(crate) fn above(&self, print: impl FnOnce()) {
        match &*self.current() {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }

    fn current(&self) -> std::sync::MutexGuard<'_, Option<ProgressBar>> {
        self.bar.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Observer for Bar {
    fn begin(&self, stage: &str, total: Option<u64>, unit: Unit) {
        let (amount, rate) = match unit {
            Unit::Bytes => ("{bytes}/{total_bytes}", "{bytes_per_sec}"),
            Unit::Facts => ("{human_pos}/{human_len} facts", "{whole_per_sec}"),
            Unit::Steps => ("{human_pos}/{human_len} steps", "{tenths_per_sec}"),
        };
        let (bar, template) = match total {
            Some(total) => {
                let left = if self.is_of_whole { "" } else { " {eta} left" };
                (ProgressBar::new(total), format!("{{msg}} {{bar:30}} {amount} {rate}{left}"))
            }
            None => {
                let amount = amount.split('/').next().unwrap_or(amount);
                (ProgressBar::new_spinner(), format!("{{spinner}} {{msg}} {amount} {rate} {{elapsed}}"))
            }
        };
        self.show(bar, stage, &template);
    }

    fn advance(&self, amount: u64) {
        if let Some(bar) = &*self.current() {
            bar.inc(amount);
        }
    }

    /// What was done before is not counted as speed.
    fn resume(&self, amount: u64) {
        if let Some(bar) = &*self.current() {
            bar.set_position(amount);
            bar.reset_eta();
        }
    }

    fn end(&self) {
        if let Some(bar) = self.current().take() {
            bar.finish_and_clear();
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.end();
    }
}
