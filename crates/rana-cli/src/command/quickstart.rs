use std::io::{self, Write};
use std::path::PathBuf;

use clap::{Args, ValueHint};
use rana::embed::{EmbedConfig, EmbeddingSet, ModelKind};
use rana::eval::{FewShotEvaluation, FewShotReport, MeanTranslation};
use rana::fewshot::{PretrainingFacts, SplitConfig, SplitReport, first_k};
use rana::graph::{FewShotRule, ImportOptions, ImportReport, Split, Statistics, Store, import};
use serde::Serialize;

use super::embed::{Session, Trained, vectors_path};
use super::{eval, import as import_command, inspect, split};
use crate::error::CliError;
use crate::terminal::{BOLD, DIM, Terminal};

/// See the whole story on an embedded real graph: import, inspect, split, pre-train, evaluate.
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
    let benchmark = Store::open(&benchmark_path)?;
    let trained = pretrain(&benchmark, terminal)?;
    let few_shot = evaluate(&benchmark, terminal)?;
    let task = example(&outcome)?;

    let story = Story {
        graph: graph_path.display().to_string(),
        benchmark: benchmark_path.display().to_string(),
        import: &imported.report,
        inspect: &statistics,
        split: &outcome.report,
        example: task,
        embed: trained,
        few_shot,
    };
    terminal.result(&story, |out| story.print(out))
}

/// Facts that a model is given of an unseen relation.
const SHOTS: usize = 5;

#[derive(Serialize)]
struct Story<'a> {
    graph: String,
    benchmark: String,
    import: &'a ImportReport,
    inspect: &'a Statistics,
    split: &'a SplitReport,
    example: Option<Example>,
    embed: Trained,
    few_shot: Option<FewShotReport>,
}

/// Vectors of the background, with the settings recommended for its size.
fn pretrain(benchmark: &Store, terminal: &Terminal) -> Result<Trained, CliError> {
    let config = EmbedConfig::recommended(ModelKind::TransE, benchmark.graph.facts().len());
    let out = vectors_path(&benchmark.path, config.model);
    let facts = PretrainingFacts::Background;
    Session { store: benchmark, config, facts, shots: SHOTS, out }.train(None, terminal)
}

/// What the vectors know of the test tasks before anything is learned of them.
fn evaluate(benchmark: &Store, terminal: &Terminal) -> Result<Option<FewShotReport>, CliError> {
    if benchmark.tasks.of(Split::Test).next().is_none() {
        return Ok(None);
    }
    let path = vectors_path(&benchmark.path, ModelKind::TransE);
    let vectors = EmbeddingSet::open(path, &benchmark.graph)?;
    let model = MeanTranslation::new(&vectors.entities, vectors.metadata.norm);
    let evaluation = FewShotEvaluation { shots: SHOTS, ..FewShotEvaluation::default() };
    Ok(Some(evaluation.evaluate(
        &model,
        &benchmark.graph,
        &benchmark.tasks,
        Split::Test,
        &terminal.progress(),
    )?))
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
        heading(out, 5, "pre-train", &format!("rana embed {}", self.benchmark))?;
        self.embed.print(out)?;
        if let Some(report) = &self.few_shot {
            heading(out, 6, "evaluate", &format!("rana eval {} --on test-tasks", self.benchmark))?;
            writeln!(
                out,
                "ties: {}; no training yet: each unseen relation is the mean of t − h over its five facts",
                report.tie_rule
            )?;
            eval::print_few_shot(report, out)?;
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
