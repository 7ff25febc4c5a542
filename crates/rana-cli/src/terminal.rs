//! All output: results on standard output, everything else on standard error.

use std::io::{self, IsTerminal, Write};

use anstyle::{AnsiColor, Style};
use indicatif::ProgressBar;
use serde::Serialize;

use crate::cli::OutputArgs;
use crate::error::CliError;
use crate::escaped_output::Escaped;
use crate::hint::Hint;
use crate::progress_bar::Bar;

pub(crate) const BOLD: Style = Style::new().bold();
pub(crate) const DIM: Style = Style::new().dimmed();
const RED: Style = AnsiColor::Red.on_default().bold();
const YELLOW: Style = AnsiColor::Yellow.on_default().bold();

/// Standard output for data such as facts. On a terminal control characters are escaped; elsewhere bytes stay as they are.
pub(crate) fn data_output() -> Box<dyn Write + Send> {
    match io::stdout().is_terminal() {
        true => Box::new(Escaped::new(io::stdout())),
        false => Box::new(io::stdout()),
    }
}

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
        let mut out = Escaped::new(anstream::stdout().lock());
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
            let mut out = Escaped::new(anstream::stderr().lock());
            human(&mut out)?;
            out.flush()?;
        }
        Ok(())
    }

    /// Prints a warning, also with `--json`.
    pub(crate) fn warn(&self, text: &str) {
        if !self.quiet {
            let _ = writeln!(Escaped::new(anstream::stderr()), "{YELLOW}warning:{YELLOW:#} {text}");
        }
    }

    /// Prints a line about the progress of long work. Unlike a progress bar, it stays in a log.
    pub(crate) fn note(&self, text: &str) {
        if !self.quiet {
            let _ = writeln!(Escaped::new(anstream::stderr()), "{DIM}{text}{DIM:#}");
        }
    }

    /// Prints an error, and a hint if there is one.
    pub(crate) fn error(&self, error: &CliError) {
        let mut out = Escaped::new(anstream::stderr());
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
        Bar::new(shown)
    }

    /// A progress bar without the time left of its stage, for commands that say the time left for all stages.
    pub(crate) fn progress_of_whole(&self) -> Bar {
        self.progress().without_time_left()
    }
}
