//! [`NeighbourRows`]: over the neighbours of one entity after the other.
//!
//! The rows of neighbours are far apart in memory. While attention computes with those of one entity, those of
//! the next are on their way: a few at a time, for asking for all at once makes the processor wait for them.

use rana_embed::prefetch::fetch;
use rana_graph::{Edge, EntityId, RelationId};

use super::inputs::Inputs;
use super::relation_groups::RelationGroups;

/// An entity, and the relation that is asked for while it is looked at.
pub(super) type AskedEntity = (EntityId, Option<RelationId>);

/// The neighbours of the entity that is looked at, and the rows of the next one's.
pub(super) struct NeighbourRows<'a, T> {
    inputs: Inputs<'a, T>,
    tells_all_apart: bool,
    next: Vec<&'a [T]>,
    neighbours: Neighbours<'a, T>,
}

/// The neighbours of one entity.
pub(super) struct Neighbours<'a, T> {
    pub(super) edges: &'a [Edge],
    pub(super) groups: RelationGroups,
    /// A row for each.
    pub(super) rows: Vec<&'a [T]>,
}

impl<'a, T> NeighbourRows<'a, T> {
    /// Before its first entity. `tells_all_apart` says whether attention looks at neighbours themselves.
    pub(super) fn to(first: AskedEntity, inputs: Inputs<'a, T>, tells_all_apart: bool) -> Self {
        let relations = inputs.relations.len() / inputs.layout.dim;
        let neighbours = Neighbours { edges: &[], groups: RelationGroups::new(relations), rows: Vec::new() };
        let mut this = Self { inputs, tells_all_apart, next: Vec::new(), neighbours };
        this.look_ahead(first);
        this
    }

    /// Moves to the next entity: gives its neighbours, and prefetches rows for the one after it.
    pub(super) fn step(
        &mut self,
        (entity, asked): AskedEntity,
        [next, after]: [Option<AskedEntity>; 2],
    ) -> (&Neighbours<'a, T>, RowsAhead<'_, 'a, T>) {
        let edges = self.inputs.neighbours.of(entity, asked);
        self.neighbours.edges = edges;
        self.neighbours.groups.set(edges, self.tells_all_apart);
        std::mem::swap(&mut self.neighbours.rows, &mut self.next);
        self.next.clear();
        next.into_iter().for_each(|next| self.look_ahead(next));
        after.into_iter().for_each(|(entity, asked)| fetch(self.inputs.neighbours.of(entity, asked)));
        (&self.neighbours, RowsAhead { rows: self.next.iter() })
    }

    fn look_ahead(&mut self, (entity, asked): AskedEntity) {
        self.inputs.rows.append_frozen(self.inputs.neighbours.of(entity, asked), &mut self.next);
    }
}

/// Rows that will be needed soon.
pub(super) struct RowsAhead<'w, 'a, T> {
    rows: std::slice::Iter<'w, &'a [T]>,
}

impl<T> RowsAhead<'_, '_, T> {
    /// Starts to bring some more of them into the cache.
    #[inline(always)]
    pub(super) fn fetch(&mut self, count: usize) {
        self.rows.by_ref().take(count).for_each(|row| fetch(row));
    }
}
