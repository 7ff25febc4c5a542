use std::fmt;
use std::io;

use crate::store::hint;

/// A place in an input: file, and line and column where they are known, both counted from one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file as the user named it, `-` for standard input.
    pub file: String,
    /// The line.
    pub line: Option<u64>,
    /// The column, in bytes for delimited text and in characters for RDF and JSON.
    pub column: Option<u64>,
}

impl Place {
    /// The file as a whole.
    #[must_use]
    pub fn file(file: &str) -> Self {
        Self { file: file.to_owned(), line: None, column: None }
    }

    /// A line and a column in a file.
    #[must_use]
    pub fn at(file: &str, line: u64, column: u64) -> Self {
        Self { file: file.to_owned(), line: Some(line), column: Some(column) }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        for part in [self.line, self.column].into_iter().flatten() {
            write!(f, ":{part}")?;
        }
        Ok(())
    }
}

/// What can go wrong between outside files and a graph.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FormatError {
    /// The content breaks the rules of its format; `--lenient` skips and counts these.
    #[error("{place}: {problem}")]
    Malformed {
        /// Where.
        place: Place,
        /// What was expected, what was found, and what to do.
        problem: String,
    },
    /// The operating system refused.
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
        /// What the decompressor says.
        problem: String,
    },
    /// There is nothing to read.
    #[error("{file}: the file is empty, expected {expected}")]
    Empty {
        /// The file.
        file: String,
        /// What was expected.
        expected: &'static str,
    },
    /// The content is not what the name promises.
    #[error(
        "{file}: named like {named}, but the content looks like {looks}. Rename it, or say --format {option}"
    )]
    NotAsNamed {
        /// The file.
        file: String,
        /// What the name promises.
        named: &'static str,
        /// What the content looks like.
        looks: &'static str,
        /// The option that would accept the content.
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
    /// The columns that hold heads, relations and tails cannot be told.
    #[error("{file}: {problem}")]
    Columns {
        /// The file.
        file: String,
        /// Which column is missing, which there are, and what to do.
        problem: String,
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

    /// A reader ends early because nobody takes what it reads; the taker's own error is shown.
    pub(crate) fn stopped() -> Self {
        Self::Io { file: String::new(), action: "go on", source: io::ErrorKind::Interrupted.into() }
    }

    pub(crate) fn malformed(place: Place, problem: impl Into<String>) -> Self {
        Self::Malformed { place, problem: problem.into() }
    }
}
