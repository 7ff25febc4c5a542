//! Evaluation of a trained `rana-fused`.

use std::io::{self, Write};
use std::path::PathBuf;

use rana::embed::link_prediction::TieRule;
use rana::fewshot::fused::FusedModel;
use rana::fused::{FusedManifest, FusedRun};
use rana::graph::Store;
use serde::Serialize;

use super::EvalArgs;
use super::card::{CardMaker, Cards};
use super::trained::{RANA, splits};
use crate::command::embed::in_pool;
use crate::error::CliError;
use crate::terminal::{BOLD, DIM, Terminal};

/// What it is called in its card.
const FUSED: &str = "rana-fused";

/// Makes the cards of a trained `rana-fused`.
pub(super) fn run(args: &EvalArgs, terminal: &Terminal) -> Result<(), CliError> {
    if args.model.is_some() || args.vectors.is_some() {
        let message = "rana-fused has its vectors; --model and --vectors are for graphs and runs of RANA";
        return Err(CliError::Usage(message.to_owned()));
    }
    let run = FusedRun::open(&args.source)?;
    let store = Store::open(args.graph.as_ref().unwrap_or(&run.manifest.graph_path))?;
    let splits = splits(args, &store)?;
    let cards = in_pool(args.threads, || {
        let sources = run.sources(&store)?;
        let model = FusedModel::new(&sources, run.manifest.trusted.clone());
        let make = |&split| {
            let settings = args.card.settings(split, run.manifest.shots, args.ties);
            let details = [
                ("run", run.path().display().to_string()),
                ("run_seed", run.manifest.seed.to_string()),
                ("trained_by", run.manifest.written_by.clone()),
                ("dev_mrr", format!("{:.4}", run.manifest.scores.dev_mrr)),
                ("cross_validated_mrr", format!("{:.4}", run.manifest.scores.cross_validated_mrr)),
                ("train_task_edges", run.manifest.config.train_task_edges.to_string()),
            ];
            let details = details.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
            CardMaker {
                store: &store,
                settings,
                details,
                calibration: run.manifest.calibration.as_ref(),
                terminal,
            }
            .make((FUSED, &model), &[(RANA, sources.rana())])
        };
        splits.iter().map(make).collect::<Result<Vec<_>, CliError>>()
    })??;
    let outcome = Outcome {
        run: run.path().to_owned(),
        manifest: &run.manifest,
        tie_rule: args.ties,
        cards: Cards::new(&cards, args.per_relation),
    };
    terminal.result(&outcome, |out| outcome.print(out))?;
    args.card.write_page(&cards, terminal)
}

#[derive(Serialize)]
struct Outcome<'a> {
    run: PathBuf,
    manifest: &'a FusedManifest,
    tie_rule: TieRule,
    #[serde(flatten)]
    cards: Cards<'a>,
}

impl Outcome<'_> {
    fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(
            out,
            "{BOLD}{FUSED}{BOLD:#}, seed {}, {} sources of evidence, dev MRR {:.3}  {DIM}{}{DIM:#}\nties: {BOLD}{}{BOLD:#}; other known answers are left out",
            self.manifest.seed,
            self.manifest.trusted.len(),
            self.manifest.scores.dev_mrr,
            self.run.display(),
            self.tie_rule
        )?;
        self.cards.print(out)
    }
}
