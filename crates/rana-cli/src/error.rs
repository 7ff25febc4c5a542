//! [`CliError`]: every error of the program and its exit code; `hint.rs` adds what to type next.

use std::error::Error;
use std::io;
use std::path::Path;

use rana::answer_writer::AnswerError;
use rana::discover::DiscoveryError;
use rana::embed::link_prediction::LinkPredictionError;
use rana::embed::{CheckpointError, TrainError, VectorError};
use rana::eval::FewShotError;
use rana::fewshot::{EpisodeError, SplitError, SupportError};
use rana::fused_training::FusedError;
use rana::graph::format::FormatError;
use rana::graph::synth::SynthError;
use rana::graph::{HeldOut, Split, StoreError};
use rana::models::OpenError;
use rana::models::training::{RunError, TrainingError};
use rana::predictor::PredictorError;
use rana::reproduction::ReproductionError;
use rana::sweep::PlanError;
use rana::trial::TrialError;
use rana::{LearnError, Neo4jError, UpdateRunError};
use rana_server::{HealthError, ServerError};

/// Any error that can end a command.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CliError {
    /// The arguments contradict each other (exit code 2, like clap's own).
    #[error("{0}")]
    Usage(String),
    #[error(transparent)]
    Format(#[from] FormatError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("{file}: {source}")]
    Export { file: String, source: AnswerError },
    #[error(transparent)]
    Neo4j(#[from] Neo4jError),
    #[error(transparent)]
    Split(#[from] SplitError),
    #[error(transparent)]
    Episode(#[from] EpisodeError),
    #[error(transparent)]
    FewShot(#[from] FewShotError),
    #[error(transparent)]
    Support(#[from] SupportError),
    #[error(transparent)]
    Fused(#[from] FusedError),
    #[error(transparent)]
    Learn(#[from] LearnError),
    #[error(
        "{store}: there is no {split} task. Make tasks with `rana split {store}`, or choose another --split"
    )]
    NoTasks { store: String, split: Split },
    #[error(
        "the task `{relation}` has {facts} facts, which leaves no queries after {shots} support pairs. Lower --shots"
    )]
    TooFewFacts { relation: String, facts: usize, shots: usize },
    #[error(transparent)]
    Synth(#[from] SynthError),
    #[error(transparent)]
    Table(#[from] VectorError),
    #[error(transparent)]
    Train(#[from] TrainError),
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    #[error(transparent)]
    LinkPrediction(#[from] LinkPredictionError),
    #[error("{file}: {message}")]
    Settings { file: String, message: String },
    #[error("{place}: there is no interrupted training here, so nothing to resume")]
    NothingToResume { place: String },
    #[error("stopped in epoch {epoch} of {epochs}; a checkpoint is written. Resume it with `{resume}`")]
    Stopped { epoch: u32, epochs: u32, resume: String },
    #[error(transparent)]
    Training(#[from] TrainingError),
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error(transparent)]
    Run(#[from] RunError),
    #[error("stopped at step {step} of {steps}; a checkpoint is written. Resume it with `{resume}`")]
    StoppedTraining { step: u64, steps: u64, resume: String },
    #[error(transparent)]
    Trial(#[from] TrialError),
    #[error(transparent)]
    Reproduction(#[from] ReproductionError),
    #[error("{file}: {source}")]
    Plan { file: String, source: PlanError },
    #[error("stopped; finished work is kept. Resume it with `{resume}`")]
    StoppedTrials { resume: String },
    #[error("{store}: no vectors. Make some with `rana embed {store}`")]
    NoVectors { store: String },
    #[error(
        "{store}: nothing to evaluate on. Give the graph test facts (`rana import … --test FILE`) or tasks \
         (`rana split {store}`)"
    )]
    NothingToEvaluate { store: String },
    #[error("{store}: there are no {part} facts. Import them with `rana import … --{part} FILE`")]
    NoHeldOut { store: String, part: HeldOut },
    #[error(transparent)]
    Predictor(#[from] PredictorError),
    #[error(transparent)]
    Discovery(#[from] DiscoveryError),
    #[error(transparent)]
    Update(#[from] UpdateRunError),
    #[error(transparent)]
    Server(#[from] ServerError),
    #[error(transparent)]
    Health(#[from] HealthError),
    #[error("{file}, line {line}: {source}")]
    Line { file: String, line: u64, source: Box<CliError> },
    #[error("{file}: could not {action}: {source}")]
    Io { file: String, action: &'static str, source: io::Error },
    #[error("could not write the output: {0}")]
    Output(#[from] io::Error),
}

impl CliError {
    pub(crate) fn io(path: &Path, action: &'static str, source: io::Error) -> Self {
        Self::Io { file: path.display().to_string(), action, source }
    }

    /// 2 if the arguments are wrong regardless of the data, as for clap's own errors; else 1.
    pub(crate) fn exit_code(&self) -> u8 {
        let is_usage = match self {
            Self::Usage(_) | Self::Settings { .. } | Self::Plan { .. } => true,
            Self::Trial(TrialError::NoVectors { .. }) | Self::Health(HealthError::Address(_)) => true,
            Self::Reproduction(error) => {
                matches!(error, ReproductionError::Preset { .. } | ReproductionError::Row { .. })
            }
            Self::Split(error) => matches!(
                error,
                SplitError::EmptyRange { .. }
                    | SplitError::BadInverseShare { .. }
                    | SplitError::BadRatio { .. }
                    | SplitError::BadRatioSum { .. }
                    | SplitError::NoNames
                    | SplitError::NamedTwice { .. }
            ),
            Self::Episode(error) | Self::FewShot(FewShotError::Episode(error)) => {
                matches!(error, EpisodeError::NoShots | EpisodeError::NoQueries)
            }
            Self::FewShot(FewShotError::OneDraw) => true,
            Self::Synth(error) => matches!(error, SynthError::Config { .. } | SynthError::Preset { .. }),
            _ => false,
        };
        if is_usage { 2 } else { 1 }
    }

    /// Whether the reader of standard output closed the pipe.
    pub(crate) fn is_broken_pipe(&self) -> bool {
        let mut cause: Option<&(dyn Error + 'static)> = Some(self);
        while let Some(error) = cause {
            if error.downcast_ref::<io::Error>().is_some_and(|io| io.kind() == io::ErrorKind::BrokenPipe) {
                return true;
            }
            cause = error.source();
        }
        false
    }
}
