//! [`Path`]: the paths of one and two steps through the visible edges.
//!
//! Rules, evidence and explanations all find their paths here, with the same edges and the same limits, so that a
//! reason never names a path that the score did not see.

use rana_graph::{EntityId, Pair, RelationId};

use super::visible_edges::VisibleEdges;

/// Edges of an entity that are looked at when paths between a pair are searched.
const MOST_EDGES: usize = 1000;
/// Edges of a head that the first step of a path follows.
const MOST_FIRST: usize = 200;
/// A middle entity with more edges than this by the second relation is skipped: it reaches too many tails to say anything.
const MOST_SECOND: usize = 2000;

/// The relations of a path of two steps.
pub type TwoHops = [RelationId; 2];

/// A path between the ends of a pair.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Path {
    /// The relations on the way: one or two.
    pub by: Vec<RelationId>,
    /// The entity in the middle, if there are two.
    pub over: Option<EntityId>,
}

impl VisibleEdges {
    /// The paths of one and two steps between the ends of a pair.
    #[must_use]
    pub fn paths(&self, pair: Pair) -> Vec<Path> {
        let direct = self.joining(pair.head, pair.tail).map(|by| Path { by: vec![by], over: None });
        let mut found: Vec<Path> = direct.collect();
        self.each_two_hops(pair, |by, over| found.push(Path { by: by.to_vec(), over: Some(over) }));
        found
    }

    /// The pairs of relations that lead from head to tail over some entity, each once.
    #[must_use]
    pub fn two_hops(&self, pair: Pair) -> Vec<TwoHops> {
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
    #[must_use]
    pub fn reached(&self, head: EntityId, [first, second]: TwoHops) -> Vec<EntityId> {
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::paths::EdgeIndex;
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
