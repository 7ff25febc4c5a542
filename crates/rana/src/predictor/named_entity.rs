//! [`NamedEntity`]: an entity's unique name and the label to display.

use rana_graph::{EntityId, Graph};
use serde::Serialize;

use super::namesakes::distinctions;

/// An entity's unique name and the label to display.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct NamedEntity {
    /// Its unique name in the graph.
    pub name: String,
    /// Its label; if it has none, the short form or the last part of an IRI, or its name.
    pub label: String,
    /// The name in short form, such as `wd:Q42`; the name itself if it has none.
    pub short: String,
    /// What tells it from the other entities of the same label in a list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub distinction: Option<String>,
}

impl NamedEntity {
    /// An entity of a graph.
    #[must_use]
    pub fn new(graph: &Graph, entity: EntityId) -> Self {
        Self {
            name: graph.entity_name(entity).to_owned(),
            label: graph.entity_title(entity).into_owned(),
            short: graph.entity_short_name(entity).into_owned(),
            distinction: None,
        }
    }

    /// The entities of a list. Those of the same label are told apart.
    #[must_use]
    pub fn list(graph: &Graph, entities: &[EntityId]) -> Vec<Self> {
        let told = distinctions(graph, entities);
        let of =
            |&entity: &EntityId| Self { distinction: told.get(&entity).cloned(), ..Self::new(graph, entity) };
        entities.iter().map(of).collect()
    }
}
