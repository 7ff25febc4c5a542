//! [`TransferDistance`]: the distance of MTransD, between a pair projected by transfer vectors.
//!
//! ```text
//! x⊥ = x + (x_p · x) r_p,   difference = h⊥ + R − t⊥
//! ```
//! The row of an entity is its vector, then its transfer vector. A relation is `[R; r_p]`, or `[R; r_p; h_p; t_p]` where
//! the transfer vectors of entities are those of the first support pair.

use super::config::{EntityTransfers, TransferStep};
use crate::real::{Real, add_scaled, dot};
use crate::relation_meta::{PairDistance, PairGradients};

/// The distance of MTransD.
#[derive(Clone, Copy, Debug)]
pub(super) struct TransferDistance {
    pub(super) entity_transfers: EntityTransfers,
    pub(super) step: TransferStep,
    pub(super) is_training: bool,
}

/// The two ends of a pair.
#[derive(Clone, Copy)]
pub(super) enum End {
    Head,
    Tail,
}

impl TransferDistance {
    /// The vectors of a relation.
    pub(super) fn vectors(self) -> usize {
        match self.entity_transfers {
            EntityTransfers::Own => 2,
            EntityTransfers::FirstSupport => 4,
        }
    }

    /// The vector of an entity, and the transfer vector that projects it.
    fn split<'r, T: Real>(self, row: &'r [T], relation: &'r [T], end: End) -> (&'r [T], &'r [T]) {
        let dim = row.len() / 2;
        let (vector, own) = row.split_at(dim);
        match (self.entity_transfers, end) {
            (EntityTransfers::Own, _) => (vector, own),
            (EntityTransfers::FirstSupport, End::Head) => (vector, &relation[2 * dim..3 * dim]),
            (EntityTransfers::FirstSupport, End::Tail) => (vector, &relation[3 * dim..]),
        }
    }

    /// An entity at one end of a pair, projected.
    pub(super) fn project<T: Real>(self, row: &[T], relation: &[T], end: End) -> Vec<T> {
        let (vector, transfer) = self.split(row, relation, end);
        let mut projected = vector.to_vec();
        add_scaled(&mut projected, dot(vector, transfer), &relation[vector.len()..2 * vector.len()]);
        projected
    }
}

impl<T: Real> PairDistance<T> for TransferDistance {
    fn difference(&self, head: &[T], relation: &[T], tail: &[T]) -> Vec<T> {
        let mut difference = self.project(head, relation, End::Head);
        add_scaled(&mut difference, T::ONE, &relation[..head.len() / 2]);
        add_scaled(&mut difference, -T::ONE, &self.project(tail, relation, End::Tail));
        difference
    }

    fn add_gradients(
        &self,
        [head, relation, tail]: [&[T]; 3],
        factor: T,
        at_difference: &[T],
        to: &mut PairGradients<'_, T>,
    ) {
        let dim = head.len() / 2;
        let slope = dot(at_difference, &relation[dim..2 * dim]);
        let (at_translation, at_transfers) = to.relation.split_at_mut(dim);
        add_scaled(at_translation, factor, at_difference);
        let (at_relation, at_ends) = at_transfers.split_at_mut(dim);
        let ends = [(head, End::Head, factor), (tail, End::Tail, -factor)];
        for (number, (row, end, factor)) in ends.into_iter().enumerate() {
            let (vector, transfer) = self.split(row, relation, end);
            add_scaled(at_relation, factor * dot(vector, transfer), at_difference);
            if self.entity_transfers == EntityTransfers::FirstSupport {
                add_scaled(&mut at_ends[number * dim..(number + 1) * dim], factor * slope, vector);
            }
            if let Some(rows) = &mut to.ends {
                let (at_vector, at_own) = rows[number].split_at_mut(dim);
                add_scaled(at_vector, factor, at_difference);
                add_scaled(at_vector, factor * slope, transfer);
                if self.entity_transfers == EntityTransfers::Own {
                    add_scaled(at_own, factor * slope, vector);
                }
            }
        }
    }

    fn inner_direction(&self, gradient: &mut [T]) {
        if self.step == TransferStep::TrainingOnly && !self.is_training {
            let dim = gradient.len() / self.vectors();
            gradient[dim..].fill(T::ZERO);
        }
    }
}
