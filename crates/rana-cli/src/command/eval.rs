use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::{Args, ValueHint, value_parser};
use rana::embed::link_prediction::{
    KnownAnswers, LinkPrediction, LinkPredictionSettings, LinkReport, Metrics, RelationReport, TieRule,
};
use rana::embed::{EmbeddingMetadata, EmbeddingSet, ModelKind, Norm};
use rana::eval::{Baseline, FewShotEvaluation, FewShotReport, MeanTranslation};
use rana::fewshot::FewShotModel;
use rana::graph::{Graph, HeldOut, Split, Store};
use serde::Serialize;

use super::embed::{in_pool, vectors_path};
use crate::error::CliError;
use crate::terminal::{BOLD, DIM, Terminal, table, thousands};

/// Evaluate the vectors of a graph.
///
/// On held-out facts: both ends of every fact are ranked among all entities, other known answers
/// left out. On few-shot tasks: the first K facts of a task are its support, and the tails of the
/// others are ranked among the task's candidates, known tails left out; by the mean translation
/// (the relation is the mean of t − h over the support, nothing is learned) and, to compare, by
/// baselines that see no vectors at all.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  rana eval kg
  rana eval kg --model complex --on valid
  rana eval nell --on dev-tasks --shots 3 --per-relation
  rana eval kg --vectors elsewhere/transe --ties pessimistic --json")]
pub(crate) struct EvalArgs {
    /// The graph store.
    #[arg(value_name = "KG", value_hint = ValueHint::DirPath)]
    store: PathBuf,
    /// The vectors of this model; those that are there if they are of one model only.
    #[arg(long, conflicts_with = "vectors")]
    model: Option<ModelKind>,
    /// Where the vectors are, if not with the graph.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    vectors: Option<PathBuf>,
    /// What to evaluate on: valid or test facts, dev or test tasks. May be repeated; the test facts
    /// and the dev and test tasks that are there if not given.
    #[arg(long, value_name = "WHAT")]
    on: Vec<On>,
    /// Support pairs per task.
    #[arg(long, value_name = "K", default_value_t = 5)]
    shots: usize,
    /// How ties are decided: realistic (in the middle), optimistic or pessimistic.
    #[arg(long, value_name = "RULE", default_value_t)]
    ties: TieRule,
    /// The distance that tails of tasks are ranked by: l1 or l2; the model's own if not given (l2 for
    /// models without one).
    #[arg(long)]
    norm: Option<Norm>,
    /// Also list every relation.
    #[arg(long)]
    per_relation: bool,
    /// How many threads to use; all processors if not given.
    #[arg(long, value_name = "N", value_parser = value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum On {
    /// The graph's valid facts.
    Valid,
    /// The graph's test facts.
    Test,
    /// The tasks for development.
    DevTasks,
    /// The tasks for the final report.
    TestTasks,
}

impl On {
    /// What there is to evaluate on without being told.
    fn found(store: &Store) -> Vec<Self> {
        let has_facts = |part| !store.graph.held_out(part).is_empty();
        let has_tasks = |split| store.tasks.of(split).next().is_some();
        let mut found = Vec::new();
        match (has_facts(HeldOut::Valid), has_facts(HeldOut::Test)) {
            (_, true) => found.push(Self::Test),
            (true, false) => found.push(Self::Valid),
            (false, false) => {}
        }
        found.extend(has_tasks(Split::Dev).then_some(Self::DevTasks));
        found.extend(has_tasks(Split::Test).then_some(Self::TestTasks));
        found
    }
}

pub(crate) fn run(args: &EvalArgs, terminal: &Terminal) -> Result<(), CliError> {
    let store = Store::open(&args.store)?;
    let path = args.vectors_path()?;
    let set = EmbeddingSet::open(&path, &store.graph)?;
    let on = if args.on.is_empty() { On::found(&store) } else { args.on.clone() };
    if on.is_empty() {
        return Err(CliError::NothingToEvaluate { store: args.store.display().to_string() });
    }
    let started = Instant::now();
    let baselines = match on.iter().any(|on| matches!(on, On::DevTasks | On::TestTasks)) {
        true => Baseline::all(&store.graph),
        false => Vec::new(),
    };
    let evaluation = Evaluation { args, store: &store, set: &set, baselines, terminal };
    let (facts, tasks) = in_pool(args.threads, || evaluation.run(&on))??;
    let card = Card {
        vectors: path.display().to_string(),
        made: &set.metadata,
        dim: set.entities.dim(),
        tie_rule: args.ties,
        link_prediction: facts,
        few_shot: tasks,
        seconds: started.elapsed().as_secs_f64(),
        graph: &store.graph,
        per_relation: args.per_relation,
    };
    terminal.result(&card, |out| card.print(out))
}

impl EvalArgs {
    /// The vectors asked for, or the only ones there are.
    fn vectors_path(&self) -> Result<PathBuf, CliError> {
        if let Some(path) = &self.vectors {
            return Ok(path.clone());
        }
        if let Some(model) = self.model {
            return Ok(vectors_path(&self.store, model));
        }
        only_vectors(&self.store)
    }
}

/// The vectors kept with a graph, if they are of one model.
pub(crate) fn only_vectors(store: &Path) -> Result<PathBuf, CliError> {
    let found: Vec<ModelKind> = ModelKind::ALL
        .iter()
        .copied()
        .filter(|&model| EmbeddingSet::read_metadata(vectors_path(store, model)).is_ok())
        .collect();
    match found[..] {
        [model] => Ok(vectors_path(store, model)),
        [] => Err(CliError::NoVectors { store: store.display().to_string() }),
        _ => {
            let names: Vec<String> = found.iter().map(ToString::to_string).collect();
            Err(CliError::Usage(format!(
                "{} has vectors of {}; say which by --model",
                store.display(),
                names.join(", ")
            )))
        }
    }
}

struct Evaluation<'a> {
    args: &'a EvalArgs,
    store: &'a Store,
    set: &'a EmbeddingSet,
    baselines: Vec<Baseline<'a>>,
    terminal: &'a Terminal,
}

impl Evaluation<'_> {
    fn run(&self, on: &[On]) -> Result<(Vec<FactsReport>, Vec<TasksReport>), CliError> {
        let (mut facts, mut tasks) = (Vec::new(), Vec::new());
        for on in on {
            match on {
                On::Valid => facts.push(self.facts(HeldOut::Valid)?),
                On::Test => facts.push(self.facts(HeldOut::Test)?),
                On::DevTasks => tasks.push(self.tasks(Split::Dev)?),
                On::TestTasks => tasks.push(self.tasks(Split::Test)?),
            }
        }
        Ok((facts, tasks))
    }

    fn facts(&self, part: HeldOut) -> Result<FactsReport, CliError> {
        let graph = &self.store.graph;
        let facts = graph.held_out(part);
        if facts.is_empty() {
            return Err(CliError::NoHeldOut { store: self.args.store.display().to_string(), part });
        }
        let settings = LinkPredictionSettings {
            tie_rule: self.args.ties,
            per_relation: self.args.per_relation,
            ..LinkPredictionSettings::default()
        };
        let known = KnownAnswers::of_graph(graph);
        let evaluation = LinkPrediction::new(settings)?;
        let report = evaluation.evaluate(&self.set.vectors(), facts, &known, &self.terminal.progress())?;
        let LinkReport { head, tail, both, relations, .. } = report;
        let name = |RelationReport { relation, head, tail, both }| {
            let relation = graph.relation_name(relation).to_owned();
            NamedRelation { relation, head, tail, both }
        };
        let relations = relations.map(|relations| relations.into_iter().map(name).collect());
        Ok(FactsReport {
            on: part,
            facts: facts.len(),
            tie_rule: self.args.ties,
            head,
            tail,
            both,
            relations,
        })
    }

    fn tasks(&self, split: Split) -> Result<TasksReport, CliError> {
        if self.store.tasks.of(split).next().is_none() {
            return Err(CliError::NoTasks { store: self.args.store.display().to_string(), split });
        }
        let metadata = &self.set.metadata;
        if let Some(seen) = metadata.support_shots.filter(|&seen| seen > self.args.shots) {
            self.terminal.warn(&format!(
                "these vectors were trained on the first {seen} facts of each task, so with {} shots some queries \
                 are not unseen",
                self.args.shots
            ));
        }
        let own = match metadata.model {
            ModelKind::TransE => metadata.norm,
            _ => Norm::L2,
        };
        let model = MeanTranslation::new(&self.set.entities, self.args.norm.unwrap_or(own));
        let mut methods = vec![(MEAN_TRANSLATION, self.few_shot(&model, split)?)];
        for baseline in &self.baselines {
            methods.push((baseline.kind().name(), self.few_shot(baseline, split)?));
        }
        Ok(TasksReport { split, shots: self.args.shots, methods: methods.into_iter().collect() })
    }

    fn few_shot(&self, model: &dyn FewShotModel, split: Split) -> Result<FewShotReport, CliError> {
        let evaluation = FewShotEvaluation { shots: self.args.shots, tie_rule: self.args.ties };
        Ok(evaluation.evaluate(
            model,
            &self.store.graph,
            &self.store.tasks,
            split,
            &self.terminal.progress(),
        )?)
    }
}

/// How well held-out facts were predicted.
#[derive(Serialize)]
struct FactsReport {
    on: HeldOut,
    facts: usize,
    tie_rule: TieRule,
    head: Metrics,
    tail: Metrics,
    both: Metrics,
    relations: Option<Vec<NamedRelation>>,
}

#[derive(Serialize)]
struct NamedRelation {
    relation: String,
    head: Metrics,
    tail: Metrics,
    both: Metrics,
}

/// How well the tasks of a split were completed, by method.
#[derive(Serialize)]
struct TasksReport {
    split: Split,
    shots: usize,
    methods: BTreeMap<&'static str, FewShotReport>,
}

/// The method that looks at the vectors.
const MEAN_TRANSLATION: &str = "mean-translation";

#[derive(Serialize)]
struct Card<'a> {
    vectors: String,
    made: &'a EmbeddingMetadata,
    dim: usize,
    tie_rule: TieRule,
    link_prediction: Vec<FactsReport>,
    few_shot: Vec<TasksReport>,
    seconds: f64,
    #[serde(skip)]
    graph: &'a Graph,
    #[serde(skip)]
    per_relation: bool,
}

impl Card<'_> {
    fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(
            out,
            "{BOLD}{}{BOLD:#}, dim {}  {DIM}{}{DIM:#}\nties: {BOLD}{}{BOLD:#}; other known answers are left out",
            self.made.model, self.dim, self.vectors, self.tie_rule
        )?;
        for FactsReport { on, facts, head, tail, both, relations, .. } in &self.link_prediction {
            writeln!(
                out,
                "\n{BOLD}link prediction{BOLD:#} on {} {on} facts, among all {} entities",
                thousands(*facts as u64),
                thousands(self.graph.entity_count() as u64)
            )?;
            let sides = [("head", head), ("tail", tail), ("both", both)];
            let rows = sides.map(|(side, metrics)| row(side.to_owned(), metrics));
            writeln!(out, "{}", metrics_table("side", rows))?;
            if let Some(relations) = relations {
                let rows = relations.iter().map(|of| row(of.relation.clone(), &of.both));
                writeln!(out, "{}", metrics_table("relation, both sides", rows))?;
            }
        }
        for TasksReport { split, shots, methods } in &self.few_shot {
            writeln!(
                out,
                "\n{BOLD}few-shot tasks{BOLD:#}, {split}, {shots} shots, official support; nothing is learned"
            )?;
            let rows = methods.iter().map(|(name, report)| row((*name).to_owned(), &report.micro));
            writeln!(out, "{}", metrics_table("over queries", rows))?;
            let rows = methods.iter().map(|(name, report)| macro_row((*name).to_owned(), report));
            writeln!(out, "{}", metrics_table("over tasks", rows))?;
            if let (true, Some(report)) = (self.per_relation, methods.get(MEAN_TRANSLATION)) {
                let rows = report.tasks.iter().map(|task| row(task.relation.clone(), &task.metrics));
                writeln!(out, "{}", metrics_table("task, mean-translation", rows))?;
            }
        }
        writeln!(out, "{DIM}{:.1} s{DIM:#}", self.seconds)
    }
}

/// The averages of a few-shot evaluation.
pub(crate) fn print_few_shot(report: &FewShotReport, out: &mut dyn Write) -> io::Result<()> {
    let rows = [row("queries".to_owned(), &report.micro), macro_row("tasks".to_owned(), report)];
    writeln!(out, "{}", metrics_table("mean over", rows))
}

fn macro_row(title: String, report: &FewShotReport) -> [String; 8] {
    let mean = report.macro_average;
    let values = [mean.mrr, mean.hits_at_1, mean.hits_at_5, mean.hits_at_10];
    let [mrr, hits1, hits5, hits10] = values.map(decimals);
    [title, mean.tasks.to_string(), mrr, hits1, String::new(), hits5, hits10, String::new()]
}

fn metrics_table(title: &str, rows: impl IntoIterator<Item = [String; 8]>) -> String {
    table([title, "#number", "#MRR", "#Hits@1", "#@3", "#@5", "#@10", "#ties"], rows)
}

fn row(title: String, metrics: &Metrics) -> [String; 8] {
    let values = [metrics.mrr, metrics.hits_at_1, metrics.hits_at_3, metrics.hits_at_5, metrics.hits_at_10]
        .map(decimals);
    let [mrr, hits1, hits3, hits5, hits10] = values;
    [title, thousands(metrics.queries), mrr, hits1, hits3, hits5, hits10, thousands(metrics.ties)]
}

fn decimals(value: f64) -> String {
    format!("{value:.3}")
}
