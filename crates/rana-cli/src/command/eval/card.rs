//! Makes, prints and writes the evaluation cards of few-shot models.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::{Args, ValueHint};
use rana::embed::link_prediction::TieRule;
use rana::eval::confidence::Calibration;
use rana::eval::{CandidatePolicy, CardSettings, EvaluationCard, FewShotError, NamedModel};
use rana::fewshot::EpisodeError;
use rana::graph::{Split, Store, write_file_atomically};
use rana::report::html_page;
use serde::Serialize;

use super::card_text::print_card;
use crate::error::CliError;
use crate::terminal::Terminal;

/// Options for the evaluation on few-shot tasks.
#[derive(Debug, Args)]
#[command(next_help_heading = "Few-shot tasks")]
pub(crate) struct CardArgs {
    /// Support pairs per task; if not given, as many as the run was trained with, or 5.
    #[arg(long, value_name = "K")]
    shots: Option<usize>,
    /// Random supports per task that are evaluated in addition to the official one; 0 for none.
    #[arg(long, value_name = "N", default_value_t = CardSettings::default().draws)]
    draws: usize,
    /// The candidates that tails are ranked among: typed (the candidates of the task), all (all entities), or
    /// sampled:K (K of the task's candidates, drawn for each query).
    #[arg(long, value_name = "WHICH", default_value_t)]
    candidates: CandidatePolicy,
    /// Also report results on the queries that all numbers of shots up to K have in common.
    #[arg(long, value_name = "K", default_value_t = CardSettings::default().common_shots)]
    common_shots: usize,
    /// The seed of the random supports and the sampled candidates.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Also write the cards as an HTML page with plots.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(super) html: Option<PathBuf>,
}

impl CardArgs {
    /// The settings of a card. `usual_shots` is used if --shots is not given.
    pub(crate) fn settings(&self, split: Split, usual_shots: usize, tie_rule: TieRule) -> CardSettings {
        CardSettings {
            split,
            shots: self.shots.unwrap_or(usual_shots),
            draws: self.draws,
            common_shots: self.common_shots,
            candidates: self.candidates,
            tie_rule,
            seed: self.seed,
        }
    }

    /// Writes the cards as an HTML page, if --html is given.
    pub(super) fn write_page(&self, cards: &[EvaluationCard], terminal: &Terminal) -> Result<(), CliError> {
        let Some(path) = &self.html else { return Ok(()) };
        write_file_atomically(path, |out| out.write_all(html_page(cards).as_bytes()))
            .map_err(|error| CliError::io(path, "write the page", error))?;
        terminal.note(&format!("wrote {}", path.display()));
        Ok(())
    }
}

/// Makes cards on the tasks of a store.
pub(crate) struct CardMaker<'a> {
    pub(crate) store: &'a Store,
    pub(crate) settings: CardSettings,
    /// What the card says about the model, in addition to the store and the program.
    pub(crate) details: Vec<(&'static str, String)>,
    /// The calibration that turns the model's scores into confidence, if the model has one.
    pub(crate) calibration: Option<&'a Calibration>,
    pub(crate) terminal: &'a Terminal,
}

impl CardMaker<'_> {
    /// Makes the card of a model. It also has rows for `others` and for all baselines without vectors.
    pub(crate) fn make(
        self,
        subject: NamedModel<'_>,
        others: &[NamedModel<'_>],
    ) -> Result<EvaluationCard, CliError> {
        let Self { store, settings, details, calibration, terminal } = self;
        if store.tasks.of(settings.split).next().is_none() {
            let store = store.path.display().to_string();
            return Err(CliError::NoTasks { store, split: settings.split });
        }
        let maker = rana::CardMaker { store, settings, details, calibration };
        let card = maker.make(subject, others, &terminal.progress());
        let mut card = card.map_err(|error| named(error, store))?;
        card.provenance.details.insert("commit".to_owned(), env!("RANA_COMMIT").to_owned());
        Ok(card)
    }
}

/// The cards of an evaluation: the last part of its output.
#[derive(Serialize)]
pub(super) struct Cards<'a> {
    few_shot: &'a [EvaluationCard],
    /// The keys of a single card are also at the top level of the JSON.
    #[serde(flatten)]
    only_card: Option<&'a EvaluationCard>,
    #[serde(skip)]
    per_relation: bool,
}

impl<'a> Cards<'a> {
    pub(super) fn new(few_shot: &'a [EvaluationCard], per_relation: bool) -> Self {
        Self { few_shot, only_card: if let [card] = few_shot { Some(card) } else { None }, per_relation }
    }

    /// Whether there is just one card, which then prints the total time itself.
    pub(super) fn is_one(&self) -> bool {
        self.only_card.is_some()
    }

    pub(super) fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        self.few_shot.iter().try_for_each(|card| print_card(card, self.per_relation, out))
    }
}

/// The same error with the name of the relation instead of its id.
pub(crate) fn named(error: FewShotError, store: &Store) -> CliError {
    match error {
        FewShotError::Episode(EpisodeError::TooFewFacts { relation, facts, shots }) => {
            CliError::TooFewFacts { relation: store.graph.relation_name(relation).to_owned(), facts, shots }
        }
        error => error.into(),
    }
}
