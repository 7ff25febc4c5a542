//! [`AnswerFormat`]: the file formats of answers.

use serde::{Deserialize, Serialize};

/// A format that answers can be written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AnswerFormat {
    /// Tab-separated text with a header.
    Tsv,
    /// Tab-separated text for spreadsheets: no cell of it is a formula. Names may differ from those of the graph.
    Sheet,
    /// One JSON object a line, reasons included.
    #[serde(rename = "jsonl")]
    JsonLines,
    /// RDF N-Triples, the facts alone.
    NTriples,
    /// RDF Turtle. Each fact has an `rdf:Statement` with its confidence.
    Turtle,
    /// RDF 1.2 Turtle. Each fact has a reifier with its confidence.
    Rdf12,
    /// Parquet.
    Parquet,
    /// Commands for Wikidata's QuickStatements; names have to be those of items and properties.
    QuickStatements,
}

impl AnswerFormat {
    /// The media type of a response.
    #[must_use]
    pub const fn media_type(self) -> &'static str {
        match self {
            Self::Tsv | Self::Sheet => "text/tab-separated-values; charset=utf-8",
            Self::JsonLines => "application/x-ndjson",
            Self::NTriples => "application/n-triples",
            Self::Turtle => "text/turtle; charset=utf-8",
            Self::Rdf12 => "text/turtle; version=1.2; charset=utf-8",
            Self::Parquet => "application/vnd.apache.parquet",
            Self::QuickStatements => "text/plain; charset=utf-8",
        }
    }

    /// How file names end.
    #[must_use]
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Tsv | Self::Sheet => "tsv",
            Self::JsonLines => "jsonl",
            Self::NTriples => "nt",
            Self::Turtle | Self::Rdf12 => "ttl",
            Self::Parquet => "parquet",
            Self::QuickStatements => "txt",
        }
    }
}
