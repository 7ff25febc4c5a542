//! `rana eval`: measures a run, vectors or a training-free model on the tasks of a graph.

pub(crate) mod card;
pub(crate) mod evaluated_run;
mod link_prediction;

use std::fmt::Display;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::{Args, ValueHint, value_parser};
use rana::embed::link_prediction::{LinkPredictionSettings, Metrics, TieRule};
use rana::embed::{EmbeddingMetadata, EmbeddingSet, ModelKind, Norm};
use rana::eval::{CardSettings, EvaluationCard};
use rana::graph::{Graph, HeldOut, Split, Store};
use rana::models::vectors::{KgeModel, MeanTranslation};
use rana::models::{MEAN_TRANSLATION, OpenedRun};
use serde::Serialize;

use self::card::{CardArgs, CardMaker, Cards};
use self::link_prediction::FactsReport;
use super::embed::vectors_path;
use crate::error::CliError;
use crate::hint::Hint;
use crate::human_numbers::thousands;
use crate::terminal::{BOLD, DIM, Terminal};
use crate::text_table::table;
use crate::thread_pool::in_pool;

/// Evaluate the model of a run, or the vectors of a graph.
///
/// A run: makes an evaluation card of its model on few-shot tasks. The card also has rows for the same model before
/// training, for the mean translation, and for baselines without vectors.
///
/// A graph: evaluates its vectors on held-out facts and on few-shot tasks. On held-out facts, both ends of every fact
/// are ranked among all entities; other known answers are left out. On few-shot tasks, it makes an evaluation card of
/// the mean translation (the relation is the mean of t − h over the support, nothing is trained), with rows for
/// baselines without vectors. Vectors that were trained on the supports (`rana embed --facts supports`) also have a
/// row for their own score function.
///
/// The official support of a task is its first K facts. Random supports show how much of a result is luck.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  rana eval run
  rana eval run --on dev-tasks --html card.html
  rana eval kg
  rana eval kg --model complex --on valid
  rana eval nell --on dev-tasks --shots 3 --per-relation
  rana embed nell --model distmult --facts supports && rana eval nell --model distmult
  rana eval nell --candidates all --draws 50 --seed 1 --html card.html
  rana eval kg --vectors elsewhere/transe --ties pessimistic --json")]
pub(crate) struct EvalArgs {
    /// The run, or the graph store.
    #[arg(value_name = "RUN|KG", value_hint = ValueHint::DirPath)]
    source: PathBuf,
    /// The graph of a run, if it has moved.
    #[arg(long, value_name = "KG", value_hint = ValueHint::DirPath)]
    graph: Option<PathBuf>,
    /// The model whose vectors to evaluate; not needed if the graph has vectors of one model only.
    #[arg(long, conflicts_with = "vectors")]
    model: Option<ModelKind>,
    /// The directory of the vectors, if they are not stored with the graph.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    vectors: Option<PathBuf>,
    /// What to evaluate on: valid or test facts, dev or test tasks. May be repeated. By default the test facts and
    /// the test tasks; valid and dev if there are none.
    #[arg(long, value_name = "WHAT")]
    on: Vec<On>,
    /// The rank of the true answer among equal scores: realistic (the middle), optimistic or pessimistic.
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
    #[command(flatten)]
    card: CardArgs,
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
    /// The default: one set of facts and one of tasks, test before valid and dev.
    fn found(store: &Store) -> Vec<Self> {
        let facts = [(HeldOut::Test, Self::Test), (HeldOut::Valid, Self::Valid)];
        let facts = facts.into_iter().find(|(part, _)| !store.graph.held_out(*part).is_empty());
        let tasks = [(Split::Test, Self::TestTasks), (Split::Dev, Self::DevTasks)];
        let tasks = tasks.into_iter().find(|(split, _)| store.tasks.of(*split).next().is_some());
        facts.map(|(_, on)| on).into_iter().chain(tasks.map(|(_, on)| on)).collect()
    }
}

pub(crate) fn run(args: &EvalArgs, terminal: &Terminal) -> Result<(), CliError> {
    if OpenedRun::is_at(&args.source) {
        return evaluated_run::run(args, terminal);
    }
    let store = Store::open(&args.source)?;
    let path = args.vectors_path()?;
    let set = EmbeddingSet::open(&path, &store.graph)?;
    let on = if args.on.is_empty() { On::found(&store) } else { args.on.clone() };
    if on.is_empty() {
        return Err(CliError::NothingToEvaluate { store: args.source.display().to_string() });
    }
    if args.graph.is_some() {
        return Err(CliError::Usage("--graph is the graph of a run, but this is not a run".to_owned()));
    }
    if args.card.html.is_some() && !on.iter().any(|on| matches!(on, On::DevTasks | On::TestTasks)) {
        let message = "--html shows few-shot tasks, but none are evaluated; add --on test-tasks";
        return Err(CliError::Usage(message.to_owned()));
    }
    let started = Instant::now();
    let evaluation = Evaluation { args, store: &store, set: &set, vectors: &path, terminal };
    let (facts, cards) = in_pool(args.threads, || evaluation.run(&on))??;
    let report = VectorReport {
        vectors: path.display().to_string(),
        made: &set.metadata,
        dim: set.entities.dim(),
        tie_rule: args.ties,
        link_prediction: facts,
        cards: Cards::new(&cards, args.per_relation),
        seconds: started.elapsed().as_secs_f64(),
        graph: &store.graph,
    };
    terminal.result(&report, |out| report.print(out))?;
    args.card.write_page(&cards, terminal)
}

impl EvalArgs {
    /// The path of the chosen vectors, or of the only ones.
    fn vectors_path(&self) -> Result<PathBuf, CliError> {
        if let Some(path) = &self.vectors {
            return Ok(path.clone());
        }
        if let Some(model) = self.model {
            return Ok(vectors_path(&self.source, model));
        }
        only_vectors(&self.source)
    }
}

/// The path of the vectors stored with a graph, if they are of one model.
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
                "{} has vectors of {}; choose one with --model",
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
    vectors: &'a Path,
    terminal: &'a Terminal,
}

/// The support size by default, as in most published results.
const USUAL_SHOTS: usize = 5;

impl Evaluation<'_> {
    fn run(&self, on: &[On]) -> Result<(Vec<FactsReport>, Vec<EvaluationCard>), CliError> {
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
        let settings = LinkPredictionSettings {
            tie_rule: self.args.ties,
            per_relation: self.args.per_relation,
            ..LinkPredictionSettings::default()
        };
        FactsReport::of(part, self.store, self.set, settings, self.terminal)
    }

    fn tasks(&self, split: Split) -> Result<EvaluationCard, CliError> {
        let metadata = &self.set.metadata;
        let usual_shots = metadata.support_shots.unwrap_or(USUAL_SHOTS);
        let settings = self.args.card.settings(split, usual_shots, self.args.ties);
        warn_of_seen_queries(metadata, settings, self.terminal);
        let norm = self.args.norm.unwrap_or_else(|| self.set.own_norm());
        let model = MeanTranslation::new(&self.set.entities, norm);
        let details = self.set.details(self.vectors);
        let maker =
            CardMaker { store: self.store, settings, details, calibration: None, terminal: self.terminal };
        let name = metadata.model.to_string();
        match self.own_model(settings.shots) {
            Some(own) => maker.make((&name, &own), &[(MEAN_TRANSLATION, &model)]),
            None => maker.make((MEAN_TRANSLATION, &model), &[]),
        }
    }

    /// A model that scores with the vectors' own score function, if they were trained on these supports.
    fn own_model(&self, shots: usize) -> Option<KgeModel> {
        let model = self.set.metadata.model;
        let missing = |reason: &dyn Display, hint: Option<String>| {
            let hint = hint.map_or_else(String::new, |hint| format!("; {hint}"));
            self.terminal.note(&format!("there is no row for the score of {model} itself: {reason}{hint}"));
        };
        let own = KgeModel::new(self.set, &self.store.graph, &self.store.tasks);
        let own = own.map_err(|reason| missing(&reason, reason.hint())).ok()?;
        own.check_shots(shots).map_err(|reason| missing(&reason, reason.hint())).ok()?;
        Some(own)
    }
}

/// Warns if the vectors were trained on queries.
fn warn_of_seen_queries(metadata: &EmbeddingMetadata, settings: CardSettings, terminal: &Terminal) {
    let Some(seen) = metadata.support_shots else { return };
    let CardSettings { shots, draws, .. } = settings;
    if seen > shots {
        terminal.warn(&format!(
            "these vectors were trained on the first {seen} facts of each task, so with {shots} shots some queries \
             are not unseen"
        ));
    } else if draws > 0 {
        terminal.warn(&format!(
            "these vectors were trained on the first {seen} facts of each task, which are queries of resampled \
             supports: use the official numbers, or --draws 0"
        ));
    }
}

/// The result of an evaluation of vectors.
#[derive(Serialize)]
struct VectorReport<'a> {
    vectors: String,
    made: &'a EmbeddingMetadata,
    dim: usize,
    tie_rule: TieRule,
    link_prediction: Vec<FactsReport>,
    #[serde(flatten)]
    cards: Cards<'a>,
    seconds: f64,
    #[serde(skip)]
    graph: &'a Graph,
}

impl VectorReport<'_> {
    fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(
            out,
            "{BOLD}{}{BOLD:#}, dim {}  {DIM}{}{DIM:#}\nties: {BOLD}{}{BOLD:#}; other known answers are left out",
            self.made.model, self.dim, self.vectors, self.tie_rule
        )?;
        for facts in &self.link_prediction {
            facts.print(self.graph, out)?;
        }
        self.cards.print(out)?;
        // A single card has printed the time already.
        if !self.cards.is_one() || !self.link_prediction.is_empty() {
            writeln!(out, "{DIM}{:.1} s in all{DIM:#}", self.seconds)?;
        }
        Ok(())
    }
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
