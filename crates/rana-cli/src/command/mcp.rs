//! `rana mcp`: a run as tools of an agent.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, ValueHint};
use rana::predictor::Predictor;
use rana_server::{McpAccess, Server};
use serde::Serialize;

use super::serve::ServerArgs;
use crate::error::CliError;
use crate::one_arena::use_one_arena;
use crate::terminal::{BOLD, Terminal};

/// Offer a run as tools of an agent, by the Model Context Protocol.
///
/// The tools find and describe entities, list relations, complete a relation, and explain answers. Without --http they are
/// offered over standard input and output, as agents start them; with it, over streamable HTTP at /mcp of --listen. Limits are
/// those of `rana serve`.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  rana mcp learned                                      (an agent starts this)
  rana mcp learned --allow-decisions --decisions verdicts.jsonl
  rana mcp learned --http --listen 127.0.0.1:7263       (http://127.0.0.1:7263/mcp)

The configuration of most agents:
  {\"mcpServers\": {\"rana\": {\"command\": \"rana\", \"args\": [\"mcp\", \"/path/to/learned\"]}}}")]
pub(crate) struct McpArgs {
    /// The directory of `rana learn`, or the run of `rana train` or `rana fuse`.
    #[arg(value_name = "RUN", value_hint = ValueHint::DirPath)]
    run: PathBuf,
    /// The graph, if it has moved since the run was made.
    #[arg(long, value_name = "KG", value_hint = ValueHint::DirPath)]
    graph: Option<PathBuf>,
    /// Let agents record decisions: which answers people accept and reject.
    #[arg(long)]
    allow_decisions: bool,
    /// Offer the tools over streamable HTTP.
    #[arg(long)]
    http: bool,
    #[command(flatten)]
    server: ServerArgs,
}

pub(crate) fn run(args: &McpArgs, terminal: &Terminal) -> Result<(), CliError> {
    use_one_arena();
    let config = args.server.config(&args.run)?;
    args.server.start_log();
    let access = McpAccess { decisions: args.allow_decisions };
    let predictor = Predictor::open(&args.run, args.graph.as_deref())?;
    if !args.http {
        return Ok(Server::run_mcp_stdio(predictor, config, access)?);
    }
    let server = Server::bind_mcp(predictor, config, access)?;
    let listening = Listening { address: server.address() };
    terminal.result(&listening, |out| {
        writeln!(
            out,
            "listening: agents reach it at {BOLD}http://{}/mcp{BOLD:#}; Ctrl-C ends it",
            listening.address
        )
    })?;
    let (run, graph) = (args.run.clone(), args.graph.clone());
    Ok(server.run(move || Predictor::open(&run, graph.as_deref()))?)
}

#[derive(Serialize)]
struct Listening {
    address: SocketAddr,
}
