//! [`EvidenceRunError`]: why the evidence of a run cannot be read or written.

use std::io;
use std::path::PathBuf;

use rana_embed::VectorError;

use crate::training::{DimensionMismatch, ManifestError};

/// Why the evidence of a run cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum EvidenceRunError {
    /// A file cannot be accessed.
    #[error("{}: could not {action}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What was tried.
        action: &'static str,
        /// What the operating system says.
        source: io::Error,
    },
    /// A file cannot be understood.
    #[error("{}: {message}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        message: String,
    },
    /// The manifest cannot be written.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// Vectors cannot be read.
    #[error(transparent)]
    Vectors(#[from] VectorError),
    /// The vectors do not fit the graph.
    #[error(transparent)]
    Start(#[from] DimensionMismatch),
}
