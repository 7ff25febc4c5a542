//! [`PairDistance`]: how far a tail is from where a relation leads.

use crate::real::{Real, add_scaled};

/// How far a tail is from where a relation leads: the length of a difference, which is `h + R − t` or takes its place.
///
/// What a task knows of its relation stands in one vector: the translation `R` first, then what else a model has.
pub(crate) trait PairDistance<T: Real>: Sync {
    /// The difference.
    fn difference(&self, head: &[T], relation: &[T], tail: &[T]) -> Vec<T>;

    /// Adds `factor` times the gradients at head, relation and tail, given that at the difference.
    fn add_gradients(&self, of: [&[T]; 3], factor: T, at_difference: &[T], to: &mut PairGradients<'_, T>);

    /// Turns the gradient of the support loss at the relation into the direction of the inner step.
    fn inner_direction(&self, _gradient: &mut [T]) {}
}

/// Where the gradients of a pair go.
pub(crate) struct PairGradients<'g, T> {
    pub(crate) relation: &'g mut [T],
    /// The rows of head and tail, if they learn.
    pub(crate) ends: Option<[&'g mut [T]; 2]>,
}

/// `h + R − t`, as in MetaR.
pub(crate) struct Translated;

impl<T: Real> PairDistance<T> for Translated {
    fn difference(&self, head: &[T], relation: &[T], tail: &[T]) -> Vec<T> {
        let mut difference = head.to_vec();
        add_scaled(&mut difference, T::ONE, relation);
        add_scaled(&mut difference, -T::ONE, tail);
        difference
    }

    fn add_gradients(&self, _: [&[T]; 3], factor: T, at_difference: &[T], to: &mut PairGradients<'_, T>) {
        add_scaled(to.relation, factor, at_difference);
        if let Some([head, tail]) = &mut to.ends {
            add_scaled(head, factor, at_difference);
            add_scaled(tail, -factor, at_difference);
        }
    }
}
