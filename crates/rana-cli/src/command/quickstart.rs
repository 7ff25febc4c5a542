//! `rana quickstart`: the whole pipeline on the embedded graph.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};
use rana::embed::{EmbedConfig, ModelKind};
use rana::eval::{CardSettings, EvaluationCard};
use rana::fewshot::{Episode, PretrainingFacts, SplitConfig, SplitReport, first_k};
use rana::graph::{
    EntityId, FewShotRule, ImportOptions, ImportReport, Split, Statistics, Store, Task, import,
};
use rana::models::training::{Run, RunConfig, RunError};
use rana::models::{OpenedRun, registry};
use rana::predictor::{AnswerLimits, Predictor, RelationRequest};
use serde::Serialize;

use super::embed::{FixedRowFiles, Session, Trained};
use super::eval::card_text::print_card;
use super::eval::evaluated_run::card as run_card;
use super::serve::{ServerArgs, serve};
use super::stored_vectors::vectors_path;
use super::train::{Session as MetaSession, Trained as MetaTrained};
use super::{import as import_command, inspect, split};
use crate::error::CliError;
use crate::terminal::{BOLD, DIM, Terminal};
use crate::text_table::table;

/// Run every step on an embedded real graph: import, pre-train, meta-train, evaluate, complete.
///
/// The graph is the UMLS semantic network: 135 biomedical concepts, 46 relations, 6,529 facts.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  rana quickstart
  rana quickstart --serve                               (ends on a web page, with the example filled in)
  rana quickstart --out tour && rana eval tour/run --html card.html")]
pub(crate) struct QuickstartArgs {
    /// The directory for the graph stores and the run.
    #[arg(long, value_name = "DIR", default_value = "rana-quickstart", value_hint = ValueHint::DirPath)]
    out: PathBuf,
    /// At the end, serve the web page with the example filled in.
    #[arg(long)]
    serve: bool,
    #[command(flatten, next_help_heading = "Serving")]
    server: ServerArgs,
}

pub(crate) fn run(args: &QuickstartArgs, terminal: &Terminal) -> Result<(), CliError> {
    let [graph_path, benchmark_path, run_path] =
        ["graph", "benchmark", "run"].map(|name| args.out.join(name));

    let imported = import(&[rana::umls()], &ImportOptions::default(), &terminal.progress())?;
    import_command::store(&imported, &graph_path)?;
    let store = Store::open(&graph_path)?;
    let statistics = Statistics::of(&store.graph, &store.tasks, FewShotRule::default());
    let outcome = split::split_to(&store, &SplitConfig::default(), &benchmark_path)?;
    let benchmark = Store::open(&benchmark_path)?;
    let embed = pretrain(&benchmark, terminal)?;
    let train = meta_train(&benchmark, &run_path, terminal)?;
    let run = OpenedRun::open(&run_path, Some(&benchmark_path), None)?;
    let card = run_card(&run, CardSettings { shots: SHOTS, ..CardSettings::default() }, terminal)?;
    let predictor = Predictor::new(run);
    // The embedded graph always has test tasks after the split.
    let Some(task) = benchmark.tasks.of(Split::Test).next() else {
        return Err(CliError::NoTasks { store: benchmark_path.display().to_string(), split: Split::Test });
    };
    let episode = first_k(&task, SHOTS)?;

    let story = Story {
        graph: graph_path.display().to_string(),
        benchmark: benchmark_path.display().to_string(),
        run: run_path.display().to_string(),
        import: &imported.report,
        inspect: &statistics,
        split: &outcome.report,
        example: Example::new(&benchmark, &task, &episode),
        embed,
        train,
        card,
        completion: complete(&predictor, &task, &episode)?,
    };
    terminal.result(&story, |out| story.print(out))?;
    match args.serve {
        true => serve(&run_path, Some(&benchmark_path), &args.server, "?example", terminal),
        false => Ok(()),
    }
}

/// The support size of the example.
const SHOTS: usize = 5;

#[derive(Serialize)]
struct Story<'a> {
    graph: String,
    benchmark: String,
    run: String,
    import: &'a ImportReport,
    inspect: &'a Statistics,
    split: &'a SplitReport,
    example: Example,
    embed: Trained,
    train: MetaTrained,
    card: EvaluationCard,
    completion: Vec<Answered>,
}

/// Vectors of the background, with the settings recommended for its size.
fn pretrain(benchmark: &Store, terminal: &Terminal) -> Result<Trained, CliError> {
    let config = EmbedConfig::recommended(ModelKind::TransE, benchmark.graph.facts().len());
    let out = vectors_path(&benchmark.path, config.model);
    let facts = PretrainingFacts::Background;
    let checkpoint_every = rana::CHECKPOINT_EVERY;
    let fixed = FixedRowFiles::default();
    Session { store: benchmark, config, facts, fold: None, shots: SHOTS, fixed, out, checkpoint_every }
        .train(None, terminal)
}

/// Meta-trains a run with the settings for graphs of this size. An earlier run is replaced.
fn meta_train(benchmark: &Store, run: &Path, terminal: &Terminal) -> Result<MetaTrained, CliError> {
    if let Ok(earlier) = Run::open(run) {
        // Do not replace a run of another graph.
        if std::fs::canonicalize(&benchmark.path).ok().as_ref() != Some(&earlier.manifest.graph_path) {
            return Err(RunError::Exists { path: run.to_owned() }.into());
        }
        std::fs::remove_dir_all(run).map_err(|source| CliError::io(run, "remove the earlier run", source))?;
    }
    let config =
        RunConfig::preset(registry::DEFAULT, PRESET).map_err(|error| CliError::Usage(error.to_string()))?;
    let vectors = vectors_path(&benchmark.path, ModelKind::TransE);
    MetaSession::begin(benchmark, &config, &vectors, run, terminal)?
        .train(std::time::Duration::from_secs(60), terminal)
}

const PRESET: &str = "umls";

/// A test task as the model sees it.
#[derive(Serialize)]
struct Example {
    relation: String,
    support: Vec<[String; 2]>,
    queries: usize,
    candidates: usize,
}

impl Example {
    fn new(benchmark: &Store, task: &Task<'_>, episode: &Episode) -> Self {
        let name = |entity| benchmark.graph.entity_name(entity).to_owned();
        Self {
            relation: benchmark.graph.relation_name(task.relation).to_owned(),
            support: episode.support.iter().map(|pair| [name(pair.head), name(pair.tail)]).collect(),
            queries: episode.query.len(),
            candidates: task.candidates.len(),
        }
    }
}

/// What the model answers for a head.
#[derive(Serialize)]
struct Answered {
    head: String,
    answers: Vec<Answer>,
}

#[derive(Serialize)]
struct Answer {
    tail: String,
    confidence: Option<f32>,
    /// Whether the benchmark withheld this fact.
    is_withheld: bool,
}

/// Completes a relation for some heads that it was not given.
fn complete(predictor: &Predictor, task: &Task<'_>, episode: &Episode) -> Result<Vec<Answered>, CliError> {
    /// The number of heads to show, and of answers for each.
    const SHOWN: (usize, usize) = (5, 3);
    let relation = predictor.learn(RelationRequest {
        relation: Some(task.relation),
        support: episode.support.clone(),
        ..RelationRequest::default()
    })?;
    let given: BTreeSet<EntityId> = episode.support.iter().map(|pair| pair.head).collect();
    let mut heads: Vec<EntityId> = Vec::new();
    for pair in &episode.query {
        if !given.contains(&pair.head) && !heads.contains(&pair.head) {
            heads.push(pair.head);
        }
    }
    heads.truncate(SHOWN.0);
    let name = |entity| predictor.graph().entity_name(entity).to_owned();
    let limits = AnswerLimits { top: SHOWN.1, ..AnswerLimits::default() };
    let answered = heads.into_iter().map(|head| {
        let answers = relation.complete(head, &limits).into_iter().map(|answer| Answer {
            tail: name(answer.pair.tail),
            confidence: answer.confidence,
            is_withheld: answer.withheld,
        });
        Answered { head: name(head), answers: answers.collect() }
    });
    Ok(answered.collect())
}

impl Story<'_> {
    fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        heading(out, 1, "import", &format!("rana import FILES --out {}", self.graph))?;
        import_command::print_report(self.import, out)?;
        heading(out, 2, "inspect", &format!("rana inspect {}", self.graph))?;
        inspect::print_statistics(self.inspect, 8, out)?;
        heading(out, 3, "split", &format!("rana split {} --out {}", self.graph, self.benchmark))?;
        split::print(self.split, out)?;
        let example = &self.example;
        heading(out, 4, "a few-shot task", &format!("rana episodes {} --split test", self.benchmark))?;
        writeln!(
            out,
            "the graph has no fact of {BOLD}{}{BOLD:#}; the model is given five:",
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
        heading(out, 5, "pre-train", &format!("rana embed {}", self.benchmark))?;
        self.embed.print(out)?;
        let command = format!("rana train {} --preset {PRESET} --out {}", self.benchmark, self.run);
        heading(out, 6, "meta-train", &command)?;
        self.train.print(out)?;
        heading(out, 7, "evaluate", &format!("rana eval {}", self.run))?;
        write!(out, "on relations that neither training has seen, with baselines that learn nothing")?;
        print_card(&self.card, false, out)?;
        heading(out, 8, "complete", "the relation above, from its five facts")?;
        let rows = self.completion.iter().map(|answered| {
            let mark = |answer: &Answer| {
                let sure = answer.confidence.map_or_else(String::new, |sure| format!(" {sure:.2}"));
                format!("{}{}{sure}", if answer.is_withheld { "✓ " } else { "" }, answer.tail)
            };
            let mut answers = answered.answers.iter().map(mark);
            let mut next = || answers.next().unwrap_or_default();
            [answered.head.clone(), next(), next(), next()]
        });
        writeln!(out, "{}", table([example.relation.as_str(), "first answer", "second", "third"], rows))?;
        writeln!(
            out,
            "{DIM}✓ a fact that was withheld; the number is the confidence, learned on other relations{DIM:#}"
        )?;
        writeln!(
            out,
            "\nNext: {BOLD}rana complete {run} --relation {relation} --reasons{BOLD:#} explains the answers.\n\
             {BOLD}rana serve {run}{BOLD:#} starts a web page to complete relations and review answers.\n\
             For your own data: {BOLD}rana learn YOUR-FILE --out my-model{BOLD:#}, then the same with my-model.",
            run = self.run,
            relation = example.relation
        )
    }
}

fn heading(out: &mut dyn Write, number: usize, title: &str, command: &str) -> io::Result<()> {
    let gap = if number == 1 { "" } else { "\n" };
    writeln!(out, "{gap}{BOLD}{number}. {title}{BOLD:#}  {DIM}{command}{DIM:#}")
}
