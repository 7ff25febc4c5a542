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

    /// The rows of `count` tails from one on, where they stand one behind the other.
    fn span(&self, _first: EntityId, _count: usize) -> Option<&[f32]> {
        None
    }
}

impl EntityTable for Arc<Parameters> {
    fn entity(&self, entity: EntityId) -> Cow<'_, [f32]> {
        Cow::Borrowed(self.rows.row(entity))
    }

    fn span(&self, first: EntityId, count: usize) -> Option<&[f32]> {
        self.rows.span(first, count)
    }
}

impl EntityTable for Table {
    fn entity(&self, entity: EntityId) -> Cow<'_, [f32]> {
        Cow::Borrowed(self.row(entity.index()))
    }

    fn span(&self, first: EntityId, count: usize) -> Option<&[f32]> {
        Table::span(self, first.index(), count)
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
        let candidates = self.gathered.rows(
            candidates,
            |tail| self.rows.entity(tail),
            |first, count| self.rows.span(first, count),
        );
        similarity.scores(shape, &queries, &candidates, out);
    }

    fn kept_bytes(&self) -> usize {
        self.gathered.kept_bytes()
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
        let odd: Vec<EntityId> = all.iter().copied().filter(|entity| entity.0 % 10 != 3).collect();
        for candidates in [&odd[..80], &all[20..], &odd[5..], &odd[..80], &all[3..4], &all[..80]] {
            assert_eq!(scores(&used, candidates), scores(&translation(), candidates));
        }
    }

    /// A server keeps many relations, and most of them have every entity as a candidate: each had a copy of the table.
    #[test]
    fn rows_that_stand_together_are_not_copied() {
        let table = Table::new(100, 3, (0..300).map(|at| at as f32).collect::<Vec<f32>>()).unwrap();
        let translation = Translation::new(table, Norm::L2, vec![1.0; 3]);
        let all: Vec<EntityId> = (0..100).map(EntityId).collect();
        let mut out = vec![0.0; 100];
        translation.scores(&[EntityId(5)], &all, &mut out);
        translation.scores(&[EntityId(5)], &all[10..90], &mut out[..80]);
        assert_eq!(translation.kept_bytes(), 0);
        let odd: Vec<EntityId> = all.into_iter().filter(|entity| entity.0 != 50).collect();
        translation.scores(&[EntityId(5)], &odd, &mut out[..99]);
        assert_eq!(translation.kept_bytes(), 99 * (4 + 12));
    }
}
