//! [`Kinds`]: neighbours that attention cannot tell apart.
//!
//! Eq. 2 knows a neighbour by the relation to it alone, and entities often have many neighbours by the same
//! relation: what attention and W3 make of a relation is computed once for all of them.

use rana_graph::Edge;

/// Some neighbours alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kind {
    /// The relation to them, by its directed id.
    pub(super) relation: usize,
    /// The first of them.
    pub(super) first: usize,
}

/// The neighbours of one entity by kind.
#[derive(Debug)]
pub(super) struct Kinds {
    kinds: Vec<Kind>,
    /// The kind of each neighbour.
    of: Vec<usize>,
    /// For each relation the kind it last was; true if that kind is of this relation now.
    places: Vec<usize>,
}

impl Kinds {
    /// Of no neighbours yet, in a graph of so many directed relations.
    pub(super) fn new(relations: usize) -> Self {
        Self { kinds: Vec::new(), of: Vec::new(), places: vec![0; relations] }
    }

    /// Looks at the neighbours of an entity; if attention looks at them too, each is of its own kind.
    pub(super) fn set(&mut self, edges: &[Edge], tells_all_apart: bool) {
        self.kinds.clear();
        self.of.clear();
        for (first, edge) in edges.iter().enumerate() {
            let relation = edge.relation.index();
            let last = self.places[relation];
            let is_known = self.kinds.get(last).is_some_and(|kind| kind.relation == relation);
            if tells_all_apart || !is_known {
                self.places[relation] = self.kinds.len();
                self.kinds.push(Kind { relation, first });
            }
            self.of.push(self.places[relation]);
        }
    }

    /// The kinds, in the order of their first neighbours.
    #[inline(always)]
    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = Kind> + '_ {
        self.kinds.iter().copied()
    }

    /// One of them, if there are so many.
    #[inline(always)]
    pub(super) fn get(&self, number: usize) -> Option<Kind> {
        self.kinds.get(number).copied()
    }

    /// The kind of each neighbour.
    #[inline(always)]
    pub(super) fn of(&self) -> &[usize] {
        &self.of
    }
}

#[cfg(test)]
mod tests {
    use rana_graph::{EntityId, RelationId};

    use super::*;

    #[test]
    fn neighbours_by_one_relation_are_alike_unless_all_are_told_apart() {
        let edges = [3, 1, 3, 0, 1].map(|id| Edge { relation: RelationId(id), entity: EntityId(id) });
        let kind = |relation, first| Kind { relation, first };
        let mut kinds = Kinds::new(4);
        for _ in 0..2 {
            kinds.set(&edges, false);
            assert_eq!(kinds.iter().collect::<Vec<_>>(), [kind(3, 0), kind(1, 1), kind(0, 3)]);
            assert_eq!(kinds.of(), [0, 1, 0, 2, 1]);
            assert_eq!((kinds.get(2), kinds.get(3)), (Some(kind(0, 3)), None));
            kinds.set(&edges[3..], true);
            assert_eq!(kinds.iter().collect::<Vec<_>>(), [kind(0, 0), kind(1, 1)]);
            kinds.set(&edges, true);
            assert_eq!(kinds.of(), [0, 1, 2, 3, 4]);
        }
    }
}
