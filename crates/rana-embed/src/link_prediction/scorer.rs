//! The vectors of a model as a [`LinkScorer`].

use std::ops::Range;

use super::query::{LinkQuery, LinkScorer};
use crate::side::Side;
use crate::similarity::Blocks;
use crate::vectors::Vectors;

/// Uses the model's own score function. With inverse rows, a head is scored as the tail of the inverse relation.
impl LinkScorer for Vectors<'_> {
    fn entities(&self) -> usize {
        self.entity_count()
    }

    fn relations(&self) -> usize {
        self.relation_count()
    }

    fn scores(&self, queries: &[LinkQuery], candidates: Range<usize>, out: &mut [f32]) {
        let mut rows = vec![0.0; queries.len() * self.dim];
        for (query, row) in queries.iter().zip(rows.chunks_exact_mut(self.dim)) {
            let relation = match query.side {
                Side::Tail => query.relation,
                Side::Head => query.relation.inverse(),
            };
            self.query(query.anchor, relation, row);
        }
        let shape = Blocks::one(queries.len(), candidates.len(), self.dim);
        let entities = &self.entities[candidates.start * self.dim..candidates.end * self.dim];
        self.similarity().scores(shape, &rows, entities, out);
    }
}
