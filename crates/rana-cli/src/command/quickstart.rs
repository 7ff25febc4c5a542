use std::io::{self, Write};
use std::path::PathBuf;

use clap::{Args, ValueHint};
use rana::fewshot::{SplitConfig, SplitReport, first_k};
use rana::graph::{FewShotRule, ImportOptions, ImportReport, Split, Statistics, Store, import};
use serde::Serialize;

use super::{import as import_command, inspect, split};
use crate::error::CliError;
use crate::terminal::{BOLD, DIM, Terminal};

/// See the whole story on an embedded real graph: import, inspect, split.
///
/// The graph is the UMLS semantic network: 135 biomedical concepts, 46 relations, 6,529 facts.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  rana quickstart
  rana quickstart --out tour && rana inspect tour/benchmark")]
pub(crate) struct QuickstartArgs {
    /// Where the graph stores go.
    #[arg(long, value_name = "DIR", default_value = "rana-quickstart", value_hint = ValueHint::DirPath)]
    out: PathBuf,
}

pub(crate) fn run(args: &QuickstartArgs, terminal: &Terminal) -> Result<(), CliError> {
    let graph_path = args.out.join("graph");
    let benchmark_path = args.out.join("benchmark");

    let imported = import(&[rana::umls()], &ImportOptions::default(), &terminal.progress())?;
    import_command::store(&imported, &graph_path)?;
    let store = Store::open(&graph_path)?;
    let statistics = Statistics::of(&store.graph, &store.tasks, FewShotRule::default());
    let outcome = split::split_to(&store, &SplitConfig::default(), &benchmark_path)?;
    let task = example(&outcome)?;

    let story = Story {
        graph: graph_path.display().to_string(),
        benchmark: benchmark_path.display().to_string(),
        import: &imported.report,
        inspect: &statistics,
        split: &outcome.report,
        example: task,
    };
    terminal.result(&story, |out| story.print(out))
}

#[derive(Serialize)]
struct Story<'a> {
    graph: String,
    benchmark: String,
    import: &'a ImportReport,
    inspect: &'a Statistics,
    split: &'a SplitReport,
    example: Option<Example>,
}

/// A test task as a model will see it.
#[derive(Serialize)]
struct Example {
    relation: String,
    support: Vec<[String; 2]>,
    queries: usize,
    candidates: usize,
}

fn example(outcome: &rana::fewshot::SplitOutcome) -> Result<Option<Example>, CliError> {
    const SHOTS: usize = 5;
    let Some(task) = outcome.tasks.of(Split::Test).next() else { return Ok(None) };
    let episode = first_k(&task, SHOTS)?;
    let name = |entity| outcome.graph.entity_name(entity).to_owned();
    Ok(Some(Example {
        relation: outcome.graph.relation_name(task.relation).to_owned(),
        support: episode.support.iter().map(|pair| [name(pair.head), name(pair.tail)]).collect(),
        queries: episode.query.len(),
        candidates: task.candidates.len(),
    }))
}

impl Story<'_> {
    fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        heading(out, 1, "import", &format!("rana import FILES --out {}", self.graph))?;
        import_command::print_report(self.import, out)?;
        heading(out, 2, "inspect", &format!("rana inspect {}", self.graph))?;
        inspect::print(self.inspect, 8, out)?;
        heading(out, 3, "split", &format!("rana split {} --out {}", self.graph, self.benchmark))?;
        split::print(self.split, out)?;
        if let Some(example) = &self.example {
            heading(out, 4, "a few-shot task", &format!("rana episodes {} --split test", self.benchmark))?;
            writeln!(
                out,
                "the graph has not a single fact of {BOLD}{}{BOLD:#}; a model is given five:",
                example.relation
            )?;
            for [head, tail] in &example.support {
                writeln!(out, "  {head} → {tail}")?;
            }
            writeln!(
                out,
                "and has to find the tails of {} others among {} candidates.",
                example.queries, example.candidates
            )?;
        }
        writeln!(
            out,
            "\nNext: {BOLD}rana import YOUR-FILE --out my-graph{BOLD:#}, then the same commands on it."
        )
    }
}

fn heading(out: &mut dyn Write, number: usize, title: &str, command: &str) -> io::Result<()> {
    let gap = if number == 1 { "" } else { "\n" };
    writeln!(out, "{gap}{BOLD}{number}. {title}{BOLD:#}  {DIM}{command}{DIM:#}")
}
