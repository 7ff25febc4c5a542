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
    /// Its label; if it has none, the short form or the last part of an IRI, or its name.
    pub(crate) label: String,
    /// The name in short form, such as `wd:Q42`; the name itself if it has none.
    pub(crate) short: String,
    /// What tells it from the other entities of the same label in a list, such as `city, country: France`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) distinction: Option<String>,
}

impl From<NamedEntity> for Entity {
    fn from(NamedEntity { name, label, short, distinction }: NamedEntity) -> Self {
        Self { name, label, short, distinction }
    }
}

impl Entity {
    pub(crate) fn new(graph: &Graph, entity: EntityId) -> Self {
        NamedEntity::new(graph, entity).into()
    }

    /// The entities of a list. Those of the same label are told apart.
    pub(crate) fn list(graph: &Graph, entities: &[EntityId]) -> Vec<Self> {
        NamedEntity::list(graph, entities).into_iter().map(Self::from).collect()
    }

    /// An entity by its name. The graph may no longer have it.
    pub(crate) fn named(graph: &Graph, name: &str) -> Self {
        match graph.entity(name) {
            Some(entity) => Self::new(graph, entity),
            None => Self {
                name: name.to_owned(),
                label: name.to_owned(),
                short: name.to_owned(),
                distinction: None,
            },
        }
    }
}
