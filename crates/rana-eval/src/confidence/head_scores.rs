//! [`HeadScores`]: what a learned relation says of every candidate of one head.

use rana_embed::elementary_functions::exp;
use rana_fewshot::{AdaptedRelation, CandidatePlaces};
use rana_graph::EntityId;

/// Scores that are looked at together: mostly none of them is among the best, or the whole block is added up.
const BLOCK: usize = 64;
/// Larger leads count as this one.
const WIDEST_LEAD: f64 = 30.0;

/// Candidate tails in the order they are scored in, and where each of them stands.
#[derive(Clone, Debug)]
pub struct Tails {
    ids: Vec<EntityId>,
    places: CandidatePlaces,
}

impl Tails {
    /// Candidates in any order.
    #[must_use]
    pub fn new(ids: Vec<EntityId>) -> Self {
        let places = CandidatePlaces::new(&ids);
        Self { ids, places }
    }

    /// The candidates, in the order they were given.
    #[must_use]
    pub fn ids(&self) -> &[EntityId] {
        &self.ids
    }

    /// Every place of a tail.
    fn places(&self, tail: EntityId) -> impl Iterator<Item = usize> {
        self.places.of(&self.ids, tail)
    }
}

/// The scores of the candidate tails of one head.
#[derive(Clone, Debug)]
pub struct HeadScores<'c> {
    tails: &'c Tails,
    /// Minus infinity for what is left out or has no number.
    scores: Vec<f32>,
}

impl<'c> HeadScores<'c> {
    /// Scores all candidates.
    #[must_use]
    pub fn of(relation: &dyn AdaptedRelation, head: EntityId, tails: &'c Tails) -> Self {
        let mut scores = vec![0.0; tails.ids.len()];
        if !scores.is_empty() {
            relation.scores(&[head], &tails.ids, &mut scores);
        }
        for score in &mut scores {
            *score = if score.is_nan() { f32::NEG_INFINITY } else { *score };
        }
        Self { tails, scores }
    }

    /// The same but for some tails; those that are no candidates are passed by.
    #[must_use]
    pub fn without(mut self, left_out: impl IntoIterator<Item = EntityId>) -> Self {
        for tail in left_out {
            self.tails.places(tail).for_each(|place| self.scores[place] = f32::NEG_INFINITY);
        }
        self
    }

    /// The best `top` tails with their scores, falling; equal scores in the order of ids. What has no number is no
    /// answer.
    #[must_use]
    pub fn best(&self, top: usize) -> Vec<(EntityId, f32)> {
        if top == 0 {
            return Vec::new();
        }
        let order = |one: &(EntityId, f32), other: &(EntityId, f32)| {
            other.1.total_cmp(&one.1).then(one.0.cmp(&other.0))
        };
        // All that may be among the best so far, and the score without which nothing is.
        let mut best: Vec<(EntityId, f32)> = Vec::new();
        let mut least = f32::MIN;
        for (tails, scores) in self.tails.ids.chunks(BLOCK).zip(self.scores.chunks(BLOCK)) {
            if !scores.iter().fold(false, |any, &score| any | (score >= least)) {
                continue;
            }
            let near = tails.iter().copied().zip(scores.iter().copied());
            best.extend(near.filter(|&(_, score)| score >= least));
            if best.len() >= top.saturating_add(BLOCK) {
                best.select_nth_unstable_by(top - 1, order);
                best.truncate(top);
                least = best[top - 1].1;
            }
        }
        best.sort_unstable_by(order);
        best.truncate(top);
        best
    }

    /// How many tails score higher.
    #[must_use]
    pub fn above(&self, score: f32) -> usize {
        self.scores.iter().filter(|&&other| other > score).count()
    }

    /// How far a score stands out from those of all candidates, which must be its rivals only: the logarithm of the odds
    /// that it would have if it or one of them had to be right.
    #[must_use]
    pub fn lead(&self, score: f32, temperature: f64) -> f64 {
        let lead = temperature * f64::from(score) - self.log_sum(temperature);
        if lead.is_nan() { -WIDEST_LEAD } else { lead.clamp(-WIDEST_LEAD, WIDEST_LEAD) }
    }

    /// The scores of some tails; those that are left out, or no candidates, are passed by.
    pub(super) fn of_tails(&self, tails: &[EntityId]) -> Vec<f32> {
        let places = tails.iter().flat_map(|&tail| self.tails.places(tail));
        places.map(|place| self.scores[place]).filter(|score| score.is_finite()).collect()
    }

    /// The logarithm of the sum of all `exp(temperature · score)`.
    pub(super) fn log_sum(&self, temperature: f64) -> f64 {
        // One running value for each place of a block: nothing waits for the number before it.
        let mut most = [f32::NEG_INFINITY; BLOCK];
        for block in self.scores.chunks(BLOCK) {
            for (most, &score) in most.iter_mut().zip(block) {
                *most = if score > *most { score } else { *most };
            }
        }
        let most = most.into_iter().fold(f32::NEG_INFINITY, f32::max);
        if most.is_infinite() {
            return most.into();
        }
        let slope = temperature as f32;
        let mut sums = [0.0_f32; BLOCK];
        for block in self.scores.chunks(BLOCK) {
            for (sum, &score) in sums.iter_mut().zip(block) {
                *sum += exp(slope * (score - most));
            }
        }
        let sum: f64 = sums.into_iter().map(f64::from).sum();
        temperature * f64::from(most) + sum.ln()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn tails(count: usize) -> Tails {
        Tails::new((0..count as u32).map(EntityId).collect())
    }

    fn scores<'c>(tails: &'c Tails, values: &[f32]) -> HeadScores<'c> {
        HeadScores { tails, scores: values.to_vec() }
    }

    #[test]
    fn ties_fall_in_the_order_of_ids_and_what_is_left_out_or_no_number_is_no_answer() {
        struct Broken;
        impl AdaptedRelation for Broken {
            fn scores(&self, _: &[EntityId], _: &[EntityId], out: &mut [f32]) {
                out.copy_from_slice(&[1.0, f32::NAN, 2.0, 1.0, 3.0, 3.0]);
            }
        }
        let tails = Tails::new([8, 5, 9, 2, 4, 4].map(EntityId).to_vec());
        let best = HeadScores::of(&Broken, EntityId(0), &tails).without([EntityId(4), EntityId(7)]).best(4);
        assert_eq!(best, [(EntityId(9), 2.0), (EntityId(2), 1.0), (EntityId(8), 1.0)]);
    }

    proptest! {
        #[test]
        fn the_best_are_the_beginning_of_all(
            values in prop::collection::vec(prop::sample::select(vec![-1.0_f32, 0.0, 0.5, 2.0, 2.5]), 0..300),
            top in 0_usize..320,
        ) {
            let tails = tails(values.len());
            let all = scores(&tails, &values).best(values.len());
            prop_assert_eq!(all.len(), values.len());
            prop_assert!(all.is_sorted_by(|one, other| one.1 > other.1 || (one.1 == other.1 && one.0 < other.0)));
            prop_assert_eq!(&scores(&tails, &values).best(top)[..], &all[..top.min(all.len())]);
        }

        #[test]
        fn the_sum_is_that_of_the_definition(
            values in prop::collection::vec(-40.0_f32..0.0, 1..300),
            temperature in 0.1_f64..12.0,
        ) {
            let all = tails(values.len());
            let sum: f64 = values.iter().map(|&value| (temperature * f64::from(value)).exp()).sum();
            // Where the definition has numbers to add up.
            prop_assume!(sum > 1e-200);
            let found = scores(&all, &values).log_sum(temperature);
            prop_assert!((found - sum.ln()).abs() < 2e-5, "{found} for {}", sum.ln());
        }
    }
}
