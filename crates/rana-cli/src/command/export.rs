use std::io;
use std::path::{Path, PathBuf};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueHint};
use rana::graph::format::{ExportError, FactFormat, export_facts, export_release};
use rana::graph::{Fact, Store, write_file_atomically};
use serde::Serialize;

use crate::error::CliError;
use crate::terminal::{BOLD, Terminal, thousands};

/// Write a graph store in an outside format.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  rana export kg --format tsv --out facts.tsv
  rana export kg --format ntriples --out - | gzip > graph.nt.gz
  rana export kg --format nell-one --out benchmark      (a directory: facts, tasks, candidates, filter)

N-Triples: a name that is no IRI is written as urn:rana:name:… and read back as it was; labels \
are written as rdfs:label.")]
pub(crate) struct ExportArgs {
    /// The graph store.
    #[arg(value_name = "KG", value_hint = ValueHint::DirPath)]
    store: PathBuf,
    /// The format to write.
    #[arg(long, value_parser = target())]
    format: Target,
    /// The file (or directory, for nell-one) to write; `-` for standard output.
    #[arg(long, value_hint = ValueHint::AnyPath)]
    out: PathBuf,
    /// Also write the facts of the tasks, behind those of the background.
    #[arg(long)]
    with_tasks: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    Facts(FactFormat),
    Release,
}

fn target() -> impl TypedValueParser<Value = Target> {
    PossibleValuesParser::new(["tsv", "ntriples", "parquet", "nell-one"])
        .map(|text| text.parse().map_or(Target::Release, Target::Facts))
}

pub(crate) fn run(args: &ExportArgs, terminal: &Terminal) -> Result<(), CliError> {
    let to_stdout = args.out == Path::new("-");
    let format = match args.format {
        Target::Release if to_stdout => {
            return Err(CliError::Usage(
                "a NELL-One release is a directory and cannot go to standard output".to_owned(),
            ));
        }
        Target::Release if args.with_tasks => {
            return Err(CliError::Usage(
                "a NELL-One release holds the tasks anyway; leave --with-tasks out".to_owned(),
            ));
        }
        Target::Facts(format) => Some(format),
        Target::Release => None,
    };
    if to_stdout {
        terminal.refuse_json("the facts")?;
    }
    let store = Store::open(&args.store)?;
    let facts = facts(&store, args.with_tasks);
    let failed = |source| CliError::Export { file: args.out.display().to_string(), source };
    match format {
        None => export_release(&args.out, &store.graph, &store.tasks).map_err(failed)?,
        Some(format) if to_stdout => {
            let out = io::BufWriter::with_capacity(256 * 1024, io::stdout());
            export_facts(&store.graph, &facts, format, out).map_err(failed)?;
            return Ok(());
        }
        Some(format) => write_file_atomically::<ExportError>(&args.out, |out| {
            export_facts(&store.graph, &facts, format, out)
        })
        .map_err(failed)?,
    }
    let account = ExportAccount { out: args.out.display().to_string(), facts: facts.len() as u64 };
    terminal.account(&account, |out| {
        writeln!(out, "wrote {BOLD}{}{BOLD:#}: {} facts", account.out, thousands(account.facts))
    })
}

/// The facts to write: the background's, and the tasks' behind them if asked for.
fn facts(store: &Store, with_tasks: bool) -> Vec<Fact> {
    let mut facts = store.graph.facts().to_vec();
    if with_tasks {
        facts.extend(store.tasks.iter().flat_map(|task| {
            task.facts.iter().map(move |pair| Fact {
                head: pair.head,
                relation: task.relation,
                tail: pair.tail,
            })
        }));
    }
    facts
}

#[derive(Serialize)]
struct ExportAccount {
    out: String,
    facts: u64,
}
