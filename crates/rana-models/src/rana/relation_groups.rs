//! [`RelationGroups`]: groups of neighbours with the same attention.
//!
//! In eq. 2 a neighbour is represented only by the relation to it, and an entity often has many neighbours with the
//! same relation. Attention and W3 are computed once for each group.

use rana_graph::Edge;

/// Neighbours with the same relation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RelationGroup {
    /// The relation to them, by its directed id.
    pub(super) relation: usize,
    /// The first of them.
    pub(super) first: usize,
}

/// The neighbours of one entity by group.
#[derive(Debug)]
pub(super) struct RelationGroups {
    groups: Vec<RelationGroup>,
    /// The group of each neighbour.
    of: Vec<usize>,
    /// For each relation the group it last was; true if that group is of this relation now.
    places: Vec<usize>,
}

impl RelationGroups {
    /// Starts without neighbours, for a graph with this many directed relations.
    pub(super) fn new(relations: usize) -> Self {
        Self { groups: Vec::new(), of: Vec::new(), places: vec![0; relations] }
    }

    /// Groups the neighbours of an entity. With `tells_all_apart` each is its own group.
    pub(super) fn set(&mut self, edges: &[Edge], tells_all_apart: bool) {
        self.groups.clear();
        self.of.clear();
        for (first, edge) in edges.iter().enumerate() {
            let relation = edge.relation.index();
            let last = self.places[relation];
            let is_known = self.groups.get(last).is_some_and(|group| group.relation == relation);
            if tells_all_apart || !is_known {
                self.places[relation] = self.groups.len();
                self.groups.push(RelationGroup { relation, first });
            }
            self.of.push(self.places[relation]);
        }
    }

    /// The groups, in the order of their first neighbours.
    #[inline(always)]
    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = RelationGroup> + '_ {
        self.groups.iter().copied()
    }

    /// The group with this number, if there is one.
    #[inline(always)]
    pub(super) fn get(&self, number: usize) -> Option<RelationGroup> {
        self.groups.get(number).copied()
    }

    /// The group of each neighbour.
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
        let group = |relation, first| RelationGroup { relation, first };
        let mut groups = RelationGroups::new(4);
        for _ in 0..2 {
            groups.set(&edges, false);
            assert_eq!(groups.iter().collect::<Vec<_>>(), [group(3, 0), group(1, 1), group(0, 3)]);
            assert_eq!(groups.of(), [0, 1, 0, 2, 1]);
            assert_eq!((groups.get(2), groups.get(3)), (Some(group(0, 3)), None));
            groups.set(&edges[3..], true);
            assert_eq!(groups.iter().collect::<Vec<_>>(), [group(0, 0), group(1, 1)]);
            groups.set(&edges, true);
            assert_eq!(groups.of(), [0, 1, 2, 3, 4]);
        }
    }
}
