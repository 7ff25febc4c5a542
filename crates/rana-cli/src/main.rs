//! The `rana` command: arguments, progress and printing over the `rana` library.

mod cli;
mod command;
mod error;
mod terminal;

use std::process::ExitCode;

use clap::Parser;

use crate::cli::Cli;
use crate::error::CliError;
use crate::terminal::Terminal;

fn main() -> ExitCode {
    let cli = Cli::parse();
    cli.output.color.write_global();
    let terminal = Terminal::new(&cli.output);
    match command::run(cli.command, &terminal) {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever closed the pipe has read enough.
        Err(error) if error.is_broken_pipe() => ExitCode::SUCCESS,
        Err(error) => {
            terminal.error(&error);
            ExitCode::from(if matches!(error, CliError::Usage(_)) { 2 } else { 1 })
        }
    }
}
