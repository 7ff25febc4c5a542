//! [`SynthError`]: why a random graph cannot be made or written.

use std::io;
use std::path::{Path, PathBuf};

use crate::store::hint;

/// Why a graph could not be generated.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SynthError {
    /// A setting has an invalid value.
    #[error("synth setting `{field}`: must be {expected}")]
    Config {
        /// The field of `SynthSettings`.
        field: &'static str,
        /// The values that are valid.
        expected: String,
    },
    /// There is no preset of this name.
    #[error("`{name}` is no preset; say wiki-one, nell-one or small")]
    Preset {
        /// The name asked for.
        name: String,
    },
    /// The directory is not empty and must not be overwritten.
    #[error("{}: exists and is not an empty directory, so it is left alone. Choose another directory, or empty it first", path.display())]
    Occupied {
        /// The directory.
        path: PathBuf,
    },
    /// An operation of the file system failed.
    #[error("{}: could not {action}: {source}{}", path.display(), hint(source))]
    Io {
        /// The file or directory concerned.
        path: PathBuf,
        /// What was attempted.
        action: &'static str,
        /// Why it failed.
        source: io::Error,
    },
    /// The writer failed.
    #[error("could not write the facts: {0}")]
    Write(#[source] io::Error),
}

impl SynthError {
    /// The setting that was refused, if that is what happened.
    #[must_use]
    pub fn field(&self) -> Option<&'static str> {
        match self {
            Self::Config { field, .. } => Some(field),
            _ => None,
        }
    }

    pub(super) fn io(path: &Path, action: &'static str) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { path, action, source }
    }
}
