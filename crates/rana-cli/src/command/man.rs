//! `rana man`: manual pages, generated from the arguments.

use std::path::PathBuf;

use clap::{Args, CommandFactory, ValueHint};
use serde::Serialize;

use crate::cli::Cli;
use crate::error::CliError;
use crate::terminal::Terminal;

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

pub(crate) fn run(args: &ManArgs, terminal: &Terminal) -> Result<(), CliError> {
    let failed = |source| CliError::Io {
        file: args.out.display().to_string(),
        action: "write the manual pages",
        source,
    };
    std::fs::create_dir_all(&args.out).map_err(failed)?;
    clap_mangen::generate_to(Cli::command(), &args.out).map_err(failed)?;
    let summary = ManSummary { out: args.out.display().to_string() };
    terminal.account(&summary, |out| writeln!(out, "wrote the manual pages to {}", summary.out))
}

#[derive(Serialize)]
struct ManSummary {
    out: String,
}
