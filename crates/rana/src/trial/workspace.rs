//! [`Workspace`]: the directory that trials share.
//!
//! ```text
//! OUT/
//!   graph/                                 the graph store, if it was made here
//!   vectors/<name>-<hash>-<seed>/          vectors, made once for all trials with the same settings
//!   trials/<name>-<hash>-<seed>/
//!     run/                                 the training
//!     result.json                          what was measured, written last
//! ```
//!
//! The hash is that of the settings, so the same trial of different sweeps and tables shares a place.

use std::fs;
use std::path::{Path, PathBuf};

use rana_graph::write_file_atomically;
use std::io::Write;

use super::error::TrialError;

/// The directory that trials share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workspace {
    root: PathBuf,
}

impl Workspace {
    /// A workspace in a directory, which need not be there yet.
    #[must_use]
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// The directory.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where the graph goes.
    #[must_use]
    pub fn graph(&self) -> PathBuf {
        self.root.join("graph")
    }

    /// Where vectors of this name go.
    #[must_use]
    pub fn vectors(&self, name: &str) -> PathBuf {
        self.root.join("vectors").join(name)
    }

    /// Where a trial of this name goes.
    #[must_use]
    pub fn trial(&self, name: &str) -> PathBuf {
        self.root.join("trials").join(name)
    }

    /// Writes a file of the workspace, whole or not at all.
    ///
    /// # Errors
    /// If the disk refuses.
    pub fn write(&self, name: &str, content: &[u8]) -> Result<PathBuf, TrialError> {
        let path = self.root.join(name);
        write(&path, content)?;
        Ok(path)
    }
}

/// Writes a file, whole or not at all, and the directories above it.
pub(crate) fn write(path: &Path, content: &[u8]) -> Result<(), TrialError> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(TrialError::io(parent, "create the directory"))?;
    }
    write_file_atomically(path, |out| out.write_all(content)).map_err(TrialError::io(path, "write the file"))
}
