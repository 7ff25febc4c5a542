//! [`UpdateError`]: why updates of a graph cannot be read or written.

use std::io;
use std::path::PathBuf;

/// Why updates of a graph cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UpdateError {
    /// A layer has another version.
    #[error("{}: this update has version {found}, and version {known} can be read. Use a newer rana", path.display())]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
        /// The version that is known.
        known: u32,
    },
    /// A layer is damaged.
    #[error("{}: this update is damaged: {message}. Restore the file from a backup", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        message: String,
    },
    /// A layer is of another graph.
    #[error("{}: this update is of another graph ({found:016x}) than the one here ({expected:016x})", path.display())]
    OtherGraph {
        /// The file.
        path: PathBuf,
        /// The fingerprint of the graph.
        expected: u64,
        /// The fingerprint in the file.
        found: u64,
    },
    /// Another process updates the same directory.
    #[error("{}: another process is updating this. Wait until it is done", path.display())]
    Locked {
        /// The directory.
        path: PathBuf,
    },
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
