//! [`Format`]: a file format that can be imported.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

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
