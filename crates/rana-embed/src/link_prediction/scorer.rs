//! [`LinkScorer`]: scores the answers of queries. [`Vectors`] implements it.

use std::ops::Range;

use super::query::LinkQuery;
use crate::side::Side;
use crate::similarity::Blocks;
use crate::vectors::Vectors;

/// Scores how plausible answers are. A higher score is more plausible.
pub trait LinkScorer: Sync {
    /// The number of entities: the candidates of every query.
    fn entities(&self) -> usize;

    /// The number of relations, without inverses.
    fn relations(&self) -> usize;

    /// Scores each candidate as the answer of each query, into `out[query * candidates.len() + candidate]`.
    ///
    /// A score must depend only on its query and its candidate, to the last bit, and not on the rest of the block.
    /// The evaluation checks this where it can.
    fn scores(&self, queries: &[LinkQuery], candidates: Range<usize>, out: &mut [f32]);

    /// The same, faster and less exact, for instance with a matrix product. Returns the largest possible difference
    /// from [`scores`](Self::scores).
    ///
    /// Candidates within that difference of the right answer are scored again exactly, so the ranks are always those
    /// of [`scores`](Self::scores).
    fn approximate_scores(&self, queries: &[LinkQuery], candidates: Range<usize>, out: &mut [f32]) -> f32 {
        self.scores(queries, candidates, out);
        0.0
    }
}

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
