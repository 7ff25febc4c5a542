//! [`Translation`]: a relation as one vector between entity rows.

use rana_embed::{Blocks, Norm, Similarity};
use rana_graph::EntityId;

use crate::gathered::{Gathered, gather};
use crate::model::AdaptedRelation;

/// A relation that leads from `h` to `h + R`: a tail is the better the closer it is to that.
pub struct Translation<F> {
    /// The row of an entity.
    pub rows: F,
    /// How distances are measured.
    pub norm: Norm,
    /// R.
    pub relation: Vec<f32>,
    /// The rows of the candidates that are asked for first, which are mostly those that are asked for again.
    pub gathered: Gathered,
}

impl<'v, F: Fn(EntityId) -> &'v [f32] + Send + Sync> AdaptedRelation for Translation<F> {
    fn scores(&self, heads: &[EntityId], candidates: &[EntityId], out: &mut [f32]) {
        let dim = self.relation.len();
        let mut queries = gather(heads, &self.rows);
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
        let candidates = self.gathered.rows(candidates, &self.rows);
        similarity.scores(shape, &queries, &candidates, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_gathered_first_does_not_show() {
        let table: Vec<f32> = (0..300).map(|at| (at * 37 % 101) as f32).collect();
        let rows = |entity: EntityId| &table[3 * entity.index()..][..3];
        let translation =
            || Translation { rows, norm: Norm::L2, relation: vec![1.0; 3], gathered: Gathered::default() };
        let all: Vec<EntityId> = (0..100).map(EntityId).collect();
        let scores = |of: &dyn AdaptedRelation, candidates: &[EntityId]| {
            let mut out = vec![0.0; candidates.len()];
            of.scores(&[EntityId(5)], candidates, &mut out);
            out
        };
        let used = translation();
        for candidates in [&all[..80], &all[20..], &all[..80], &all[3..4]] {
            assert_eq!(scores(&used, candidates), scores(&translation(), candidates));
        }
    }
}
