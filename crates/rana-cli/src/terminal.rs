//! All output: results on standard output, everything else on standard error.

use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anstyle::{AnsiColor, Style};
use comfy_table::{Cell, CellAlignment, Table, presets};
use indicatif::{ProgressBar, ProgressState, ProgressStyle};
use rana::graph::{Observer, Unit};
use rana::report::ResultsTable;
use serde::Serialize;

use crate::cli::OutputArgs;
use crate::error::CliError;
use crate::hint::Hint;

pub(crate) const BOLD: Style = Style::new().bold();
pub(crate) const DIM: Style = Style::new().dimmed();
const RED: Style = AnsiColor::Red.on_default().bold();
const YELLOW: Style = AnsiColor::Yellow.on_default().bold();

/// The output of a command, and how much of it is shown.
pub(crate) struct Terminal {
    json: bool,
    quiet: bool,
}

impl Terminal {
    pub(crate) fn new(output: &OutputArgs) -> Self {
        Self { json: output.json, quiet: output.quiet }
    }

    /// Rejects `--json` if standard output carries other data.
    pub(crate) fn refuse_json(&self, what: &str) -> Result<(), CliError> {
        if self.json {
            return Err(CliError::Usage(format!(
                "--json cannot be used here: standard output carries {what}"
            )));
        }
        Ok(())
    }

    /// Prints the result of a command: JSON if asked for, else the text that `human` writes.
    pub(crate) fn result<T: Serialize>(
        &self,
        value: &T,
        human: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), CliError> {
        let mut out = anstream::stdout().lock();
        if self.json {
            serde_json::to_writer_pretty(&mut out, value).map_err(io::Error::from)?;
            writeln!(out)?;
        } else {
            human(&mut out)?;
        }
        Ok(out.flush()?)
    }

    /// Prints the summary of a command whose result is on disk: JSON on standard output if asked for, else the text
    /// that `human` writes on standard error. `--quiet` hides that text.
    pub(crate) fn account<T: Serialize>(
        &self,
        value: &T,
        human: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), CliError> {
        if self.json {
            return self.result(value, |_| Ok(()));
        }
        if !self.quiet {
            human(&mut anstream::stderr().lock())?;
        }
        Ok(())
    }

    /// Prints a warning, also with `--json`.
    pub(crate) fn warn(&self, text: &str) {
        if !self.quiet {
            let _ = writeln!(anstream::stderr(), "{YELLOW}warning:{YELLOW:#} {text}");
        }
    }

    /// Prints a line about the progress of long work. Unlike a progress bar, it stays in a log.
    pub(crate) fn note(&self, text: &str) {
        if !self.quiet {
            let _ = writeln!(anstream::stderr(), "{DIM}{text}{DIM:#}");
        }
    }

    /// Prints an error, and a hint if there is one.
    pub(crate) fn error(&self, error: &CliError) {
        let mut out = anstream::stderr();
        let _ = writeln!(out, "{RED}error:{RED:#} {error}");
        if let Some(hint) = error.hint() {
            let _ = writeln!(out, "{DIM}hint:{DIM:#} {hint}");
        }
    }

    /// A spinner for work of unknown length; it disappears when the bar is dropped.
    pub(crate) fn busy(&self, message: &str) -> Bar {
        let bar = self.progress();
        bar.show(ProgressBar::new_spinner(), message, "{spinner} {msg} {elapsed}");
        bar
    }

    /// A progress bar; it is drawn only on a terminal.
    pub(crate) fn progress(&self) -> Bar {
        let shown = !self.quiet && !self.json && io::stderr().is_terminal();
        Bar { shown, is_of_whole: false, bar: Mutex::new(None) }
    }

    /// A progress bar whose text says the time left for the whole command, so that it says none itself.
    pub(crate) fn progress_of_whole(&self) -> Bar {
        let mut bar = self.progress();
        bar.is_of_whole = true;
        bar
    }
}

/// A progress bar with rate and time left.
pub(crate) struct Bar {
    shown: bool,
    /// Whether its text says the time left.
    is_of_whole: bool,
    bar: Mutex<Option<ProgressBar>>,
}

impl Bar {
    fn show(&self, bar: ProgressBar, message: &str, template: &str) {
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
        bar.set_message(message.to_owned());
        bar.enable_steady_tick(Duration::from_millis(200));
        *self.current() = Some(bar);
    }

    /// Changes the text before the bar.
    pub(crate) fn say(&self, message: impl FnOnce() -> String) {
        if let Some(bar) = &*self.current() {
            bar.set_message(message());
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

/// A plain table; columns whose title begins with `#` hold numbers and are aligned to the right.
pub(crate) fn table<const N: usize>(
    titles: [&str; N],
    rows: impl IntoIterator<Item = [String; N]>,
) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(titles.map(|title| {
        let cell = Cell::new(title.trim_start_matches('#'));
        if title.starts_with('#') { cell.set_alignment(CellAlignment::Right) } else { cell }
    }));
    for row in rows {
        table.add_row(row);
    }
    for (at, title) in titles.iter().enumerate() {
        if let Some(column) = table.column_mut(at) {
            column.set_padding((if at == 0 { 2 } else { 1 }, 1));
            if title.starts_with('#') {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
    }
    table.trim_fmt()
}

/// A table of results: the first column to the left, all others to the right.
pub(crate) fn results(results: &ResultsTable) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    let right = |at: usize| if at == 0 { CellAlignment::Left } else { CellAlignment::Right };
    let cells = results.titles.iter().enumerate();
    table.set_header(cells.map(|(at, title)| Cell::new(title).set_alignment(right(at))));
    for row in &results.rows {
        table.add_row(row);
    }
    for at in 0..results.titles.len() {
        if let Some(column) = table.column_mut(at) {
            column.set_padding((if at == 0 { 2 } else { 1 }, 1));
            column.set_cell_alignment(right(at));
        }
    }
    table.trim_fmt()
}

/// A duration with a unit that suits it.
pub(crate) fn duration(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..90 => format!("{seconds} s"),
        90..5400 => format!("{} min", (seconds + 30) / 60),
        _ => format!("{:.1} h", seconds as f64 / 3600.0),
    }
}

/// A number with separated thousands.
pub(crate) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A size in bytes, KiB, MiB and so on.
pub(crate) fn bytes(count: u64) -> String {
    indicatif::HumanBytes(count).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_said_as_exactly_as_people_need_them() {
        let said = [0, 89, 90, 600, 5400, 36_000].map(|seconds| duration(Duration::from_secs(seconds)));
        assert_eq!(said, ["0 s", "89 s", "2 min", "10 min", "1.5 h", "10.0 h"]);
    }

    #[test]
    fn thousands_are_separated() {
        assert_eq!(thousands(0), "0");
        assert_eq!(thousands(999), "999");
        assert_eq!(thousands(1_000), "1,000");
        assert_eq!(thousands(4_838_244), "4,838,244");
    }
}
