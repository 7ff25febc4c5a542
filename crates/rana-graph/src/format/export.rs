//! Writers of graphs in other formats.

use std::io::{self, Write};
use std::path::Path;
use std::str::FromStr;

use super::export_error::ExportError;
use super::release;
use crate::atomic_file::beside;
use crate::fact::Fact;
use crate::graph::Graph;
use crate::tasks::TaskSet;
use crate::unfinished::Unfinished;

/// A format facts can be written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FactFormat {
    /// `head⇥relation⇥tail`, one fact a line, no header.
    Tsv,
    /// RDF N-Triples, with `rdfs:label` for what has a label.
    NTriples,
    /// Parquet with the columns `head`, `relation` and `tail`.
    Parquet,
}

impl FromStr for FactFormat {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "tsv" => Ok(Self::Tsv),
            "nt" | "ntriples" => Ok(Self::NTriples),
            "parquet" => Ok(Self::Parquet),
            _ => Err(format!("`{text}` is no format for facts; say tsv, ntriples or parquet")),
        }
    }
}

/// Writes facts of a graph in their order.
///
/// # Errors
/// If the writer fails or a name cannot be written in the format.
pub fn export_facts<W: Write + Send>(
    graph: &Graph,
    facts: &[Fact],
    format: FactFormat,
    out: W,
) -> Result<(), ExportError> {
    match format {
        FactFormat::Tsv => write_tsv(graph, facts, out),
        #[cfg(feature = "rdf")]
        FactFormat::NTriples => super::rdf::write(graph, facts, out),
        #[cfg(not(feature = "rdf"))]
        FactFormat::NTriples => Err(ExportError::MissingFeature { format: "N-Triples", feature: "rdf" }),
        #[cfg(feature = "parquet")]
        FactFormat::Parquet => super::parquet::write(graph, facts, out),
        #[cfg(not(feature = "parquet"))]
        FactFormat::Parquet => Err(ExportError::MissingFeature { format: "Parquet", feature: "parquet" }),
    }
}

fn write_tsv(graph: &Graph, facts: &[Fact], mut out: impl Write) -> Result<(), ExportError> {
    refuse_breaking_names(graph)?;
    for fact in facts {
        let [head, relation, tail] = names(graph, *fact);
        writeln!(out, "{head}\t{relation}\t{tail}")?;
    }
    Ok(out.flush()?)
}

/// The names of head, relation and tail.
pub(super) fn names(graph: &Graph, fact: Fact) -> [&str; 3] {
    [graph.entity_name(fact.head), graph.relation_name(fact.relation), graph.entity_name(fact.tail)]
}

/// Tab-separated text has no way to write a tab or a line break inside a name.
fn refuse_breaking_names(graph: &Graph) -> Result<(), ExportError> {
    let mut names = graph.entity_names().iter().chain(graph.relation_names().iter());
    match names.find(|name| name.contains(['\t', '\n', '\r'])) {
        Some(name) => Err(ExportError::Name { name: name.to_owned() }),
        None => Ok(()),
    }
}

fn refuse_inverse_names(graph: &Graph) -> Result<(), ExportError> {
    let taken = graph.relations().map(|relation| graph.relation_name(relation)).find_map(|base| {
        let inverse = release::inverse_name(base);
        graph.relation(&inverse).filter(|&relation| graph.is_background(relation)).map(|_| (inverse, base))
    });
    match taken {
        Some((name, base)) => Err(ExportError::InverseName { name, base: base.to_owned() }),
        None => Ok(()),
    }
}

/// Writes a graph and its tasks as a NELL-One release directory, which appears whole or not at all.
///
/// # Errors
/// If the directory exists and is not empty, writing fails, or a name cannot be written.
pub fn export_release(directory: &Path, graph: &Graph, tasks: &TaskSet) -> Result<(), ExportError> {
    refuse_breaking_names(graph)?;
    refuse_inverse_names(graph)?;
    let is_free = match std::fs::read_dir(directory) {
        Ok(mut entries) => entries.next().is_none(),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    };
    if !is_free {
        return Err(ExportError::Occupied(directory.display().to_string()));
    }
    let temporary = Unfinished::at(beside(directory)?);
    release::write_release(temporary.path(), graph, tasks)?;
    Ok(std::fs::rename(temporary.path(), directory)?)
}
