//! [`AnswerError`]: why answers cannot be written.

use std::io;

use rana_graph::format::ExportError;

/// Why answers could not be written.
#[derive(Debug, thiserror::Error)]
pub enum AnswerError {
    /// The facts could not be written.
    #[error(transparent)]
    Export(#[from] ExportError),
    /// A name is not that of a Wikidata item or property.
    #[error(
        "the name {name:?} is not that of a Wikidata item or property (Q42, P31, or an IRI that ends so), which \
         QuickStatements needs. Choose another format"
    )]
    Wikidata {
        /// The name.
        name: String,
    },
}

impl From<io::Error> for AnswerError {
    fn from(error: io::Error) -> Self {
        Self::Export(error.into())
    }
}

#[cfg(feature = "parquet")]
impl From<parquet::errors::ParquetError> for AnswerError {
    fn from(error: parquet::errors::ParquetError) -> Self {
        Self::Export(error.into())
    }
}
