//! [`VisibleEdges`]: the edges of a graph that one relation may use, and the paths through them.
//!
//! Rules, evidence and explanations all find their paths here, with the same edges and the same limits, so that a
//! reason never names a path that the score did not see.

use std::sync::Arc;

use rana_graph::{Edge, EntityId, Pair, RelationId};

use super::edge_index::EdgeIndex;

/// Edges of an entity that are looked at when paths between a pair are searched.
const MOST_EDGES: usize = 1000;
/// Edges of a head that the first step of a path follows.
const MOST_FIRST: usize = 200;
/// A middle with more edges by the second relation leads everywhere.
const MOST_SECOND: usize = 2000;

/// The relations of a path of two steps.
pub(crate) type TwoHops = [RelationId; 2];

/// A path between the ends of a pair.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Path {
    /// The relations on the way: one or two.
    pub by: Vec<RelationId>,
    /// The entity in the middle, if there are two.
    pub over: Option<EntityId>,
}

/// The edges without those of the relation that is asked for: no evidence about a fact uses the fact.
///
/// In meta-training the relation of a task is an edge of the graph at the other tasks, and hidden at its own.
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

    /// The paths of one and two steps between the ends of a pair.
    #[must_use]
    pub fn paths(&self, pair: Pair) -> Vec<Path> {
        let direct = self.joining(pair.head, pair.tail).map(|by| Path { by: vec![by], over: None });
        let mut found: Vec<Path> = direct.collect();
        self.each_two_hops(pair, |by, over| found.push(Path { by: by.to_vec(), over: Some(over) }));
        found
    }

    /// The pairs of relations that lead from head to tail over some entity, each once.
    pub(crate) fn two_hops(&self, pair: Pair) -> Vec<TwoHops> {
        let mut found = Vec::new();
        self.each_two_hops(pair, |by, _| found.push(by));
        found.sort_unstable();
        found.dedup();
        found
    }

    fn each_two_hops(&self, pair: Pair, mut hand: impl FnMut(TwoHops, EntityId)) {
        let mut into: Vec<(EntityId, RelationId)> = self
            .edges(pair.tail)
            .take(MOST_EDGES)
            .map(|edge| (edge.entity, edge.relation.inverse()))
            .collect();
        into.sort_unstable();
        for first in self.edges(pair.head).take(MOST_EDGES) {
            if first.entity == pair.tail || first.entity == pair.head {
                continue;
            }
            let start = into.partition_point(|&(middle, _)| middle < first.entity);
            for &(_, second) in into[start..].iter().take_while(|&&(middle, _)| middle == first.entity) {
                hand([first.relation, second], first.entity);
            }
        }
    }

    /// The entities that two steps lead to, ascending, each once.
    pub(crate) fn reached(&self, head: EntityId, [first, second]: TwoHops) -> Vec<EntityId> {
        let mut reached = Vec::new();
        for middle in self.by(head, first).iter().take(MOST_FIRST).map(|edge| edge.entity) {
            let edges = self.by(middle, second);
            if middle != head && edges.len() <= MOST_SECOND {
                reached.extend(edges.iter().map(|edge| edge.entity).filter(|&tail| tail != head));
            }
        }
        reached.sort_unstable();
        reached.dedup();
        reached
    }
}

/// The edges by one relation, among edges that are sorted by relation.
fn group(edges: &[Edge], relation: RelationId) -> &[Edge] {
    let first = edges.partition_point(|edge| edge.relation < relation);
    let count = edges[first..].partition_point(|edge| edge.relation == relation);
    &edges[first..first + count]
}

#[cfg(test)]
mod tests {
    use super::*;
    use rana_graph::{Duplicates, GraphBuilder};

    #[test]
    fn one_and_two_steps_in_any_direction_but_not_the_answer_itself() {
        let mut builder = GraphBuilder::new(Duplicates::Remove);
        for (head, relation, tail) in [
            ("ann", "knows", "bob"),
            ("bob", "likes", "ann"),
            ("ann", "in", "rome"),
            ("bob", "in", "rome"),
            ("ann", "asked", "bob"),
            ("ann", "asked", "rome"),
        ] {
            builder.add_named(head, relation, tail);
        }
        let graph = builder.finish();
        let id = |name: &str| graph.entity(name).unwrap();
        let pair = Pair { head: id("ann"), tail: id("bob") };
        let [knows, likes, lies, asked] =
            ["knows", "likes", "in", "asked"].map(|r| graph.relation(r).unwrap());
        let edges = VisibleEdges::without(&Arc::new(EdgeIndex::background(&graph)), Some(asked));
        let mut found: Vec<Vec<RelationId>> = edges.paths(pair).into_iter().map(|path| path.by).collect();
        found.sort_unstable();
        let mut expected = vec![vec![knows], vec![likes.inverse()], vec![lies, lies.inverse()]];
        expected.sort_unstable();
        assert_eq!(found, expected);
        assert_eq!(edges.two_hops(pair), [[lies, lies.inverse()]]);
        assert_eq!(edges.reached(pair.head, [lies, lies.inverse()]), [pair.tail]);
    }
}
