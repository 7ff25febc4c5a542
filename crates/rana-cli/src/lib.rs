//! The `rana` command: arguments, progress and printing over the `rana` library.
//!
//! [`run`] is all there is to call: the program `rana` does, and so does the command of the Python package.

mod bus_error;
mod cli;
mod command;
mod error;
mod escaped_output;
mod hint;
mod human_numbers;
mod ignored_signals;
mod interrupt;
mod one_arena;
mod progress_bar;
mod settings;
mod staged_progress;
mod terminal;
mod text_table;
mod thread_pool;
mod training_progress;
mod trials_progress;

use std::ffi::OsString;

use clap::Parser;

use crate::cli::Cli;
use crate::terminal::Terminal;

/// Runs a command line, the name of the program first, and gives the exit code.
#[must_use]
pub fn run(arguments: Vec<OsString>) -> u8 {
    keep_caught_panics_quiet();
    bus_error::explain_bus_errors();
    let cli = Cli::parse_from(&arguments);
    interrupt::keep_command_line(arguments);
    cli.output.color.write_global();
    let terminal = Terminal::new(&cli.output);
    match command::run(cli.command, &terminal) {
        Ok(()) => 0,
        // The reader has read enough and closed the pipe.
        Err(error) if error.is_broken_pipe() => 0,
        Err(error) => {
            terminal.error(&error);
            error.exit_code()
        }
    }
}

/// Hides the panic messages of the Parquet library. It panics on some damaged files, and the reader turns that into
/// an error. All other panics are bugs and are shown.
fn keep_caught_panics_quiet() {
    let show = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !panic.location().is_some_and(|at| at.file().contains("/parquet-")) {
            show(panic);
        }
    }));
}
