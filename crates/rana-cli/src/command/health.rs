//! `rana health`: asks a running server whether it answers.

use std::net::SocketAddr;
use std::time::Duration;

use clap::{Args, value_parser};
use rana_server::check_health;
use serde::Serialize;

use crate::error::CliError;
use crate::terminal::{BOLD, Terminal};

/// Ask a running server whether it answers, as health checks of containers do.
///
/// The exit code is 0 if it is well and 1 if not. The container image has no shell and no curl, so its health check is
/// this command.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  rana health
  rana health localhost:8080 --max-seconds 2 --quiet")]
pub(crate) struct HealthArgs {
    /// The address that the server listens on, as for `rana serve --listen`.
    #[arg(value_name = "ADDRESS", default_value = "127.0.0.1:7262")]
    address: String,
    /// How long the answer may take, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 5, value_parser = value_parser!(u64).range(1..=86_400))]
    max_seconds: u64,
}

#[derive(Serialize)]
struct Healthy {
    address: SocketAddr,
    status: &'static str,
}

pub(crate) fn run(args: &HealthArgs, terminal: &Terminal) -> Result<(), CliError> {
    let address = check_health(&args.address, Duration::from_secs(args.max_seconds))?;
    terminal
        .account(&Healthy { address, status: "ok" }, |out| writeln!(out, "{BOLD}{address}{BOLD:#} is well"))
}
