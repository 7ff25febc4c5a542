//! Evaluation of the model of a run.

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

use rana::MetaTraining;
use rana::embed::link_prediction::TieRule;
use rana::embed::{EmbeddingSet, ModelKind, Norm};
use rana::eval::{EvaluationCard, MeanTranslation};
use rana::fewshot::rana::{BestRecord, Layout, RanaConfig, RanaModel, RanaParameters, Run};
use rana::graph::{Split, Store};
use serde::Serialize;

use super::card::{self, CardMaker};
use super::{EvalArgs, MEAN_TRANSLATION, On, RANA};
use crate::command::embed::in_pool;
use crate::error::CliError;
use crate::terminal::{BOLD, DIM, Terminal};

/// What the model is called before any training.
const UNTRAINED: &str = "rana-untrained";

/// Makes the cards of a run.
pub(super) fn run(args: &EvalArgs, terminal: &Terminal) -> Result<(), CliError> {
    let run = Run::open(&args.source)?;
    let store = Store::open(args.graph.as_ref().unwrap_or(&run.manifest.graph_path))?;
    let vectors = args.vectors.clone().or_else(|| run.manifest.vectors_path.clone()).unwrap_or_default();
    let set = EmbeddingSet::open(&vectors, &store.graph)?;
    let splits = splits(args, &store)?;
    let cards = in_pool(args.threads, || make_cards(args, &run, &store, &set, &splits, terminal))??;
    if let Some(html) = &args.card.html {
        card::write_html(&cards, html)?;
    }
    let outcome = Outcome {
        run: run.path().to_owned(),
        config: &run.config,
        best: run.manifest.best,
        tie_rule: args.ties,
        only_card: if let [card] = &cards[..] { Some(card) } else { None },
        few_shot: &cards,
        per_relation: args.per_relation,
    };
    terminal.result(&outcome, |out| outcome.print(out))?;
    if let Some(html) = &args.card.html {
        terminal.note(&format!("wrote {}", html.display()));
    }
    Ok(())
}

/// The splits asked for; of tasks only, because a few-shot model knows nothing of plain facts.
fn splits(args: &EvalArgs, store: &Store) -> Result<Vec<Split>, CliError> {
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

fn make_cards(
    args: &EvalArgs,
    run: &Run,
    store: &Store,
    set: &EmbeddingSet,
    splits: &[Split],
    terminal: &Terminal,
) -> Result<Vec<EvaluationCard>, CliError> {
    let start = MetaTraining::start(store, &run.config, set)?;
    run.check(&store.graph, &start)?;
    let model = |parameters| RanaModel::new(run.config.clone(), &store.graph, Arc::new(parameters));
    let trained = model(run.model(&start)?);
    let layout = Layout::new(&run.config, start.dim());
    let untrained = model(RanaParameters::initial(&run.config, &layout, &start));
    let norm = if set.metadata.model == ModelKind::TransE { set.metadata.norm } else { Norm::L2 };
    let mean = MeanTranslation::new(&set.entities, norm);
    let best = run
        .manifest
        .best
        .map_or_else(String::new, |best| format!("step {}, dev MRR {:.4}", best.step, best.dev_mrr));
    let details = [
        ("run", run.path().display().to_string()),
        ("seed", run.config.seed.to_string()),
        ("data mode", run.config.data_mode.to_string()),
        ("chosen on dev", best),
        ("trained by", run.manifest.written_by.clone()),
    ];
    splits
        .iter()
        .map(|&split| {
            let settings = args.card.settings(split, run.config.shots, args.ties);
            let details = details.clone().map(|(name, value)| (name.to_owned(), value)).into();
            CardMaker { store, settings, details, terminal }
                .make((RANA, &trained), &[(MEAN_TRANSLATION, &mean), (UNTRAINED, &untrained)])
        })
        .collect()
}

#[derive(Serialize)]
struct Outcome<'a> {
    run: PathBuf,
    config: &'a RanaConfig,
    best: Option<BestRecord>,
    tie_rule: TieRule,
    few_shot: &'a [EvaluationCard],
    /// If there is one card, its keys stand beside the others.
    #[serde(flatten)]
    only_card: Option<&'a EvaluationCard>,
    #[serde(skip)]
    per_relation: bool,
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
        self.few_shot.iter().try_for_each(|card| card::print(card, self.per_relation, out))
    }
}
