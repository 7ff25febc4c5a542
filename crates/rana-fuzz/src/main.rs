//! Structure-aware cases for everything that reads files or requests, under ceilings of memory and time.
//!
//! `rana-fuzz run` starts a worker process for each batch of cases and watches it from outside: a case may neither panic
//! nor abort, nor take the worker above 1 GB, nor last longer than 10 s. A case is made from its target, a seed and its
//! number alone, so that `rana-fuzz show` writes its input again.
//!
//! - `target.rs`: what is attacked;
//! - `generate.rs`: documents with deep nesting, expansion, long records and huge counts;
//! - `mutate.rs`: damage to any bytes;
//! - `fixture.rs`: the store, vectors, run and server that are damaged;
//! - `supervise.rs`: workers and their ceilings.

mod fixture;
mod generate;
mod mutate;
mod supervise;
mod target;

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand, ValueEnum};

use crate::fixture::Fixture;
use crate::supervise::{Ceilings, Report, supervise};
use crate::target::Target;

#[derive(Parser)]
#[command(about = "Structure-aware cases for every reader of rana, under ceilings of memory and time")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run cases of all targets, or of some.
    Run {
        /// How many cases each target gets.
        #[arg(long, default_value_t = 1000)]
        cases: u64,
        /// The same seed gives the same cases.
        #[arg(long, default_value_t = 0)]
        seed: u64,
        /// A target; may be repeated. All if not given.
        #[arg(long)]
        target: Vec<Target>,
        /// The most memory of a worker, in MB.
        #[arg(long, default_value_t = 1000)]
        memory: u64,
        /// The most seconds of a case.
        #[arg(long, default_value_t = 10)]
        seconds: u64,
        /// Where the inputs of failed cases go.
        #[arg(long, default_value = "fuzz-findings")]
        findings: PathBuf,
        /// Print the report as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Write the input of a case to standard output.
    Show { target: Target, seed: u64, case: u64 },
    /// Run some cases in this process; `run` starts these.
    #[command(hide = true)]
    Work { target: Target, seed: u64, first: u64, end: u64 },
}

fn main() -> ExitCode {
    match Cli::parse().command {
        Command::Run { cases, seed, target, memory, seconds, findings, json } => {
            let targets = if target.is_empty() { Target::value_variants().to_vec() } else { target };
            let dir = tempfile::tempdir().expect("a directory for the fixture");
            let fixture = Fixture::make(dir.path());
            let ceilings = Ceilings { memory_mb: memory, seconds };
            let reports: Vec<Report> = targets
                .iter()
                .map(|&target| supervise(target, seed, cases, ceilings, &fixture, &findings))
                .collect();
            let failed: usize = reports.iter().map(|report| report.findings.len()).sum();
            match json {
                true => println!("{}", serde_json::to_string_pretty(&reports).unwrap_or_default()),
                false => reports.iter().for_each(Report::print),
            }
            if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Command::Show { target, seed, case } => {
            let shown = std::io::stdout().write_all(&target.input(seed, case));
            if shown.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Command::Work { target, seed, first, end } => {
            supervise::work(target, seed, first..end);
            ExitCode::SUCCESS
        }
    }
}
