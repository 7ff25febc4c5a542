//! [`FormatError`]: why a file cannot be read.

use std::io;

use super::place::Place;
use super::{ColumnsProblem, Format, Limit};
use crate::store::hint;

/// Why a file could not be imported.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FormatError {
    /// The content breaks the rules of its format. A lenient import
    /// ([`ImportOptions::lenient`](crate::ImportOptions::lenient)) skips and counts these.
    #[error("{place}: {problem}")]
    Malformed {
        /// Where.
        place: Place,
        /// What was expected, what was found, and what to do.
        problem: String,
    },
    /// The content passes a limit that keeps the memory and time of a reader bounded.
    #[error("{place}: {limit}")]
    Limit {
        /// Where.
        place: Place,
        /// Which limit.
        limit: Limit,
    },
    /// An operation of the file system failed.
    #[error("{file}: could not {action}: {source}{}", hint(source))]
    Io {
        /// The file or directory concerned.
        file: String,
        /// What was attempted.
        action: &'static str,
        /// Why it failed.
        source: io::Error,
    },
    /// Compressed data does not decompress.
    #[error(
        "{file}: the {method} data is cut short or damaged ({problem}). Fetch or compress the file again"
    )]
    Compression {
        /// The file.
        file: String,
        /// `gzip` or `zstd`.
        method: &'static str,
        /// The message of the decompressor.
        problem: String,
    },
    /// The file is empty.
    #[error("{file}: the file is empty, expected {expected}")]
    Empty {
        /// The file.
        file: String,
        /// What was expected.
        expected: &'static str,
    },
    /// The file is compressed by a method that cannot be read.
    #[error("{file}: this compression is not supported. Decompress the file first, or use gzip or zstd")]
    UnsupportedCompression {
        /// The file, whose name ends in `.bz2`, `.xz` or `.zip`.
        file: String,
    },
    /// The content looks like another format than the file name.
    #[error(
        "{file}: named like {}, but the content looks like {}. Rename it, or set the format to {looks}",
        named.title(),
        looks.title()
    )]
    NotAsNamed {
        /// The file.
        file: String,
        /// The format that the file name means.
        named: Format,
        /// The format that the content looks like.
        looks: Format,
    },
    /// The file is named like Parquet and does not start like it.
    #[error(
        "{file}: named like Parquet, but it does not begin as a Parquet file does. Fetch it again, or set the \
         format if it is something else"
    )]
    NotParquet {
        /// The file.
        file: String,
    },
    /// No format fits and no delimiter gives three columns.
    #[error(
        "{file}: no format recognised: not RDF or Parquet, and no delimiter (tab, comma, semicolon, bar, space) \
         gives three columns. Set the format or the delimiter. The first line is `{first_line}`"
    )]
    NoDelimiter {
        /// The file.
        file: String,
        /// The beginning of its first line.
        first_line: String,
    },
    /// The source is a graph store, which needs no import.
    #[error("{file}: this is a graph store already. Open it as it is, or export its facts first")]
    IsStore {
        /// The directory.
        file: String,
    },
    /// The source cannot be divided into train, valid and test files as [`ImportOptions::splits`] asks.
    ///
    /// [`ImportOptions::splits`]: crate::ImportOptions::splits
    #[error("{file}: {problem}")]
    Splits {
        /// The file or directory.
        file: String,
        /// What was expected.
        problem: &'static str,
    },
    /// An import option was set that does not apply to a release directory.
    #[error(
        "{file}: the option `{option}` does not apply to a release directory, whose files have fixed meanings. \
         Leave it unset"
    )]
    ReleaseOption {
        /// The directory.
        file: String,
        /// The field of [`ImportOptions`](crate::ImportOptions).
        option: &'static str,
    },
    /// No format fits.
    #[error("{file}: {problem}")]
    Unrecognised {
        /// The file.
        file: String,
        /// What was tried, and what to do.
        problem: String,
    },
    /// The columns of heads, relations and tails cannot be determined.
    #[error("{file}: {problem}")]
    Columns {
        /// The file.
        file: String,
        /// Which column is missing, which there are, and what to do.
        problem: ColumnsProblem,
    },
    /// The reader of this format was left out when this library was compiled.
    #[error(
        "{file}: this build has no reader for {format}. Build the library with the cargo feature `{feature}`"
    )]
    MissingFeature {
        /// The file.
        file: String,
        /// The format or the compression method.
        format: &'static str,
        /// The cargo feature that brings its reader.
        feature: &'static str,
    },
    /// The observer asked to stop ([`Observer::should_stop`](crate::Observer::should_stop)).
    #[error("stopped while reading; nothing is kept of what was read")]
    Stopped,
    /// A benchmark directory lacks a file or contradicts itself.
    #[error("{file}: {problem}")]
    Release {
        /// The file or directory.
        file: String,
        /// What is wrong and what to do.
        problem: String,
    },
}

impl FormatError {
    pub(crate) fn io(file: &str, action: &'static str) -> impl FnOnce(io::Error) -> Self {
        let file = file.to_owned();
        move |source| Self::Io { file, action, source }
    }

    /// Ends a reader whose receiver has failed. It is never shown: the receiver's error is returned.
    pub(crate) fn disconnected() -> Self {
        Self::Io { file: String::new(), action: "continue", source: io::ErrorKind::Interrupted.into() }
    }

    pub(crate) fn malformed(place: Place, problem: impl Into<String>) -> Self {
        Self::Malformed { place, problem: problem.into() }
    }
}
