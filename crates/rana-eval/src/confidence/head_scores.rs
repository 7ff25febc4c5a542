//! [`HeadScores`]: what a learned relation says of every candidate of one head.

use rana_fewshot::AdaptedRelation;
use rana_graph::EntityId;

/// The scores of the candidate tails of one head.
#[derive(Clone, Debug, PartialEq)]
pub struct HeadScores {
    tails: Vec<EntityId>,
    scores: Vec<f32>,
}

impl HeadScores {
    /// Scores all candidates but those that are left out.
    #[must_use]
    pub fn of(
        relation: &dyn AdaptedRelation,
        head: EntityId,
        candidates: &[EntityId],
        left_out: impl Fn(EntityId) -> bool,
    ) -> Self {
        let mut all = vec![0.0; candidates.len()];
        if !candidates.is_empty() {
            relation.scores(&[head], candidates, &mut all);
        }
        let (tails, scores) =
            candidates.iter().copied().zip(all).filter(|&(tail, _)| !left_out(tail)).unzip();
        Self { tails, scores }
    }

    /// The same but for some tails.
    #[must_use]
    pub fn without(&self, left_out: impl Fn(EntityId) -> bool) -> Self {
        let all = self.tails.iter().copied().zip(self.scores.iter().copied());
        let (tails, scores) = all.filter(|&(tail, _)| !left_out(tail)).unzip();
        Self { tails, scores }
    }

    /// How many candidates there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tails.len()
    }

    /// Whether nothing can be answered.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tails.is_empty()
    }

    /// The best `top` tails with their scores, falling; equal scores in the order of ids. No number is worse than any.
    #[must_use]
    pub fn best(&self, top: usize) -> Vec<(EntityId, f32)> {
        let number = |at: usize| if self.scores[at].is_nan() { f32::NEG_INFINITY } else { self.scores[at] };
        let order = |&one: &usize, &other: &usize| {
            number(other).total_cmp(&number(one)).then(self.tails[one].cmp(&self.tails[other]))
        };
        let mut places: Vec<usize> = (0..self.tails.len()).collect();
        if top < places.len() {
            places.select_nth_unstable_by(top, order);
            places.truncate(top);
        }
        places.sort_unstable_by(order);
        places.into_iter().map(|at| (self.tails[at], number(at))).collect()
    }

    /// How many tails score higher.
    #[must_use]
    pub fn above(&self, score: f32) -> usize {
        self.scores.iter().filter(|&&other| other > score).count()
    }

    /// The scores of some tails, in no order; those that are no candidates are passed by.
    pub(super) fn of_tails(&self, is_it: impl Fn(EntityId) -> bool) -> Vec<f32> {
        let all = self.tails.iter().zip(&self.scores);
        all.filter(|&(&tail, score)| is_it(tail) && !score.is_nan()).map(|(_, &score)| score).collect()
    }

    /// The logarithm of the sum of all `exp(temperature · score)`.
    pub(super) fn log_sum(&self, temperature: f64) -> f64 {
        let numbers = || self.scores.iter().filter(|score| !score.is_nan()).map(|&score| f64::from(score));
        let most = numbers().fold(f64::NEG_INFINITY, f64::max);
        if most.is_infinite() {
            return most;
        }
        let sum: f64 = numbers().map(|score| (temperature * (score - most)).exp()).sum();
        temperature * most + sum.ln()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn scores(values: &[f32]) -> HeadScores {
        HeadScores { tails: (0..values.len() as u32).map(EntityId).collect(), scores: values.to_vec() }
    }

    #[test]
    fn ties_fall_in_the_order_of_ids_and_no_number_comes_last() {
        let best = scores(&[1.0, f32::NAN, 2.0, 1.0]).best(4);
        let tails: Vec<u32> = best.iter().map(|(tail, _)| tail.0).collect();
        assert_eq!(tails, [2, 0, 3, 1]);
    }

    proptest! {
        #[test]
        fn the_best_are_the_beginning_of_all(
            values in prop::collection::vec(prop::sample::select(vec![-1.0_f32, 0.0, 0.5, 2.0]), 0..40),
            top in 0_usize..45,
        ) {
            let all = scores(&values).best(values.len());
            prop_assert!(all.is_sorted_by(|one, other| one.1 > other.1 || (one.1 == other.1 && one.0 < other.0)));
            prop_assert_eq!(&scores(&values).best(top)[..], &all[..top.min(all.len())]);
        }
    }
}
