//! [`TrainingError`]: why a model cannot be trained.

use rana_fewshot::{EpisodeError, Fold};

use super::field_checks::ConfigError;
use super::run_error::RunError;
use super::start_vectors::DimensionMismatch;

/// Why a model cannot be trained.
#[derive(Debug, thiserror::Error)]
pub enum TrainingError {
    /// A field of the configuration cannot be used.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The vectors do not fit.
    #[error(transparent)]
    Dimension(#[from] DimensionMismatch),
    /// No episode can be drawn.
    #[error(transparent)]
    Episode(#[from] EpisodeError),
    /// The vectors know the tasks that training is to leave out.
    #[error(
        "fold is {fold}, but the vectors were trained on train tasks{}: they know the tasks that are left out. Use vectors \
         that were trained without fold {fold}, or on the background alone",
        without.as_ref().map_or_else(String::new, |without| format!(" without fold {without}"))
    )]
    FoldIsKnown {
        /// The fold that training leaves out.
        fold: Fold,
        /// The fold that the vectors were trained without.
        without: Option<String>,
    },
    /// There is nothing to choose the best model by.
    #[error("there is no dev task to choose the best model by. Split the graph again with dev tasks")]
    NoDevTasks,
    /// More shots than a task has facts.
    #[error(
        "shots is {shots}; it must be smaller, or the dev task `{relation}` with its {facts} facts has no query left"
    )]
    TooFewFacts {
        /// The relation of the task.
        relation: String,
        /// How many facts it has.
        facts: usize,
        /// How many supports would take.
        shots: usize,
    },
    /// Nothing to rank the tails of a dev task among.
    #[error(
        "the dev task `{relation}` has no candidates, so the best model cannot be chosen by it. Give it some, or leave \
         it out of dev"
    )]
    NoCandidates {
        /// The relation of the task.
        relation: String,
    },
    /// The loss is no number any more.
    #[error("the loss of step {step} is {loss}: training has diverged. Lower learning_rate")]
    Diverged {
        /// The step, counted from 1.
        step: u64,
        /// The loss.
        loss: f64,
    },
    /// The run directory cannot be written.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The dev evaluation failed.
    #[error("the dev evaluation failed: {0}")]
    Validation(String),
}
