//! [`CheckpointError`]: why a checkpoint cannot be read or written.

use std::io;
use std::path::PathBuf;

use super::checkpoint::VERSION;
use crate::config_error::ConfigError;

/// Why a checkpoint cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    /// The file cannot be accessed.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the operating system says.
        source: io::Error,
    },
    /// It is not a checkpoint.
    #[error("{}: this is not a checkpoint of vectors", path.display())]
    NoCheckpoint {
        /// The file.
        path: PathBuf,
    },
    /// It was written by another version of this program.
    #[error("{}: checkpoint version {found}, but this program reads version {VERSION}", path.display())]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
    },
    /// Its length does not fit its header.
    #[error("{}: {found} bytes long, expected {expected}; the file was truncated or altered", path.display())]
    Length {
        /// The file.
        path: PathBuf,
        /// How long it is.
        found: u64,
        /// How long it should be.
        expected: u64,
    },
    /// The checksum does not match.
    #[error("{}: the checksum does not match; the file was altered", path.display())]
    Checksum {
        /// The file.
        path: PathBuf,
    },
    /// The header is malformed.
    #[error("{}: bad header: {message}", path.display())]
    Header {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        message: String,
    },
    /// The settings in it cannot be used.
    #[error("{}: {source}", path.display())]
    Config {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: ConfigError,
    },
}
