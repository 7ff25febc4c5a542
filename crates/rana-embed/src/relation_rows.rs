//! [`RelationRows`]: which directions of a relation have a row, and whether tables have the rows that a graph needs.

use rana_graph::{Graph, RelationId};
use serde::{Deserialize, Serialize};

use super::embedding_set::{ENTITIES, RELATIONS};
use crate::table::Table;
use crate::vector_error::VectorError;

/// Which directions of a relation have a row in a relation table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RelationRows {
    /// Only the forward direction: the row of a relation is its [number](RelationId::number).
    #[default]
    Forward,
    /// Both directions: the row of a relation or its inverse is its [directed id](RelationId::index).
    Directed,
}

impl RelationRows {
    /// Rows per relation.
    const fn per_relation(self) -> usize {
        match self {
            Self::Forward => 1,
            Self::Directed => 2,
        }
    }

    /// Finds out what a table of `rows` rows holds for the relations of a graph, with or without those of tasks.
    /// `None` if the number fits neither. If two readings are possible, the one with fewer relations.
    #[must_use]
    pub fn of(graph: &Graph, rows: usize) -> Option<Self> {
        [graph.relation_count(), graph.named_relation_count()]
            .into_iter()
            .flat_map(|count| [Self::Forward, Self::Directed].map(|kind| (count, kind)))
            .find_map(|(count, kind)| (rows == count * kind.per_relation()).then_some(kind))
    }

    /// The background relations in the order of their rows.
    pub(crate) fn relations(self, graph: &Graph) -> impl Iterator<Item = RelationId> + use<> {
        let backwards = self == Self::Directed;
        graph.relations().flat_map(move |relation| {
            std::iter::once(relation).chain(backwards.then_some(relation.inverse()))
        })
    }

    pub(crate) fn expected(graph: &Graph) -> String {
        let relations = graph.relation_count();
        format!("{relations} relations, {} with inverses", 2 * relations)
    }

    /// Checks that two tables have the rows that a graph needs: one or two for each background relation, and either
    /// all or no relations of tasks.
    pub(crate) fn check(self, graph: &Graph, entities: &Table, relations: &Table) -> Result<(), VectorError> {
        check_entities(graph, entities, ENTITIES)?;
        let counts = [graph.relation_count(), graph.named_relation_count()];
        if counts.iter().any(|count| relations.rows() == count * self.per_relation()) {
            return Ok(());
        }
        Err(VectorError::Rows {
            table: RELATIONS.to_owned(),
            found: relations.rows(),
            expected: Self::expected(graph),
        })
    }
}

/// Checks that a table has one row per entity. `name` names the table in the error.
pub(crate) fn check_entities(graph: &Graph, entities: &Table, name: &str) -> Result<(), VectorError> {
    if entities.rows() == graph.entity_count() {
        return Ok(());
    }
    Err(VectorError::Rows {
        table: name.to_owned(),
        found: entities.rows(),
        expected: format!("{} entities", graph.entity_count()),
    })
}
