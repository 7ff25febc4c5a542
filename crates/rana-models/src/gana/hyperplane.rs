//! [`Hyperplane`]: the distance of MTransH, between the projections of a pair onto the hyperplane of its relation.
//!
//! ```text
//! x⊥ = x − (w · x) w,   difference = h⊥ + R − t⊥
//! ```
//! A relation is `[R; w]`. As the projection is linear, that of `h − t` is enough.

use super::config::{NormalLength, NormalStep};
use crate::real::{Real, add_scaled, dot};
use crate::relation_meta::{PairDistance, PairGradients};

/// The distance of MTransH.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hyperplane {
    pub(super) length: NormalLength,
    pub(super) step: NormalStep,
    pub(super) is_training: bool,
}

impl Hyperplane {
    /// One over the squared length that `(w · x) w` is divided by.
    fn over<T: Real>(self, normal: &[T]) -> T {
        match self.length {
            NormalLength::Free => T::ONE,
            NormalLength::Unit => {
                let square = dot(normal, normal);
                // Without a direction there is no hyperplane to project onto.
                if square > T::ZERO { T::ONE / square } else { T::ZERO }
            }
        }
    }

    /// The projection of a vector.
    pub(super) fn project<T: Real>(self, normal: &[T], vector: &mut [T]) {
        let along = dot(normal, vector) * self.over(normal);
        add_scaled(vector, -along, normal);
    }
}

fn subtracted<T: Real>(head: &[T], tail: &[T]) -> Vec<T> {
    head.iter().zip(tail).map(|(&head, &tail)| head - tail).collect()
}

impl<T: Real> PairDistance<T> for Hyperplane {
    fn difference(&self, head: &[T], relation: &[T], tail: &[T]) -> Vec<T> {
        let (translation, normal) = relation.split_at(head.len());
        let mut difference = subtracted(head, tail);
        self.project(normal, &mut difference);
        add_scaled(&mut difference, T::ONE, translation);
        difference
    }

    fn add_gradients(
        &self,
        [head, relation, tail]: [&[T]; 3],
        factor: T,
        at_difference: &[T],
        to: &mut PairGradients<'_, T>,
    ) {
        let normal = &relation[head.len()..];
        let (at_translation, at_normal) = to.relation.split_at_mut(head.len());
        add_scaled(at_translation, factor, at_difference);
        let over = self.over(normal);
        let between = subtracted(head, tail);
        let (along, slope) = (dot(normal, &between) * over, dot(normal, at_difference) * over);
        add_scaled(at_normal, -factor * slope, &between);
        add_scaled(at_normal, -factor * along, at_difference);
        if self.length == NormalLength::Unit {
            add_scaled(at_normal, factor * (T::ONE + T::ONE) * along * slope, normal);
        }
        if let Some([at_head, at_tail]) = &mut to.ends {
            for (at, factor) in [(at_head, factor), (at_tail, -factor)] {
                add_scaled(at, factor, at_difference);
                add_scaled(at, -factor * slope, normal);
            }
        }
    }

    fn inner_direction(&self, gradient: &mut [T]) {
        let (at_translation, at_normal) = gradient.split_at_mut(gradient.len() / 2);
        match self.step {
            NormalStep::Own => {}
            NormalStep::RelationGradient if self.is_training => at_normal.copy_from_slice(at_translation),
            NormalStep::RelationGradient => at_normal.fill(T::ZERO),
        }
    }
}
