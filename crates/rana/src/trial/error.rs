//! [`TrialError`]: why a trial cannot be done.

use std::io;
use std::path::{Path, PathBuf};

use rana_embed::{CheckpointError, PresetError, TrainError, VectorError};
use rana_eval::FewShotError;
use rana_graph::StoreError;
use rana_models::training::{RunError, TrainingError};

/// Why a trial cannot be done.
#[derive(Debug, thiserror::Error)]
pub enum TrialError {
    /// The graph cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Vectors cannot be read or written.
    #[error(transparent)]
    Table(#[from] VectorError),
    /// Pre-training failed.
    #[error(transparent)]
    Pretraining(#[from] TrainError),
    /// The checkpoint of a pre-training cannot be written.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// Meta-training failed.
    #[error(transparent)]
    Training(#[from] TrainingError),
    /// The run cannot be read or written.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The evaluation failed.
    #[error(transparent)]
    FewShot(#[from] FewShotError),
    /// Nothing has this name.
    #[error(
        "`{name}` is neither a directory with vectors nor a preset to train them by: {source}; `recommended` trains them by the size of the graph"
    )]
    NoVectors {
        /// The name.
        name: String,
        /// Why it is not a preset.
        source: PresetError,
    },
    /// The place of a trial is taken by something else.
    #[error("{}: {what} of other settings is in the place of this trial. Remove it, or choose another directory", path.display())]
    Taken {
        /// The directory.
        path: PathBuf,
        /// What is there.
        what: &'static str,
    },
    /// A file of the workspace cannot be accessed.
    #[error("{}: could not {action}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What was tried.
        action: &'static str,
        /// What the operating system says.
        source: io::Error,
    },
    /// It was stopped; running the same trial again resumes it.
    #[error("stopped")]
    Stopped,
}

impl TrialError {
    pub(crate) fn io(path: &Path, action: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { path: path.to_owned(), action, source }
    }
}
