//! [`ExportError`]: why facts cannot be written.

use std::io;

use crate::store::hint;

/// Why facts could not be exported.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// An operation of the file system failed.
    #[error("could not write: {0}{advice}", advice = hint(.0))]
    Io(#[from] io::Error),
    /// A name cannot be written in this format.
    #[error(
        "the name {name:?} holds a tab or a line break, which tab-separated text cannot. Export as ntriples or parquet"
    )]
    Name {
        /// The name.
        name: String,
    },
    /// A relation's name would be read as the inverse of another.
    #[error(
        "the relation {name:?} would be read as the inverse of {base:?} in a release, where inverses are named so. \
         Rename it, or export as tsv, ntriples or parquet"
    )]
    InverseName {
        /// The relation.
        name: String,
        /// The relation whose inverse has that name.
        base: String,
    },
    /// The directory for a release exists and is not empty.
    #[error("{0} exists already and is left alone. Choose another directory, or remove it first")]
    Occupied(String),
    /// The Parquet library failed.
    #[cfg(feature = "parquet")]
    #[error("could not write Parquet: {0}")]
    Parquet(#[from] parquet::errors::ParquetError),
    /// The writer of this format was left out when this library was compiled.
    #[error(
        "this build has no writer for {format}. Build the library with the cargo feature `{feature}`, or choose another format"
    )]
    MissingFeature {
        /// The format.
        format: &'static str,
        /// The cargo feature that brings its writer.
        feature: &'static str,
    },
}
