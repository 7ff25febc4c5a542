//! [`Translation`]: a relation as one vector between entity rows.

use std::borrow::Cow;
use std::sync::Arc;

use rana_embed::{Blocks, Norm, Similarity, Table};
use rana_fewshot::AdaptedRelation;
use rana_graph::EntityId;

use crate::gathered_rows::{Gathered, gather};
use crate::training::Parameters;

/// Where the rows of entities are.
pub(crate) trait EntityTable: Send + Sync {
    /// The row of an entity as a tail.
    fn entity(&self, entity: EntityId) -> Cow<'_, [f32]>;

    /// The row of an entity as a head; mostly the same.
    fn head(&self, entity: EntityId) -> Cow<'_, [f32]> {
        self.entity(entity)
    }
}

impl EntityTable for Arc<Parameters> {
    fn entity(&self, entity: EntityId) -> Cow<'_, [f32]> {
        Cow::Borrowed(self.rows.row(entity))
    }
}

impl EntityTable for Table {
    fn entity(&self, entity: EntityId) -> Cow<'_, [f32]> {
        Cow::Borrowed(self.row(entity.index()))
    }
}

/// A relation that leads from `h` to `h + R`: a tail is the better the closer it is to that.
pub(crate) struct Translation<E> {
    rows: E,
    norm: Norm,
    relation: Vec<f32>,
    /// The rows of the candidates that are asked for first, which are mostly those that are asked for again.
    gathered: Gathered,
}

impl<E: EntityTable> Translation<E> {
    /// The translation by `relation` between some rows, distances measured by `norm`.
    pub(crate) fn new(rows: E, norm: Norm, relation: Vec<f32>) -> Self {
        Self { rows, norm, relation, gathered: Gathered::default() }
    }
}

impl<E: EntityTable> AdaptedRelation for Translation<E> {
    fn scores(&self, heads: &[EntityId], candidates: &[EntityId], out: &mut [f32]) {
        let dim = self.relation.len();
        let mut queries = gather(heads, |head| self.rows.head(head));
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
        let candidates = self.gathered.rows(candidates, |tail| self.rows.entity(tail));
        similarity.scores(shape, &queries, &candidates, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_gathered_first_does_not_show() {
        let table: Vec<f32> = (0..300).map(|at| (at * 37 % 101) as f32).collect();
        let table = Table::new(100, 3, table).unwrap();
        let translation = || Translation::new(table.clone(), Norm::L2, vec![1.0; 3]);
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
