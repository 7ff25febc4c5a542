//! [`Entity`]: an entity as answers have it.

use rana::graph::{EntityId, Graph};
use rana::predictor::EntityRef;
use serde::Serialize;
use utoipa::ToSchema;

/// The name of an entity and what to call it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct Entity {
    /// Its name in the graph, which no other has.
    pub(crate) name: String,
    /// Its label, or its name if it has none.
    pub(crate) label: String,
}

impl From<EntityRef> for Entity {
    fn from(EntityRef { name, label }: EntityRef) -> Self {
        Self { name, label }
    }
}

impl Entity {
    pub(crate) fn new(graph: &Graph, entity: EntityId) -> Self {
        EntityRef::new(graph, entity).into()
    }

    /// An entity by its name, which the graph may not have any more.
    pub(crate) fn named(graph: &Graph, name: &str) -> Self {
        match graph.entity(name) {
            Some(entity) => Self::new(graph, entity),
            None => Self { name: name.to_owned(), label: name.to_owned() },
        }
    }
}
