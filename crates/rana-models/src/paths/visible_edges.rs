//! [`VisibleEdges`]: the edges of a graph that one relation may use.

use std::sync::Arc;

use rana_graph::{Edge, EntityId, RelationId};

use super::edge_index::EdgeIndex;

/// The edges without those of the relation that is asked for: no evidence about a fact uses the fact.
///
/// In meta-training, the edges of a task's relation are visible to other tasks and hidden from that task.
#[derive(Clone, Debug)]
pub struct VisibleEdges {
    index: Arc<EdgeIndex>,
    hidden: Option<usize>,
}

impl VisibleEdges {
    /// All edges but those of a relation.
    #[must_use]
    pub fn without(index: &Arc<EdgeIndex>, hidden: Option<RelationId>) -> Self {
        Self { index: Arc::clone(index), hidden: hidden.map(RelationId::number) }
    }

    /// Whether a relation is visible.
    #[must_use]
    pub fn shows(&self, relation: RelationId) -> bool {
        self.hidden != Some(relation.number())
    }

    /// The visible edges of an entity, by relation.
    pub fn edges(&self, of: EntityId) -> impl Iterator<Item = Edge> + Clone + '_ {
        self.index.edges(of).iter().copied().filter(|edge| self.shows(edge.relation))
    }

    /// The edges of an entity by one relation; none if it is hidden.
    #[must_use]
    pub fn by(&self, of: EntityId, relation: RelationId) -> &[Edge] {
        if self.shows(relation) { group(self.index.edges(of), relation) } else { &[] }
    }

    /// How many visible edges an entity has.
    #[must_use]
    pub fn degree(&self, of: EntityId) -> usize {
        let hidden = self.hidden.map_or(0, |number| {
            let forward = RelationId::forward(number as u32);
            let edges = self.index.edges(of);
            group(edges, forward).len() + group(edges, forward.inverse()).len()
        });
        self.index.edges(of).len() - hidden
    }

    /// The relations that an entity has, each once.
    pub fn relations(&self, of: EntityId) -> impl Iterator<Item = RelationId> + '_ {
        let groups = self.index.edges(of).chunk_by(|one, other| one.relation == other.relation);
        groups.map(|group| group[0].relation).filter(|&relation| self.shows(relation))
    }

    /// The relations that lead from one entity to another, each once.
    pub fn joining(&self, head: EntityId, tail: EntityId) -> impl Iterator<Item = RelationId> + '_ {
        self.edges(head).filter(move |edge| edge.entity == tail).map(|edge| edge.relation)
    }

    /// How rare a relation is.
    #[must_use]
    pub fn rarity(&self, relation: RelationId) -> f32 {
        self.index.rarity(relation)
    }
}

/// The edges by one relation, among edges that are sorted by relation.
fn group(edges: &[Edge], relation: RelationId) -> &[Edge] {
    let first = edges.partition_point(|edge| edge.relation < relation);
    let count = edges[first..].partition_point(|edge| edge.relation == relation);
    &edges[first..first + count]
}
