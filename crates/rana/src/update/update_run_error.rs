//! [`UpdateRunError`]: why a learned directory cannot be updated.

use std::path::PathBuf;

use rana_graph::format::FormatError;
use rana_graph::{StoreError, UpdateError};
use rana_models::training::ManifestError;

/// Why a learned directory cannot be updated.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UpdateRunError {
    /// The directory is no finished run.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// The graph cannot be opened.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The run has a model whose rows cannot be placed.
    #[error("{}: only what `learn` made can be updated, and this is a run of {model}. Learn again with all files", path.display())]
    OtherModel {
        /// The directory.
        path: PathBuf,
        /// The model.
        model: String,
    },
    /// The graph withholds facts of tasks.
    #[error("{}: the graph has tasks, whose facts are withheld from it; such a directory is for measuring and is not updated", path.display())]
    HasTasks {
        /// The directory.
        path: PathBuf,
    },
    /// A file cannot be read.
    #[error(transparent)]
    Import(#[from] FormatError),
    /// Updates cannot be read or written.
    #[error(transparent)]
    Update(#[from] UpdateError),
}
