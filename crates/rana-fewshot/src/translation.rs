//! [`Translation`]: a relation as one vector between entity rows.

use rana_embed::{Blocks, Norm, Similarity};
use rana_graph::EntityId;

use crate::model::AdaptedRelation;

/// A relation that leads from `h` to `h + R`: a tail is the better the closer it is to that.
pub struct Translation<F> {
    /// The row of an entity.
    pub rows: F,
    /// How distances are measured.
    pub norm: Norm,
    /// R.
    pub relation: Vec<f32>,
}

impl<'v, F: Fn(EntityId) -> &'v [f32] + Send + Sync> AdaptedRelation for Translation<F> {
    fn scores(&self, heads: &[EntityId], candidates: &[EntityId], out: &mut [f32]) {
        let dim = self.relation.len();
        let rows = |entities: &[EntityId]| {
            let mut rows = Vec::with_capacity(entities.len() * dim);
            entities.iter().for_each(|&entity| rows.extend_from_slice((self.rows)(entity)));
            rows
        };
        let mut queries = rows(heads);
        for query in queries.chunks_exact_mut(dim) {
            for (value, relation) in query.iter_mut().zip(&self.relation) {
                *value += relation;
            }
        }
        let similarity = match self.norm {
            Norm::L1 => Similarity::L1,
            Norm::L2 => Similarity::L2,
        };
        let shape = Blocks::one(heads.len(), candidates.len(), dim);
        similarity.scores(shape, &queries, &rows(candidates), out);
    }
}
