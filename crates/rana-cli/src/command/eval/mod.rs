//! `rana eval`: measures a run, vectors or a training-free model on the tasks of a graph.

mod card;
pub(crate) mod card_text;
pub(crate) mod evaluated_run;
mod link_prediction;
mod vector_evaluation;

use std::path::PathBuf;
use std::time::Instant;

use clap::{Args, ValueHint, value_parser};
use rana::embed::link_prediction::TieRule;
use rana::embed::{EmbeddingSet, ModelKind, Norm};
use rana::graph::{HeldOut, Split, Store};
use rana::models::OpenedRun;

pub(crate) use self::card::named;
use self::card::{CardArgs, Cards};
use self::vector_evaluation::{VectorEvaluation, VectorReport};
use super::stored_vectors::{only_vectors, vectors_path};
use crate::error::CliError;
use crate::terminal::Terminal;
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
    let evaluation = VectorEvaluation { args, store: &store, set: &set, vectors: &path, terminal };
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
