//! [`Vectors`]: a borrowed view of the rows of a model.

use rana_graph::{EntityId, RelationId};

use crate::model::{ModelKind, Norm};
use crate::side::Side;
use crate::similarity::{Blocks, Similarity};

/// A borrowed view of the rows of a model, in training or in a memory-mapped file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Vectors<'v> {
    /// The score function.
    pub model: ModelKind,
    /// The distance of TransE.
    pub norm: Norm,
    /// Numbers per entity row.
    pub dim: usize,
    /// Whether inverse relations have rows of their own.
    pub inverses: bool,
    /// Entity rows, contiguous.
    pub entities: &'v [f32],
    /// Relation rows, contiguous: by directed id with inverses, by number without.
    pub relations: &'v [f32],
}

impl<'v> Vectors<'v> {
    /// The number of entities.
    #[must_use]
    pub fn entity_count(&self) -> usize {
        self.entities.len() / self.dim
    }

    /// The number of relations, without inverses.
    #[must_use]
    pub fn relation_count(&self) -> usize {
        let rows = self.relations.len() / self.relation_width();
        if self.inverses { rows / 2 } else { rows }
    }

    /// Numbers per relation row.
    #[must_use]
    pub fn relation_width(&self) -> usize {
        self.model.relation_width(self.dim)
    }

    /// The similarity of queries and entity rows.
    #[must_use]
    pub fn similarity(&self) -> Similarity {
        self.model.similarity(self.norm)
    }

    /// The row of an entity.
    ///
    /// # Panics
    /// If the id is out of range.
    #[must_use]
    pub fn entity(&self, entity: EntityId) -> &'v [f32] {
        &self.entities[entity.index() * self.dim..(entity.index() + 1) * self.dim]
    }

    /// The row of a relation; without inverses, that of its forward direction.
    ///
    /// # Panics
    /// If the id is out of range.
    #[must_use]
    pub fn relation(&self, relation: RelationId) -> &'v [f32] {
        let (row, _) = route(self.inverses, relation);
        &self.relations[row * self.relation_width()..(row + 1) * self.relation_width()]
    }

    /// Writes the query for `(anchor, relation, ?)`; for an inverse relation it asks for a head.
    ///
    /// # Panics
    /// If an id is out of range or the query is not [`dim`](Self::dim) wide.
    pub fn query(&self, anchor: EntityId, relation: RelationId, query: &mut [f32]) {
        let (_, side) = route(self.inverses, relation);
        self.model.queries(self.dim, side, self.entity(anchor), self.relation(relation), query);
    }

    /// The score of a fact, by the query for its tail; for an inverse relation, by the query for its head.
    ///
    /// # Panics
    /// If an id is out of range.
    #[must_use]
    pub fn score(&self, head: EntityId, relation: RelationId, tail: EntityId) -> f32 {
        let mut query = vec![0.0; self.dim];
        self.query(head, relation, &mut query);
        let mut score = [0.0];
        self.similarity().scores(Blocks::pairs(1, self.dim), &query, self.entity(tail), &mut score);
        score[0]
    }
}

/// The row of a directed relation, and the side of its queries.
///
/// With inverses every direction has its own row and asks for a tail. Without, the inverse direction asks for the
/// head with the forward row.
pub(crate) fn route(inverses: bool, relation: RelationId) -> (usize, Side) {
    match (inverses, relation.is_inverse()) {
        (true, _) => (relation.index(), Side::Tail),
        (false, false) => (relation.number(), Side::Tail),
        (false, true) => (relation.number(), Side::Head),
    }
}
