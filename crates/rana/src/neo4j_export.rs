//! [`export_neo4j`]: a graph as Neo4j imports it, with vectors as its library for graph data science takes them.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use rana_embed::{EmbeddingSet, RelationRows, Table};
use rana_graph::{EntityId, Graph, RelationId, write_file_atomically};

/// Why a graph cannot be written for Neo4j.
#[derive(Debug, thiserror::Error)]
pub enum Neo4jError {
    /// A file cannot be written.
    #[error("{}: could not write the file: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// The files of an export, in one directory.
pub const NEO4J_FILES: [&str; 3] = ["nodes.csv", "relationships.csv", "relation_vectors.csv"];

/// Writes a graph as CSV files with the headers of `neo4j-admin database import`: `nodes.csv` and `relationships.csv`.
///
/// Nodes have a name, a label to show, and their types as labels. With vectors they also have a property `embedding`, and
/// `relation_vectors.csv` has the vector of each relation: what `gds.model.transe` takes. That model adds the vector of a
/// relation to that of a head, so only vectors of TransE mean there what they mean here.
///
/// # Errors
/// If a file cannot be written.
pub fn export_neo4j(
    directory: &Path,
    graph: &Graph,
    vectors: Option<&EmbeddingSet>,
) -> Result<(), Neo4jError> {
    fs::create_dir_all(directory).map_err(|source| Neo4jError::Io { path: directory.to_owned(), source })?;
    let [nodes, relationships, relation_vectors] = NEO4J_FILES.map(|name| directory.join(name));
    write(&nodes, |out| write_nodes(out, graph, vectors.map(|set| &set.entities)))?;
    write(&relationships, |out| {
        writeln!(out, ":START_ID,:TYPE,:END_ID")?;
        for fact in graph.facts() {
            let names = [
                graph.entity_name(fact.head),
                graph.relation_name(fact.relation),
                graph.entity_name(fact.tail),
            ];
            writeln!(out, "{}", names.map(quoted).join(","))?;
        }
        Ok(())
    })?;
    let Some(set) = vectors else { return Ok(()) };
    write(&relation_vectors, |out| {
        writeln!(out, "relation,embedding")?;
        for relation in graph.relations() {
            let vector = set.relations.row(relation_row(relation, set.metadata.relation_rows));
            writeln!(out, "{},{}", quoted(graph.relation_name(relation)), numbers(vector))?;
        }
        Ok(())
    })
}

fn write(
    path: &Path,
    content: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<()>,
) -> Result<(), Neo4jError> {
    write_file_atomically::<io::Error>(path, |out| content(out))
        .map_err(|source| Neo4jError::Io { path: path.to_owned(), source })
}

fn write_nodes(out: &mut dyn Write, graph: &Graph, vectors: Option<&Table>) -> io::Result<()> {
    let embedding = if vectors.is_some() { ",embedding:float[]" } else { "" };
    writeln!(out, "name:ID,label,:LABEL{embedding}")?;
    for entity in graph.entities() {
        let title = graph.entity_title(entity);
        write!(
            out,
            "{},{},{}",
            quoted(graph.entity_name(entity)),
            quoted(&title),
            quoted(&labels(graph, entity))
        )?;
        match vectors {
            Some(rows) => writeln!(out, ",{}", numbers(rows.row(entity.0 as usize)))?,
            None => writeln!(out)?,
        }
    }
    Ok(())
}

/// What every node is labelled, beside its types.
const NODE: &str = "Entity";

/// The labels of a node. A semicolon divides them, so one in the name of a type becomes an underscore.
fn labels(graph: &Graph, entity: EntityId) -> String {
    let types = graph.types(entity).iter().map(|of| graph.type_names().name(of.0).replace(';', "_"));
    std::iter::once(NODE.to_owned()).chain(types).collect::<Vec<_>>().join(";")
}

fn relation_row(relation: RelationId, rows: RelationRows) -> usize {
    match rows {
        RelationRows::Forward => relation.number(),
        RelationRows::Directed => relation.index(),
    }
}

fn numbers(vector: &[f32]) -> String {
    vector.iter().map(f32::to_string).collect::<Vec<_>>().join(";")
}

/// A text as a field of CSV.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rana_embed::EmbeddingMetadata;
    use rana_graph::{Duplicates, GraphBuilder, LabelRank};

    #[test]
    fn files_have_the_headers_of_the_import() {
        let mut builder = GraphBuilder::new(Duplicates::Remove);
        builder.add_named("a \"b\", c", "r", "d");
        builder.add_label("d", "The D", LabelRank::Wanted);
        let entity = builder.intern_entity("d");
        builder.add_type(entity, "kind;of");
        let graph = builder.finish();
        let entities = Table::new(2, 2, vec![0.5, -1.0, 2.0, 1e-7]).unwrap();
        let relations = Table::new(1, 2, vec![1.0, 0.25]).unwrap();
        let set = EmbeddingSet::new(&graph, entities, relations, EmbeddingMetadata::default()).unwrap();
        let dir = tempfile::tempdir().unwrap();
        export_neo4j(dir.path(), &graph, Some(&set)).unwrap();
        let text = |name: &str| fs::read_to_string(dir.path().join(name)).unwrap();
        assert_eq!(
            text("nodes.csv"),
            "name:ID,label,:LABEL,embedding:float[]\n\
             \"a \"\"b\"\", c\",\"a \"\"b\"\", c\",\"Entity\",0.5;-1\n\
             \"d\",\"The D\",\"Entity;kind_of\",2;0.0000001\n"
        );
        assert_eq!(text("relationships.csv"), ":START_ID,:TYPE,:END_ID\n\"a \"\"b\"\", c\",\"r\",\"d\"\n");
        assert_eq!(text("relation_vectors.csv"), "relation,embedding\n\"r\",1;0.25\n");
        let bare = tempfile::tempdir().unwrap();
        export_neo4j(bare.path(), &graph, None).unwrap();
        let nodes = fs::read_to_string(bare.path().join("nodes.csv")).unwrap();
        assert!(
            nodes.starts_with("name:ID,label,:LABEL\n") && !bare.path().join("relation_vectors.csv").exists()
        );
    }
}
