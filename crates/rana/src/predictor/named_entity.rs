//! [`NamedEntity`]: an entity's unique name and the label to display.

use rana_graph::{EntityId, Graph};
use serde::Serialize;

/// An entity's unique name and the label to display.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct NamedEntity {
    /// Its name in the graph, which no other has.
    pub name: String,
    /// Its label; if it has none, the last part of an IRI, or its name.
    pub label: String,
}

impl NamedEntity {
    /// An entity of a graph.
    #[must_use]
    pub fn new(graph: &Graph, entity: EntityId) -> Self {
        let name = graph.entity_name(entity);
        Self { name: name.to_owned(), label: graph.entity_title(entity).to_owned() }
    }
}
