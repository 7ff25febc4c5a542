//! [`RunError`]: why a run cannot be read or written.

use std::io;
use std::path::{Path, PathBuf};

use rana_embed::VectorError;

use super::field_checks::ConfigError;
use super::manifest_error::ManifestError;

/// Why a run cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A file cannot be accessed.
    #[error("{}: could not {action}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The operation that failed.
        action: &'static str,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The manifest cannot be read, or the run belongs to something else.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// The directory holds files of something else.
    #[error("{}: the directory is not empty and is not a run. Choose an empty or new directory", path.display())]
    Foreign {
        /// The directory.
        path: PathBuf,
    },
    /// There is a run already.
    #[error("{}: there is a run already. Resume it, or choose another directory", path.display())]
    Exists {
        /// The directory.
        path: PathBuf,
    },
    /// A file makes no sense.
    #[error("{}: {message}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        message: String,
    },
    /// A field of the configuration cannot be used.
    #[error("{}: {source}", path.display())]
    Config {
        /// The file.
        path: PathBuf,
        /// The field.
        source: ConfigError,
    },
    /// A file of tensors cannot be read or written.
    #[error(transparent)]
    Tensors(#[from] VectorError),
    /// Another process trains into it.
    #[error("{}: another training writes this run. Wait for it, or choose another directory", path.display())]
    Locked {
        /// The directory.
        path: PathBuf,
    },
    /// Nothing was learned yet.
    #[error("{}: the run has no model yet. Resume its training", path.display())]
    NoModel {
        /// The directory.
        path: PathBuf,
    },
    /// There is nothing to resume from.
    #[error("{}: the checkpoint is missing. Begin a new run", path.display())]
    NoCheckpoint {
        /// The directory.
        path: PathBuf,
    },
}

impl RunError {
    pub(super) fn io(path: &Path, action: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { path: path.to_owned(), action, source }
    }

    pub(super) fn malformed(path: &Path, message: &str) -> Self {
        Self::Malformed { path: path.to_owned(), message: message.to_owned() }
    }
}
