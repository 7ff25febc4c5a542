//! [`Entity`]: an entity in JSON responses.

use rana::graph::{EntityId, Graph};
use rana::predictor::NamedEntity;
use serde::Serialize;
use utoipa::ToSchema;

/// An entity: its name and its label.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct Entity {
    /// Its unique name in the graph.
    pub(crate) name: String,
    /// Its label, or its name if it has none.
    pub(crate) label: String,
}

impl From<NamedEntity> for Entity {
    fn from(NamedEntity { name, label }: NamedEntity) -> Self {
        Self { name, label }
    }
}

impl Entity {
    pub(crate) fn new(graph: &Graph, entity: EntityId) -> Self {
        NamedEntity::new(graph, entity).into()
    }

    /// An entity by its name. The graph may no longer have it.
    pub(crate) fn named(graph: &Graph, name: &str) -> Self {
        match graph.entity(name) {
            Some(entity) => Self::new(graph, entity),
            None => Self { name: name.to_owned(), label: name.to_owned() },
        }
    }
}
