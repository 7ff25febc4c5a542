//! `rana discover`: the best new facts of all relations in one list.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, ValueHint};
use rana::answer_writer::{AnswerError, AnswerFormat, AnswerWriter, AnsweredFact};
use rana::discover::{
    DiscoverLimits, Discoverer, Discovery, DiscoveryError, DiscoveryReport, NamedDiscovery,
};
use rana::graph::{Graph, Store, write_file_atomically};
use rana::predictor::{NamedEntity, Predictor, relation};
use serde::Serialize;

use crate::command::answer_file::chosen_format;
use crate::command::complete::shard::Shard;
use crate::error::CliError;
use crate::human_numbers::{counted, thousands};
use crate::staged_progress::StagedProgress;
use crate::terminal::{BOLD, DIM, Terminal};
use crate::text_table::table;
use crate::thread_pool::in_pool;

/// Find the best new facts of all relations: one list, the surest first.
///
/// Nothing is asked: every relation is looked at, with bounded work. Confidence is the share of known facts among the pairs that
/// the best rule leads to, counted on the graph; the rule is the reason. With --out, an interrupted run is resumed by
/// the same command.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  rana discover learned
  rana discover kg                                  (a store of `rana import`)
  rana discover learned --top 100000 --out new.tsv
  rana discover learned --relation treats --relation causes --min-confidence 0.5
  rana discover learned --shard 2/8 --out part-2.parquet

The relations of all shards together are all relations. Each relation that is done is a file in OUT.parts until the list is \
written. The list is the same whatever the threads and interruptions.")]
pub(crate) struct DiscoverArgs {
    /// The directory of `rana learn`, the run of `rana train` or `rana fuse`, or a graph store: nothing learned is needed.
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    run: PathBuf,
    /// Only this relation; may be repeated.
    #[arg(long, value_name = "NAME")]
    relation: Vec<String>,
    /// At most so many facts in the list.
    #[arg(long, value_name = "N")]
    top: Option<NonZeroUsize>,
    /// At most so many facts of each relation.
    #[arg(long, value_name = "N", default_value = "10000")]
    per_relation: NonZeroUsize,
    /// None that is less sure, from 0 to 1.
    #[arg(long, value_name = "SHARE", default_value = "0.1")]
    min_confidence: f32,
    /// At most so many pairs are looked at for each relation.
    #[arg(long, value_name = "N", default_value = "3000000")]
    work: NonZeroUsize,
    /// Only the i-th of n parts of the relations, counted from 1.
    #[arg(long, value_name = "I/N")]
    shard: Option<Shard>,
    /// Write the list as data, in a format of `rana complete`. With --out, the end of the file's name says it too.
    #[arg(long)]
    format: Option<AnswerFormat>,
    /// Where the list goes; a table on the terminal if not given.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    out: Option<PathBuf>,
    /// The graph, if it has moved since the run was made.
    #[arg(long, value_name = "KG", value_hint = ValueHint::DirPath)]
    graph: Option<PathBuf>,
    /// How many threads to use; all processors if not given.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
}

/// The facts of a list on the terminal, if not said otherwise.
const SHOWN: usize = 20;
/// The facts of a file, if not said otherwise.
const WRITTEN: usize = 10_000;

#[derive(Serialize)]
struct Account {
    #[serde(skip_serializing_if = "Option::is_none")]
    out: Option<PathBuf>,
    #[serde(flatten)]
    report: DiscoveryReport,
    facts: Vec<FactRow>,
    /// How many facts the list has.
    listed: usize,
}

#[derive(Serialize)]
struct FactRow {
    head: NamedEntity,
    relation: String,
    #[serde(skip)]
    label: String,
    tail: NamedEntity,
    confidence: f32,
    reason: String,
}

pub(crate) fn run(args: &DiscoverArgs, terminal: &Terminal) -> Result<(), CliError> {
    if !(0.0..=1.0).contains(&args.min_confidence) {
        let message =
            format!("--min-confidence {} is not a share; say a number from 0 to 1", args.min_confidence);
        return Err(CliError::Usage(message));
    }
    let format = chosen_format(args.format, args.out.as_deref())?;
    in_pool(args.threads, || {
        let busy = terminal.busy("opening the run");
        let discoverer = match Store::is_store(&args.run) {
            true => Discoverer::of_store(&Store::open(&args.run)?),
            false => Discoverer::new(&Predictor::open(&args.run, args.graph.as_deref())?),
        };
        drop(busy);
        let graph = discoverer.graph();
        let mut relations = Vec::new();
        for name in &args.relation {
            relations.push(relation(graph, name).map_err(|error| CliError::Usage(error.to_string()))?);
        }
        let default = if format.is_some() { WRITTEN } else { SHOWN };
        let discovery = Discovery {
            limits: DiscoverLimits {
                top: args.per_relation.get(),
                min_confidence: args.min_confidence,
                work: args.work.get(),
            },
            top: Some(args.top.map_or(default, NonZeroUsize::get)),
            relations,
            shard: args.shard.map(|Shard { number, of }| (number - 1, of)),
        };
        let parts = args.out.as_ref().map(|out| {
            let mut name = out.as_os_str().to_owned();
            name.push(".parts");
            PathBuf::from(name)
        });
        let progress = StagedProgress::new(terminal);
        let found = discovery.run(&discoverer, parts.as_deref(), &progress);
        drop(progress);
        let (facts, report) = found.map_err(|error| match error {
            DiscoveryError::Stopped if parts.is_some() => {
                CliError::StoppedTrials { resume: crate::interrupt::resume_command() }
            }
            error => error.into(),
        })?;
        match format {
            Some(format) => {
                write(args, format, graph, &facts)?;
                if let Some(parts) = &parts {
                    // The list is safe, and what it was made of is no longer needed.
                    let _ = fs::remove_dir_all(parts);
                }
                if args.out.is_none() {
                    return Ok(());
                }
                let account = Account::new(args.out.clone(), report, graph, &[], facts.len());
                terminal.account(&account, |out| account.print_written(out))
            }
            None => {
                let account = Account::new(None, report, graph, &facts, facts.len());
                terminal.result(&account, |out| account.print(out))
            }
        }
    })?
}

/// Writes the list as data.
fn write(
    args: &DiscoverArgs,
    format: AnswerFormat,
    graph: &Graph,
    facts: &[NamedDiscovery],
) -> Result<(), CliError> {
    let write = |out: &mut (dyn Write + Send)| -> Result<(), AnswerError> {
        let mut writer = AnswerWriter::new(format, out)?;
        for (at, fact) in facts.iter().enumerate() {
            writer.write(&AnsweredFact {
                head: graph.entity_name(fact.pair.head),
                relation: graph.relation_name(fact.relation),
                tail: graph.entity_name(fact.pair.tail),
                head_label: graph.entity_label(fact.pair.head),
                tail_label: graph.entity_label(fact.pair.tail),
                rank: Some(at as u32 + 1),
                score: None,
                confidence: Some(fact.confidence),
                known: false,
                reviewed: false,
                reasons: vec![fact.reason.clone()],
            })?;
        }
        writer.finish()?;
        Ok(())
    };
    match &args.out {
        None => write(&mut BufWriter::new(crate::terminal::data_output()))
            .map_err(|source| CliError::Export { file: "standard output".to_owned(), source }),
        Some(path) => write_file_atomically::<AnswerError>(path, |out| write(out))
            .map_err(|source| CliError::Export { file: path.display().to_string(), source }),
    }
}

impl Account {
    fn new(
        out: Option<PathBuf>,
        report: DiscoveryReport,
        graph: &Graph,
        facts: &[NamedDiscovery],
        listed: usize,
    ) -> Self {
        let row = |of: &NamedDiscovery| FactRow {
            head: NamedEntity::new(graph, of.pair.head),
            relation: graph.relation_name(of.relation).to_owned(),
            label: graph.relation_title(of.relation),
            tail: NamedEntity::new(graph, of.pair.tail),
            confidence: of.confidence,
            reason: of.reason.clone(),
        };
        Self { out, report, facts: facts.iter().map(row).collect(), listed }
    }

    fn print_written(&self, out: &mut dyn Write) -> io::Result<()> {
        let name = self.out.as_ref().map(|out| out.display().to_string()).unwrap_or_default();
        let DiscoveryReport { relations, resumed, found } = self.report;
        let before = match resumed {
            0 => String::new(),
            resumed => format!(" ({} of them before an interruption)", thousands(resumed as u64)),
        };
        writeln!(
            out,
            "wrote {BOLD}{name}{BOLD:#}: the {} of {} that {}{before} may have",
            counted(self.listed as u64, "surest new fact"),
            thousands(found as u64),
            counted(relations as u64, "relation")
        )
    }

    fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        let rows = self.facts.iter().map(|fact| {
            let sure = format!("{:.0} %", 100.0 * fact.confidence);
            let said = [&fact.head.label, &fact.label, &fact.tail.label];
            [sure, said.map(String::as_str).join(" · "), fact.reason.clone()]
        });
        writeln!(out, "{}", table(["confidence", "new fact", "why"], rows))?;
        writeln!(
            out,
            "{DIM}the first {} of {} in {}; --out FILE writes more{DIM:#}",
            thousands(self.listed as u64),
            thousands(self.report.found as u64),
            counted(self.report.relations as u64, "relation")
        )
    }
}
