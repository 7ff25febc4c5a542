//! Imports vectors from files and matches their rows to a graph; exports the vectors of a graph.

use std::path::{Path, PathBuf};

use rana_graph::{Graph, RelationId};

use super::{TableFormat, read_table, write_table};
use crate::embedding_set::{ENTITIES, RELATIONS};
use crate::relation_rows::{RelationRows, check_entities};
use crate::table::{Norms, Table};
use crate::vector_error::VectorError;

/// The files of the vectors of a graph. Formats are detected from the extensions if not given.
#[derive(Clone, Debug)]
pub struct VectorFiles {
    /// One row per entity, in the order of ids.
    pub entities: PathBuf,
    /// One row per relation, or one per relation and one per inverse: in the order of the graph's
    /// `relation2ids` if it came with one, else in the order of ids (each inverse after its
    /// relation).
    pub relations: PathBuf,
    /// The format of both files.
    pub format: Option<TableFormat>,
}

/// Vectors that fit a graph.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportedVectors {
    /// One row per entity, in the order of ids.
    pub entities: Table,
    /// One row per relation, in the order of ids.
    pub relations: Table,
    /// Whether inverses have rows of their own.
    pub relation_rows: RelationRows,
    /// The norms of the entities' rows.
    pub entity_norms: Option<Norms>,
    /// The norms of the relations' rows.
    pub relation_norms: Option<Norms>,
}

/// Reads the vectors of a graph.
///
/// # Errors
/// If a file is malformed, or its number of rows does not fit the graph.
pub fn import_vectors(files: &VectorFiles, graph: &Graph) -> Result<ImportedVectors, VectorError> {
    let read = |path: &Path, name| read_table(path, format_of(path, files.format)?, name);
    let entities = read(&files.entities, ENTITIES)?;
    check_entities(graph, &entities, &files.entities.display().to_string())?;
    let relations = read(&files.relations, RELATIONS)?;
    let (relation_rows, relations) = relations_in_order_of_ids(graph, relations, &files.relations)?;
    Ok(ImportedVectors {
        entity_norms: entities.norms(),
        relation_norms: relations.norms(),
        entities,
        relations,
        relation_rows,
    })
}

/// The rows of a file in the order of ids, and whether inverses have rows of their own.
pub(crate) fn relations_in_order_of_ids(
    graph: &Graph,
    relations: Table,
    path: &Path,
) -> Result<(RelationRows, Table), VectorError> {
    let Some(relation_rows) = RelationRows::of(graph, relations.rows()) else {
        return Err(VectorError::Rows {
            table: path.display().to_string(),
            found: relations.rows(),
            expected: RelationRows::expected(graph),
        });
    };
    let relations = match relation_order(graph, relation_rows, relations.rows(), path)? {
        Some(order) => relations.select(&order),
        None => relations,
    };
    Ok((relation_rows, relations))
}

/// Writes the vectors of a graph, with relations in the order that [`import_vectors`] expects.
///
/// # Errors
/// If the numbers of rows do not fit the graph, or the disk fails.
pub fn export_vectors(
    files: &VectorFiles,
    graph: &Graph,
    entities: &Table,
    relations: &Table,
    relation_rows: RelationRows,
) -> Result<(), VectorError> {
    relation_rows.check(graph, entities, relations)?;
    let order = relation_order(graph, relation_rows, relations.rows(), &files.relations)?;
    let released = order.map(|order| {
        let mut back = vec![0; order.len()];
        for (row, &released) in order.iter().enumerate() {
            back[released] = row;
        }
        relations.select(&back)
    });
    let write =
        |path: &Path, name, table: &Table| write_table(path, format_of(path, files.format)?, name, table);
    write(&files.entities, ENTITIES, entities)?;
    write(&files.relations, RELATIONS, released.as_ref().unwrap_or(relations))
}

fn format_of(path: &Path, given: Option<TableFormat>) -> Result<TableFormat, VectorError> {
    given.map_or_else(|| TableFormat::of(path), Ok)
}

/// The row in a file of each relation in the order of ids; `None` if the file has that order.
fn relation_order(
    graph: &Graph,
    kind: RelationRows,
    rows: usize,
    path: &Path,
) -> Result<Option<Vec<usize>>, VectorError> {
    // A file without inverse rows cannot follow a vocabulary with inverses, and vice versa.
    let Some(released) = graph.release_rows().filter(|released| released.len() == rows) else {
        return Ok(None);
    };
    let mut row_of = vec![None; 2 * graph.named_relation_count()];
    for (row, relation) in released.iter().enumerate() {
        row_of[relation.index()] = Some(row);
    }
    let row = |relation: RelationId| {
        row_of[relation.index()].ok_or_else(|| VectorError::MissingRelation {
            table: path.display().to_string(),
            relation: graph.relation_display(relation),
        })
    };
    kind.relations(graph).map(row).collect::<Result<_, _>>().map(Some)
}
