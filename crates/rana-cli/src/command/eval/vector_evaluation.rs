//! [`VectorEvaluation`]: vectors measured on held-out facts and on tasks.

use std::fmt::Display;
use std::io::{self, Write};
use std::path::Path;

use rana::embed::link_prediction::{LinkPredictionSettings, TieRule};
use rana::embed::{EmbeddingMetadata, EmbeddingSet};
use rana::eval::{CardSettings, EvaluationCard};
use rana::graph::{Graph, HeldOut, Split, Store};
use rana::models::MEAN_TRANSLATION;
use rana::models::vectors::{KgeModel, MeanTranslation};
use serde::Serialize;

use super::card::{CardMaker, Cards};
use super::link_prediction::FactsReport;
use super::{EvalArgs, On};
use crate::error::CliError;
use crate::hint::Hint;
use crate::terminal::{BOLD, DIM, Terminal};

/// Vectors to evaluate on a graph.
pub(super) struct VectorEvaluation<'a> {
    pub(super) args: &'a EvalArgs,
    pub(super) store: &'a Store,
    pub(super) set: &'a EmbeddingSet,
    pub(super) vectors: &'a Path,
    pub(super) terminal: &'a Terminal,
}

/// The support size by default, as in most published results.
const USUAL_SHOTS: usize = 5;

impl VectorEvaluation<'_> {
    pub(super) fn run(&self, on: &[On]) -> Result<(Vec<FactsReport>, Vec<EvaluationCard>), CliError> {
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
pub(super) fn warn_of_seen_queries(
    metadata: &EmbeddingMetadata,
    settings: CardSettings,
    terminal: &Terminal,
) {
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
pub(super) struct VectorReport<'a> {
    pub(super) vectors: String,
    pub(super) made: &'a EmbeddingMetadata,
    pub(super) dim: usize,
    pub(super) tie_rule: TieRule,
    pub(super) link_prediction: Vec<FactsReport>,
    #[serde(flatten)]
    pub(super) cards: Cards<'a>,
    pub(super) seconds: f64,
    #[serde(skip)]
    pub(super) graph: &'a Graph,
}

impl VectorReport<'_> {
    pub(super) fn print(&self, out: &mut dyn Write) -> io::Result<()> {
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
