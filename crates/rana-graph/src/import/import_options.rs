//! [`ImportOptions`]: what may be chosen in an import.

use serde::{Deserialize, Serialize};

use crate::format::{DelimitedOptions, Format, Source};
use crate::graph_builder::Duplicates;

/// The relation that states a type in RDF.
pub const RDF_TYPE: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";

/// The relations that state a label in RDF.
pub const LABEL_RELATIONS: [&str; 2] =
    ["http://www.w3.org/2000/01/rdf-schema#label", "http://www.w3.org/2004/02/skos/core#prefLabel"];

/// What to do with literal values (numbers, dates, texts) that are not labels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Literals {
    /// Leave them out, and count them.
    #[default]
    Drop,
    /// Make each distinct literal an entity, named by its N-Triples form.
    Keep,
}

/// What to do with the triples that state types.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TypeTriples {
    /// They become types and stay facts of the graph.
    #[default]
    Keep,
    /// They become types only.
    Drop,
}

/// How to import.
#[derive(Clone, Debug, Default)]
pub struct ImportOptions {
    /// The format of every source; detected from content and name if not set.
    pub format: Option<Format>,
    /// How to read delimited text and which columns to take.
    pub delimited: DelimitedOptions,
    /// What to do with literals.
    pub literals: Literals,
    /// What to do with the triples that state types.
    pub type_triples: TypeTriples,
    /// Relations that state a type, in addition to `rdf:type` (Wikidata: `P31`).
    pub type_relations: Vec<String>,
    /// Relations that state a label, in addition to `rdfs:label` and `skos:prefLabel`.
    pub label_relations: Vec<String>,
    /// The wanted language of labels. If it is not set, labels without a language tag are preferred.
    pub language: Option<String>,
    /// What to do with repeated facts.
    pub duplicates: Duplicates,
    /// Skip malformed content and count it, instead of stopping at the first.
    pub lenient: bool,
    /// Sources of facts to hold out for validation, read after the main ones in the same way.
    pub valid: Vec<Source>,
    /// Sources of facts to hold out for testing, read last.
    pub test: Vec<Source>,
    /// Hold out the `valid` and `test` files of source directories, instead of reading them into
    /// the graph.
    pub splits: bool,
    /// How many bytes a compressed source may have after decompression; any number if not set.
    pub max_decompressed: Option<u64>,
}
