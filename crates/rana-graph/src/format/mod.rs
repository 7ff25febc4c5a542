//! File formats: how they are detected, and the readers and writers of each.

mod columns;
mod delimited;
mod detect;
mod error;
mod fact_writer;
mod limits;
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(feature = "rdf")]
pub mod rdf;
mod release;
mod source;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

pub use columns::{Column, Columns, ColumnsProblem, Role};
pub use delimited::{DelimitedOptions, Header};
pub use error::{FormatError, Place};
pub use fact_writer::{ExportError, FactFormat, export_facts, export_release};
pub use limits::Limit;
pub use source::Source;

pub(crate) use detect::detect;
pub(crate) use release::{is_release, read_release, release_size};
pub(crate) use source::OpenSource;

/// A file format that can be imported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// Delimited text: TSV, CSV, or any other delimiter.
    Delimited,
    /// RDF N-Triples.
    #[serde(rename = "ntriples")]
    NTriples,
    /// RDF N-Quads; the graphs are merged.
    #[serde(rename = "nquads")]
    NQuads,
    /// RDF Turtle.
    Turtle,
    /// RDF TriG; the graphs are merged.
    #[serde(rename = "trig")]
    TriG,
    /// RDF/XML.
    #[serde(rename = "rdfxml")]
    RdfXml,
    /// Apache Parquet.
    Parquet,
    /// The directory layout of the NELL-One and Wiki-One releases.
    #[serde(rename = "nell-one")]
    Release,
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 8] = [
        Self::Delimited,
        Self::NTriples,
        Self::NQuads,
        Self::Turtle,
        Self::TriG,
        Self::RdfXml,
        Self::Parquet,
        Self::Release,
    ];

    /// The short name, as it stands in manifests and as [`FromStr`] reads it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Delimited => "delimited",
            Self::NTriples => "ntriples",
            Self::NQuads => "nquads",
            Self::Turtle => "turtle",
            Self::TriG => "trig",
            Self::RdfXml => "rdfxml",
            Self::Parquet => "parquet",
            Self::Release => "nell-one",
        }
    }

    /// Whether this is a syntax of RDF, which distinguishes literals from entities.
    #[must_use]
    pub const fn is_rdf(self) -> bool {
        matches!(self, Self::NTriples | Self::NQuads | Self::Turtle | Self::TriG | Self::RdfXml)
    }

    /// The name to use in a sentence.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Delimited => "delimited text",
            Self::NTriples => "N-Triples",
            Self::NQuads => "N-Quads",
            Self::Turtle => "Turtle",
            Self::TriG => "TriG",
            Self::RdfXml => "RDF/XML",
            Self::Parquet => "Parquet",
            Self::Release => "a NELL-One release directory",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "tsv" | "csv" | "delimited" | "txt" => Ok(Self::Delimited),
            "nt" | "ntriples" => Ok(Self::NTriples),
            "nq" | "nquads" => Ok(Self::NQuads),
            "ttl" | "turtle" => Ok(Self::Turtle),
            "trig" => Ok(Self::TriG),
            "rdf" | "rdfxml" | "xml" => Ok(Self::RdfXml),
            "parquet" => Ok(Self::Parquet),
            "nell-one" | "wiki-one" | "release" => Ok(Self::Release),
            _ => Err(format!(
                "`{text}` is no format; say tsv, csv, ntriples, nquads, turtle, trig, rdfxml, parquet or nell-one"
            )),
        }
    }
}

/// A statement that a reader found in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Statement<'a> {
    /// Two entities joined by a relation.
    Fact { head: &'a str, relation: &'a str, tail: &'a str },
    /// An entity joined with a literal value.
    #[cfg_attr(not(feature = "rdf"), expect(dead_code, reason = "only RDF has literals"))]
    Literal { head: &'a str, relation: &'a str, literal: Literal<'a> },
}

/// A literal value, as RDF has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Literal<'a> {
    pub(crate) value: &'a str,
    pub(crate) language: Option<&'a str>,
    /// The literal in N-Triples syntax: its name if literals are kept as entities.
    pub(crate) name: &'a str,
}

/// Receives what a reader finds in a file.
pub(crate) trait Sink {
    /// Receives a statement and its line, if the reader knows it.
    fn statement(&mut self, statement: Statement<'_>, line: Option<u64>) -> Result<(), FormatError>;
    /// Receives an error in the content. Returning it ends the reading, `Ok` skips the place.
    fn malformed(&mut self, error: FormatError) -> Result<(), FormatError>;
    /// Receives a prefix that the file declares for a namespace.
    #[cfg_attr(not(feature = "rdf"), expect(dead_code, reason = "only RDF has prefixes"))]
    fn prefix(&mut self, prefix: &str, namespace: &str);
}

/// Settings of the readers, where a format has any.
#[derive(Clone, Debug)]
pub(crate) struct ReadOptions<'a> {
    pub(crate) delimited: &'a DelimitedOptions,
    /// Position of this file among the inputs, to keep blank nodes of different files apart.
    #[cfg_attr(not(feature = "rdf"), expect(dead_code, reason = "only RDF has blank nodes"))]
    pub(crate) number: usize,
}

/// Reads one file of facts in a known format into a sink.
pub(crate) fn read_facts(
    format: Format,
    source: &mut OpenSource<'_>,
    options: &ReadOptions<'_>,
    sink: &mut dyn Sink,
) -> Result<(), FormatError> {
    match format {
        Format::Delimited => delimited::read(source, options.delimited, sink),
        #[cfg(feature = "rdf")]
        Format::NTriples | Format::NQuads | Format::Turtle | Format::TriG | Format::RdfXml => {
            rdf::read(source, format, options, sink)
        }
        #[cfg(not(feature = "rdf"))]
        Format::NTriples | Format::NQuads | Format::Turtle | Format::TriG | Format::RdfXml => {
            Err(FormatError::MissingFeature {
                file: source.name.clone(),
                format: format.title(),
                feature: "rdf",
            })
        }
        #[cfg(feature = "parquet")]
        Format::Parquet => parquet::read(source, &options.delimited.columns, sink),
        #[cfg(not(feature = "parquet"))]
        Format::Parquet => Err(FormatError::MissingFeature {
            file: source.name.clone(),
            format: format.title(),
            feature: "parquet",
        }),
        Format::Release => Err(FormatError::Release {
            file: source.name.clone(),
            problem: "a NELL-One release is a directory; give the directory, not a file of it".to_owned(),
        }),
    }
}
