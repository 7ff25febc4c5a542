//! [`LearnError`]: why nothing can be learned.

use std::io;
use std::path::PathBuf;

use rana_embed::{CheckpointError, TrainError, VectorError};
use rana_fewshot::SupportError;
use rana_graph::StoreError;
use rana_graph::format::FormatError;
use rana_models::fused::{EvidenceRunError, FusedConfigError};

use crate::predictor::{PredictorError, UnknownRelation};

/// Why nothing can be learned.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LearnError {
    /// A file cannot be read.
    #[error(transparent)]
    Import(FormatError),
    /// The graph has no facts.
    #[error("the files hold no facts, so there is nothing to learn from")]
    NoFacts,
    /// A relation that is to be left out is not one of the graph.
    #[error(transparent)]
    UnknownRelation(#[from] UnknownRelation),
    /// A benchmark leaves relations out already.
    #[error("the graph has tasks, whose facts are left out already; no other relations can be")]
    HasTasks,
    /// The directory was learned from other files or with other choices.
    #[error(
        "{}: this was learned with {}. Choose another directory, remove this one, or ask for the same", path.display(),
        differs.join(" and ")
    )]
    Other {
        /// The directory.
        path: PathBuf,
        /// What is different.
        differs: Vec<&'static str>,
    },
    /// The directory holds something else.
    #[error("{}: the directory holds other files, so it is left alone. Choose another one, or an empty one", path.display())]
    Occupied {
        /// The directory.
        path: PathBuf,
    },
    /// The memory allowed is too small.
    #[error("the graph alone needs about {} MB, and {} MB are allowed", needed / 1_000_000, allowed / 1_000_000)]
    Memory {
        /// How many bytes are needed.
        needed: u64,
        /// How many are allowed.
        allowed: u64,
    },
    /// A graph cannot be written or read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Vectors cannot be trained.
    #[error(transparent)]
    Training(#[from] TrainError),
    /// Vectors cannot be written or read.
    #[error(transparent)]
    Vectors(#[from] VectorError),
    /// A checkpoint cannot be written.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// A source of evidence cannot answer.
    #[error(transparent)]
    Support(#[from] SupportError),
    /// A setting for evidence cannot be used.
    #[error(transparent)]
    Config(#[from] FusedConfigError),
    /// The result cannot be written.
    #[error(transparent)]
    Run(#[from] EvidenceRunError),
    /// It was stopped.
    #[error("stopped. The same call resumes it")]
    Stopped,
    /// The result cannot be opened.
    #[error(transparent)]
    Open(#[from] PredictorError),
    /// A file cannot be accessed.
    #[error("{}: could not {action}: {source}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// What was tried.
        action: &'static str,
        /// What the operating system says.
        source: io::Error,
    },
}

impl From<FormatError> for LearnError {
    fn from(error: FormatError) -> Self {
        match error {
            FormatError::Stopped => Self::Stopped,
            error => Self::Import(error),
        }
    }
}
