//! [`DiscoveryError`]: why new facts cannot be collected.

use std::io;
use std::path::PathBuf;

/// Why new facts cannot be collected.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DiscoveryError {
    /// The directory of parts belongs to something else.
    #[error(
        "{}: these parts are of another graph, or of other limits. Remove the directory, or ask for the same again",
        path.display()
    )]
    Other {
        /// The directory.
        path: PathBuf,
    },
    /// A part cannot be understood.
    #[error("{}: this part cannot be read ({message}). Remove it; the next call makes it again", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        message: String,
    },
    /// It was stopped.
    #[error("stopped. The same call resumes it")]
    Stopped,
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
