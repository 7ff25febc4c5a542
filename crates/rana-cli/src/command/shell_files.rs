//! Shell completions and man pages, generated from the arguments themselves.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::{Args, CommandFactory, ValueHint};
use clap_complete::Shell;
use serde::Serialize;

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

/// Write the manual pages, one per command.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  rana man --out ~/.local/share/man/man1")]
pub(crate) struct ManArgs {
    /// The directory to write to.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    out: PathBuf,
}

pub(crate) fn completions(args: &CompletionsArgs, terminal: &Terminal) -> Result<(), CliError> {
    terminal.refuse_json("a completion script")?;
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "rana", &mut script);
    Ok(io::stdout().write_all(&script)?)
}

pub(crate) fn man(args: &ManArgs, terminal: &Terminal) -> Result<(), CliError> {
    let failed = |source| CliError::Io {
        file: args.out.display().to_string(),
        action: "write the manual pages",
        source,
    };
    std::fs::create_dir_all(&args.out).map_err(failed)?;
    clap_mangen::generate_to(Cli::command(), &args.out).map_err(failed)?;
    let account = ManAccount { out: args.out.display().to_string() };
    terminal.account(&account, |out| writeln!(out, "wrote the manual pages to {}", account.out))
}

#[derive(Serialize)]
struct ManAccount {
    out: String,
}
