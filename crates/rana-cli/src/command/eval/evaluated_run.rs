//! Evaluates the model of a run.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use rana::embed::link_prediction::TieRule;
use rana::eval::{CardSettings, EvaluationCard};
use rana::fewshot::FewShotModel;
use rana::graph::{Split, Store};
use rana::models::{OpenedModel, OpenedRun, registry};
use serde::Serialize;

use super::card::{CardMaker, Cards};
use super::vector_evaluation::warn_of_seen_queries;
use super::{EvalArgs, On};
use crate::error::CliError;
use crate::terminal::{BOLD, DIM, Terminal};
use crate::thread_pool::in_pool;

/// Makes the cards of a run.
pub(super) fn run(args: &EvalArgs, terminal: &Terminal) -> Result<(), CliError> {
    if args.model.is_some() {
        let message = "a run has its own vectors; --model is for the vectors of a graph";
        return Err(CliError::Usage(message.to_owned()));
    }
    if args.norm.is_some() {
        let message = "a run has its own score; --norm is for the vectors of a graph";
        return Err(CliError::Usage(message.to_owned()));
    }
    let (graph, vectors) = (args.graph.as_deref(), args.vectors.as_deref());
    let (run, cards) = in_pool(args.threads, || open(&args.source, graph, vectors, args, terminal))??;
    let report = RunReport {
        run: run.path.clone(),
        model: &run.manifest.model,
        summary: &run.opened.summary,
        settings: &run.opened.settings,
        tie_rule: args.ties,
        cards: Cards::new(&cards, args.per_relation),
    };
    terminal.result(&report, |out| report.print(out))?;
    args.card.write_page(&cards, terminal)
}

fn open(
    path: &Path,
    graph: Option<&Path>,
    vectors: Option<&Path>,
    args: &EvalArgs,
    terminal: &Terminal,
) -> Result<(OpenedRun, Vec<EvaluationCard>), CliError> {
    let run = OpenedRun::open(path, graph, vectors)?;
    let cards = splits(args, &run.store)?
        .into_iter()
        .map(|split| card(&run, args.card.settings(split, run.opened.shots, args.ties), terminal))
        .collect::<Result<Vec<_>, _>>()?;
    Ok((run, cards))
}

/// The splits to evaluate on. Only tasks: a few-shot model cannot score facts without a support.
fn splits(args: &EvalArgs, store: &Store) -> Result<Vec<Split>, CliError> {
    let on = if args.on.is_empty() { vec![On::TestTasks] } else { args.on.clone() };
    on.into_iter()
        .map(|on| match on {
            On::DevTasks => Ok(Split::Dev),
            On::TestTasks => Ok(Split::Test),
            On::Valid | On::Test => Err(CliError::Usage(format!(
                "a run is evaluated on tasks; to evaluate the vectors it started from type `rana eval {}`",
                store.path.display()
            ))),
        })
        .collect()
}

/// The card of a run on some tasks.
pub(crate) fn card(
    run: &OpenedRun,
    settings: CardSettings,
    terminal: &Terminal,
) -> Result<EvaluationCard, CliError> {
    let OpenedModel { model, beside, calibration, details, vectors, .. } = &run.opened;
    warn_of_seen_queries(vectors, settings, terminal);
    let beside: Vec<(&str, &dyn FewShotModel)> =
        beside.iter().map(|(name, model)| (&**name, &**model)).collect();
    let details = details.clone();
    let calibration = calibration.as_ref();
    CardMaker { store: &run.store, settings, details, calibration, terminal }
        .make((&run.manifest.model, &**model), &beside)
}

#[derive(Serialize)]
struct RunReport<'a> {
    run: PathBuf,
    #[serde(skip)]
    model: &'a str,
    #[serde(skip)]
    summary: &'a str,
    #[serde(rename = "config")]
    settings: &'a serde_json::Value,
    tie_rule: TieRule,
    #[serde(flatten)]
    cards: Cards<'a>,
}

impl RunReport<'_> {
    fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        let title = registry::find(self.model).map_or(self.model, |entry| entry.title);
        writeln!(
            out,
            "{BOLD}{title}{BOLD:#}, {}  {DIM}{}{DIM:#}\nties: {BOLD}{}{BOLD:#}; other known answers are left out",
            self.summary,
            self.run.display(),
            self.tie_rule
        )?;
        self.cards.print(out)
    }
}
