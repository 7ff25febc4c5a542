use std::error::Error;
use std::io;

use rana::fewshot::{EpisodeError, SplitError};
use rana::graph::format::{ExportError, FormatError};
use rana::graph::synth::SynthError;
use rana::graph::{Split, StoreError};

/// Whatever can end a command, as the user sees it.
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
    Export { file: String, source: ExportError },
    #[error(transparent)]
    Split(#[from] SplitError),
    #[error(transparent)]
    Episode(#[from] EpisodeError),
    #[error(
        "{store}: there is no {split} task. Make tasks with `rana split {store}`, or choose another --split"
    )]
    NoTasks { store: String, split: Split },
    #[error(
        "the task `{relation}` has {facts} facts, which leaves no query behind {shots} shots. Lower --shots"
    )]
    TooFewFacts { relation: String, facts: usize, shots: usize },
    #[error(transparent)]
    Synth(#[from] SynthError),
    #[error("{file}: could not {action}: {source}")]
    Io { file: String, action: &'static str, source: io::Error },
    #[error("could not write the output: {0}")]
    Output(#[from] io::Error),
}

impl CliError {
    /// 2 where the arguments cannot be met whatever the data, as for clap's own errors; else 1.
    pub(crate) fn exit_code(&self) -> u8 {
        let is_usage = match self {
            Self::Usage(_) => true,
            Self::Split(error) => matches!(
                error,
                SplitError::EmptyRange { .. }
                    | SplitError::BadInverseShare { .. }
                    | SplitError::BadRatio { .. }
                    | SplitError::BadRatioSum { .. }
                    | SplitError::NoNames
                    | SplitError::NamedTwice { .. }
            ),
            Self::Episode(error) => matches!(error, EpisodeError::NoShots | EpisodeError::NoQueries),
            Self::Synth(error) => matches!(error, SynthError::Config { .. } | SynthError::Preset { .. }),
            _ => false,
        };
        if is_usage { 2 } else { 1 }
    }

    /// Whether the reader of our output went away.
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
