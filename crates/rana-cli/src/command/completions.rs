//! `rana completions`: a completion script for a shell, generated from the arguments.

use std::io::{self, Write};

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::cli::Cli;
use crate::error::CliError;
use crate::terminal::Terminal;

/// Print a completion script for a shell.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  rana completions bash > ~/.local/share/bash-completion/completions/rana
  rana completions zsh > ~/.zfunc/_rana")]
pub(crate) struct CompletionsArgs {
    /// The shell.
    shell: Shell,
}

pub(crate) fn run(args: &CompletionsArgs, terminal: &Terminal) -> Result<(), CliError> {
    terminal.refuse_json("a completion script")?;
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "rana", &mut script);
    Ok(io::stdout().write_all(&script)?)
}
