//! [`ManifestError`]: why the manifest of a run cannot be used.

use std::io;
use std::path::PathBuf;

use super::run_manifest::RunManifest;

/// Why the manifest of a run cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ManifestError {
    /// There is no run.
    #[error("{}: this is not a run: it has no {}", path.display(), RunManifest::FILE)]
    NoRun {
        /// The directory.
        path: PathBuf,
    },
    /// The file cannot be read or written.
    #[error("{}: could not {action} the manifest of the run: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What was tried.
        action: &'static str,
        /// What the operating system says.
        source: io::Error,
    },
    /// The file cannot be understood.
    #[error("{}: {message}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        message: String,
    },
    /// A file was changed after it was written.
    #[error("{}: the file was changed after the run was written. Restore it, or train again", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// The run belongs to another graph or other vectors.
    #[error(
        "{}: the run was trained on {what} with checksum {expected:016x}, but this one has {found:016x}. \
         Give the one it was trained on", path.display()
    )]
    Other {
        /// The directory.
        path: PathBuf,
        /// What differs.
        what: &'static str,
        /// The checksum in the manifest.
        expected: u64,
        /// The checksum of what was given.
        found: u64,
    },
    /// The run was trained on other tasks.
    #[error(
        "{}: the run was trained on the tasks of `{expected}`, but the graph has those of `{found}`. Give the graph it \
         was trained on", path.display()
    )]
    OtherTasks {
        /// The directory.
        path: PathBuf,
        /// The tasks in the manifest.
        expected: String,
        /// Those of the graph.
        found: String,
    },
}
