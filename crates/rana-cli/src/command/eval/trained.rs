//! Evaluation of the model of a run.

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

use rana::MetaTraining;
use rana::embed::link_prediction::TieRule;
use rana::embed::{EmbeddingSet, Norm};
use rana::eval::{CardSettings, EvaluationCard, MeanTranslation};
use rana::fewshot::rana::{BestRecord, Layout, RanaConfig, RanaModel, RanaParameters, Run};
use rana::graph::{Split, Store};
use rana::predictor::rana_calibration;
use serde::Serialize;

use super::card::{CardMaker, Cards};
use super::{EvalArgs, MEAN_TRANSLATION, On, own_norm, vector_details, warn_of_seen_queries};
use crate::command::embed::in_pool;
use crate::error::CliError;
use crate::terminal::{BOLD, DIM, Terminal};

/// What the model of a run is called in its card, and the same before any training.
pub(super) const RANA: &str = "rana";
const UNTRAINED: &str = "rana-untrained";

/// Makes the cards of a run.
pub(super) fn run(args: &EvalArgs, terminal: &Terminal) -> Result<(), CliError> {
    if args.model.is_some() {
        let message = "a run has its vectors; --model is for the vectors of a graph";
        return Err(CliError::Usage(message.to_owned()));
    }
    let run = Run::open(&args.source)?;
    let graph = args.graph.as_ref().unwrap_or(&run.manifest.graph_path);
    let moved = |what, source: CliError| CliError::Moved {
        run: run.path().display().to_string(),
        what,
        source: Box::new(source),
    };
    let store = Store::open(graph).map_err(|error| moved("graph", error.into()))?;
    let vectors = args.vectors.clone().unwrap_or_else(|| MetaTraining::vectors_of(&run, graph));
    let set = EmbeddingSet::open(&vectors, &store.graph).map_err(|error| moved("vectors", error.into()))?;
    if run.check_tasks(&store.manifest.data).is_err() {
        terminal.warn(&format!("{} has other tasks than the run was trained on", store.path.display()));
    }
    let splits = splits(args, &store)?;
    let cards = in_pool(args.threads, || {
        let model = RunModel::open(&run, &store, &set)?;
        let settings = |split| args.card.settings(split, run.config.shots, args.ties);
        splits
            .iter()
            .map(|&split| model.card(settings(split), args.norm, terminal))
            .collect::<Result<Vec<_>, _>>()
    })??;
    let outcome = Outcome {
        run: run.path().to_owned(),
        config: &run.config,
        best: run.manifest.best,
        tie_rule: args.ties,
        cards: Cards::new(&cards, args.per_relation),
    };
    terminal.result(&outcome, |out| outcome.print(out))?;
    args.card.write_page(&cards, terminal)
}

/// The splits asked for; of tasks only, because a few-shot model knows nothing of plain facts.
pub(super) fn splits(args: &EvalArgs, store: &Store) -> Result<Vec<Split>, CliError> {
    let on = if args.on.is_empty() { vec![On::TestTasks] } else { args.on.clone() };
    on.into_iter()
        .map(|on| match on {
            On::DevTasks => Ok(Split::Dev),
            On::TestTasks => Ok(Split::Test),
            On::Valid | On::Test => Err(CliError::Usage(format!(
                "a run is evaluated on tasks; for the vectors it started from say `rana eval {}`",
                store.path.display()
            ))),
        })
        .collect()
}

/// The model of a run, and what stands beside it in a card.
pub(crate) struct RunModel<'a> {
    run: &'a Run,
    store: &'a Store,
    set: &'a EmbeddingSet,
    /// The model.
    pub(crate) trained: RanaModel<'a>,
    untrained: RanaModel<'a>,
}

impl<'a> RunModel<'a> {
    pub(crate) fn open(run: &'a Run, store: &'a Store, set: &'a EmbeddingSet) -> Result<Self, CliError> {
        let trained = MetaTraining::model(store, run, set)?;
        let start = MetaTraining::start(store, &run.config, set)?;
        let layout = Layout::new(&run.config, start.dim());
        let initial = RanaParameters::initial(&run.config, &layout, &start);
        let untrained = RanaModel::new(run.config.clone(), &store.graph, Arc::new(initial));
        Ok(Self { run, store, set, trained, untrained })
    }

    /// Its card on some tasks; `norm` is what the mean translation ranks by, if not as the vectors do.
    pub(crate) fn card(
        &self,
        settings: CardSettings,
        norm: Option<Norm>,
        terminal: &Terminal,
    ) -> Result<EvaluationCard, CliError> {
        let (run, metadata) = (self.run, &self.set.metadata);
        warn_of_seen_queries(metadata, settings, terminal);
        let mean = MeanTranslation::new(&self.set.entities, norm.unwrap_or_else(|| own_norm(metadata)));
        let mut details = vector_details(self.set, &run.manifest.vectors_path);
        let mut say = |name: &str, value: String| details.insert(name.to_owned(), value);
        say("run", run.path().display().to_string());
        say("run_seed", run.config.seed.to_string());
        say("data_mode", run.config.data_mode.to_string());
        say("trained_by", run.manifest.written_by.clone());
        if let Some(best) = run.manifest.best {
            say("chosen_on_dev", format!("step {}, MRR {:.4}", best.step, best.dev_mrr));
        }
        let calibration = rana_calibration(run, &self.trained, self.store)?;
        let calibration = calibration.as_ref();
        CardMaker { store: self.store, settings, details, calibration, terminal }
            .make((RANA, &self.trained), &[(MEAN_TRANSLATION, &mean), (UNTRAINED, &self.untrained)])
    }
}

#[derive(Serialize)]
struct Outcome<'a> {
    run: PathBuf,
    config: &'a RanaConfig,
    best: Option<BestRecord>,
    tie_rule: TieRule,
    #[serde(flatten)]
    cards: Cards<'a>,
}

impl Outcome<'_> {
    fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        let chosen = self.best.map_or_else(String::new, |best| {
            format!(", chosen at step {} by dev MRR {:.3}", best.step, best.dev_mrr)
        });
        writeln!(
            out,
            "{BOLD}RANA{BOLD:#}, seed {}{chosen}  {DIM}{}{DIM:#}\nties: {BOLD}{}{BOLD:#}; other known answers are left out",
            self.config.seed,
            self.run.display(),
            self.tie_rule
        )?;
        self.cards.print(out)
    }
}
