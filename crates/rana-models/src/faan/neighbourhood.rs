//! [`Neighbourhood`]: which neighbours an entity is seen with.

use rana_graph::{Edge, EntityId, Graph, RelationId};

use super::config::FaanConfig;

/// The background neighbours of entities: the first ones in file order.
#[derive(Clone)]
pub(super) struct Neighbourhood {
    graph: Graph,
    limit: usize,
    hides_own_edges: bool,
}

/// The relation whose edges are hidden, by its number.
pub(super) type Hidden = Option<usize>;

impl Neighbourhood {
    /// `sees_graph` says whether the background may be looked at.
    pub(super) fn new(graph: &Graph, config: &FaanConfig, sees_graph: bool) -> Self {
        let limit = if sees_graph { config.neighbours } else { 0 };
        Self { graph: graph.clone(), limit, hides_own_edges: config.hide_own_edges }
    }

    /// The relation to hide while it is asked for.
    pub(super) fn hidden(&self, asked: Option<RelationId>) -> Hidden {
        let has_edges = |relation: &RelationId| self.hides_own_edges && self.graph.is_background(*relation);
        asked.filter(has_edges).map(RelationId::number)
    }

    /// The edges that an entity is seen with.
    pub(super) fn of(&self, entity: EntityId, hidden: Hidden) -> impl Iterator<Item = Edge> + '_ {
        let edges = self.graph.neighbours(entity).iter().copied();
        edges.filter(move |edge| hidden != Some(edge.relation.number())).take(self.limit)
    }
}
