//! `rana serve`: the page and the HTTP interface over a run.

use std::io::IsTerminal;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum, ValueHint};
use rana::predictor::Predictor;
use rana_server::{Limits, Server, ServerConfig, ServerSettings};
use serde::Serialize;
use tracing::level_filters::LevelFilter;

use crate::error::CliError;
use crate::human_numbers::thousands;
use crate::one_arena::use_one_arena;
use crate::terminal::{BOLD, DIM, Terminal};

/// Serve a run: a web page to complete relations and review the answers, and an HTTP API.
///
/// By default only this machine can reach the server. With another --listen address, every request needs a token.
/// Answers that are accepted or rejected on the page are saved in a file; each decision is on disk before it is
/// acknowledged.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  rana serve run                                        (then open the address it prints)
  rana serve run --listen 0.0.0.0:8080 --token \"$(openssl rand -hex 16)\"
  curl -s localhost:7262/v1/complete -H 'content-type: application/json' \\
    -d '{\"relation\": \"treats\", \"support\": [[\"aspirin\", \"headache\"]], \"heads\": [\"ibuprofen\"]}'

The API describes itself at /openapi.json; /metrics is for Prometheus, /healthz for health checks. Ctrl-C ends it after \
the requests in progress are answered. A hang-up signal (`kill -HUP`) loads the run again without losing a request; if \
the directory is replaced as a whole, keep decisions elsewhere by --decisions.")]
pub(crate) struct ServeArgs {
    /// The directory of `rana learn`, or the run of `rana train` or `rana fuse`.
    #[arg(value_name = "RUN", value_hint = ValueHint::DirPath)]
    run: PathBuf,
    /// The graph, if it has moved since the run was made.
    #[arg(long, value_name = "KG", value_hint = ValueHint::DirPath)]
    graph: Option<PathBuf>,
    #[command(flatten)]
    server: ServerArgs,
}

/// Where a server listens and what it allows.
#[derive(Debug, Args)]
pub(crate) struct ServerArgs {
    /// The address to listen on; port 0 takes a free port.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7262")]
    pub(crate) listen: String,
    /// The bearer token that every request must carry; required if other machines can reach the server.
    #[arg(long, env = "RANA_TOKEN", hide_env_values = true)]
    token: Option<String>,
    /// The file for decisions; decisions.jsonl in the run if not given.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    decisions: Option<PathBuf>,
    /// How many computations run at the same time; as many as processors if not given.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// The largest request body, in bytes.
    #[arg(long, value_name = "BYTES", default_value_t = Limits::default().body_bytes)]
    max_body: usize,
    /// The most heads in a request.
    #[arg(long, value_name = "N", default_value_t = Limits::default().heads)]
    max_heads: usize,
    /// The most support pairs in a request.
    #[arg(long, value_name = "N", default_value_t = Limits::default().supports)]
    max_supports: usize,
    /// The time limit of a request, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = Limits::default().request_seconds)]
    max_seconds: u64,
    /// What is logged on standard error: nothing, failures, refusals too, or every request.
    #[arg(long, value_name = "LEVEL", default_value = "warn")]
    log: LogLevel,
    /// Log lines of JSON.
    #[arg(long)]
    log_json: bool,
}

/// What is logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum LogLevel {
    /// Nothing.
    Off,
    /// Requests that failed.
    Error,
    /// Refused ones too.
    Warn,
    /// Every request to the API.
    Info,
    /// Also health checks and parts of the page.
    Debug,
}

/// Writes what the server logs to standard error.
fn start_log(level: LogLevel, as_json: bool) {
    let level = match level {
        LogLevel::Off => LevelFilter::OFF,
        LogLevel::Error => LevelFilter::ERROR,
        LogLevel::Warn => LevelFilter::WARN,
        LogLevel::Info => LevelFilter::INFO,
        LogLevel::Debug => LevelFilter::DEBUG,
    };
    let log = tracing_subscriber::fmt().with_max_level(level).with_writer(std::io::stderr).with_target(false);
    let log = log.with_ansi(std::io::stderr().is_terminal());
    // These fail only if the process has a log already, and it has not.
    let _ = match as_json {
        true => log.json().flatten_event(true).try_init(),
        false => log.try_init(),
    };
}

impl ServerArgs {
    /// The settings of a server of a run.
    pub(crate) fn config(&self, run: &Path) -> Result<ServerConfig, CliError> {
        let default = Limits::default();
        let limits = Limits {
            computations: self.threads.map_or(default.computations, usize::from),
            body_bytes: self.max_body,
            heads: self.max_heads,
            supports: self.max_supports,
            request_seconds: self.max_seconds,
            ..default
        };
        let decisions = self.decisions.clone().unwrap_or_else(|| run.join("decisions.jsonl"));
        let settings =
            ServerSettings { address: self.listen.clone(), token: self.token.clone(), decisions, limits };
        ServerConfig::new(settings).map_err(|error| CliError::Usage(error.to_string()))
    }

    /// Writes what the server logs to standard error.
    pub(crate) fn start_log(&self) {
        start_log(self.log, self.log_json);
    }
}

pub(crate) fn run(args: &ServeArgs, terminal: &Terminal) -> Result<(), CliError> {
    use_one_arena();
    serve(&args.run, args.graph.as_deref(), &args.server, "", terminal)
}

/// Serves a run until it is interrupted. `page` is appended to the address that is printed.
pub(crate) fn serve(
    run: &Path,
    graph: Option<&Path>,
    args: &ServerArgs,
    page: &str,
    terminal: &Terminal,
) -> Result<(), CliError> {
    let config = args.config(run)?;
    args.start_log();
    let busy = terminal.busy("opening the run");
    let server = Server::bind(Predictor::open(run, graph)?, config)?;
    drop(busy);
    let found = server.decisions_found();
    if let Some(torn) = server.decisions_torn() {
        terminal.warn(&torn.to_string());
    }
    let listening = Listening { address: server.address(), decisions: found };
    terminal.result(&listening, |out| {
        let Listening { address, decisions } = &listening;
        writeln!(out, "listening: open {BOLD}http://{address}/{page}{BOLD:#} in a browser")?;
        let kept = thousands(*decisions as u64);
        writeln!(
            out,
            "{DIM}{kept} decisions so far; the API is described at /openapi.json; Ctrl-C ends it{DIM:#}"
        )
    })?;
    let (run, graph) = (run.to_owned(), graph.map(Path::to_owned));
    Ok(server.run(move || Predictor::open(&run, graph.as_deref()))?)
}

#[derive(Serialize)]
struct Listening {
    address: SocketAddr,
    decisions: usize,
}
