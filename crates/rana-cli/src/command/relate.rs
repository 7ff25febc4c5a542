//! `rana relate`: which relations may hold between two entities.

use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, ValueHint};
use rana::predictor::{NamedEntity, Predictor};
use rana::{NewRelation, RelateRequest, RelatedBy};
use serde::Serialize;

use crate::command::complete::resolver::Resolver;
use crate::error::CliError;
use crate::terminal::{BOLD, DIM, Terminal};
use crate::text_table::table;
use crate::thread_pool::in_pool;

/// Which relations may hold between two entities: ranked, with how sure it is, and why.
///
/// Every relation of the graph is considered by its known facts, and a new one by a file of its pairs.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  rana relate learned ibuprofen headache
  rana relate learned ibuprofen headache --top 3 --json
  rana relate learned ibuprofen headache --new cures --support pairs.tsv

Confidence is the chance that the relation holds, given that some relation holds from the first entity to the second. It was \
learned on relations that were left out in turn; `rana learn` says how well the right one is found.")]
pub(crate) struct RelateArgs {
    /// The directory of `rana learn`, or the run of `rana train` or `rana fuse`.
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    run: PathBuf,
    /// The head, by its name or label.
    #[arg(value_name = "HEAD")]
    head: String,
    /// The tail.
    #[arg(value_name = "TAIL")]
    tail: String,
    /// At most so many relations.
    #[arg(long, value_name = "K", default_value = "10")]
    top: NonZeroUsize,
    /// Also consider a relation of this name that the graph does not have.
    #[arg(long, value_name = "NAME", requires = "support")]
    new: Option<String>,
    /// A file of pairs that the new relation holds for.
    #[arg(long, value_name = "FILE", requires = "new", value_hint = ValueHint::FilePath)]
    support: Option<PathBuf>,
    /// Leave out relations that the graph states between the two.
    #[arg(long)]
    exclude_known: bool,
    /// The graph, if it has moved since the run was made.
    #[arg(long, value_name = "KG", value_hint = ValueHint::DirPath)]
    graph: Option<PathBuf>,
    /// How many threads to use; all processors if not given.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
}

/// What may join two entities.
#[derive(Serialize)]
struct Related {
    head: NamedEntity,
    tail: NamedEntity,
    relations: Vec<RelatedBy>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'static str>,
}

/// Why there is no confidence.
const NO_CONFIDENCE: &str =
    "too few relations could be left out to say how sure it is, or the run was learned by an earlier version";

pub(crate) fn run(args: &RelateArgs, terminal: &Terminal) -> Result<(), CliError> {
    in_pool(args.threads, || {
        let busy = terminal.busy("opening the run");
        let predictor = Predictor::open(&args.run, args.graph.as_deref())?;
        drop(busy);
        let resolver = Resolver::new(&predictor);
        let [head, tail] = [resolver.entity(&args.head)?, resolver.entity(&args.tail)?];
        let mut new = Vec::new();
        if let (Some(name), Some(file)) = (&args.new, &args.support) {
            let relation = resolver.relation(name, true)?;
            let support = resolver.pairs_of(&resolver.pairs(file)?, relation, Some(name))?;
            if support.is_empty() {
                let message = format!("{}: there are no pairs in this file", file.display());
                return Err(CliError::Usage(message));
            }
            new.push(NewRelation { name: name.clone(), support });
        }
        let request = RelateRequest { top: args.top.get(), include_known: !args.exclude_known, new };
        let busy = terminal.busy("looking at relations");
        let relations = predictor.relate(head, tail, &request)?;
        drop(busy);
        let is_sure = relations.iter().all(|relation| relation.confidence.is_some());
        let entity = |of| NamedEntity::new(predictor.graph(), of);
        let related = Related {
            head: entity(head),
            tail: entity(tail),
            relations,
            note: (!is_sure).then_some(NO_CONFIDENCE),
        };
        terminal.result(&related, |out| related.print(out))?;
        if let Some(note) = related.note {
            terminal.warn(note);
        }
        Ok(())
    })?
}

impl Related {
    fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{BOLD}{}{BOLD:#} → {BOLD}{}{BOLD:#}", self.head.label, self.tail.label)?;
        let rows = self.relations.iter().enumerate().map(|(at, of)| {
            let sure = of.confidence.map_or_else(String::new, |sure| format!("{:.0} %", 100.0 * sure));
            let mark = match (of.known, of.in_graph) {
                (true, _) => "known",
                (false, true) => "",
                (false, false) => "new",
            };
            let why = of.reasons.first().cloned().unwrap_or_default();
            [(at + 1).to_string(), of.label.clone(), sure, mark.to_owned(), why]
        });
        writeln!(out, "{}", table(["", "relation", "confidence", "", "why"], rows))?;
        writeln!(out, "{DIM}confidence: given that some relation holds from the one to the other{DIM:#}")
    }
}
