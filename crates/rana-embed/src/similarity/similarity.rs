//! [`Similarity`]: compares queries with entity rows, many at a time.
//!
//! The sum of a pair is made in the same order at every position of a block, so a score does not depend on what else
//! is scored with it.

use pulp::{Arch, Simd, WithSimd};

use super::gradients::backward_of;
use super::kernel::{Dot, Kernel, L1, L2, Modulus};
use super::scores::scores_of;
use crate::matmul;

/// How a query is compared with an entity row. A higher score is more similar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Similarity {
    /// The inner product.
    Dot,
    /// Minus the sum of absolute differences.
    L1,
    /// Minus the Euclidean distance.
    L2,
    /// Minus the sum of the moduli of complex differences. Real parts are in the first half of a row.
    Modulus,
}

/// The shape of a batch of comparisons: in each of `groups`, every query is compared with every candidate.
///
/// Queries, candidates and scores are contiguous rows, group after group. The scores of a group have one row per
/// query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blocks {
    /// How many groups there are.
    pub groups: usize,
    /// Queries in each group.
    pub queries: usize,
    /// Candidates in each group.
    pub candidates: usize,
    /// Numbers per row.
    pub dim: usize,
}

impl Blocks {
    /// One group: every query is compared with every candidate.
    #[must_use]
    pub const fn one(queries: usize, candidates: usize, dim: usize) -> Self {
        Self { groups: 1, queries, candidates, dim }
    }

    /// One group per query: each query is compared with one candidate only.
    #[must_use]
    pub const fn pairs(count: usize, dim: usize) -> Self {
        Self { groups: count, queries: 1, candidates: 1, dim }
    }

    /// How many scores there are.
    #[must_use]
    pub const fn scores(&self) -> usize {
        self.groups * self.queries * self.candidates
    }

    fn is_empty(&self) -> bool {
        self.scores() == 0 || self.dim == 0
    }

    fn check(&self, queries: &[f32], candidates: &[f32], scores: &[f32]) {
        assert_eq!(queries.len(), self.groups * self.queries * self.dim, "queries do not fit the shape");
        assert_eq!(
            candidates.len(),
            self.groups * self.candidates * self.dim,
            "candidates do not fit the shape"
        );
        assert_eq!(scores.len(), self.scores(), "scores do not fit the shape");
    }
}

/// The inputs of a backward pass.
#[derive(Clone, Copy)]
pub(crate) struct Forward<'a> {
    pub(crate) queries: &'a [f32],
    pub(crate) candidates: &'a [f32],
    pub(crate) scores: &'a [f32],
    pub(crate) score_gradients: &'a [f32],
}

impl Similarity {
    /// Whether this is minus a distance.
    #[must_use]
    pub const fn is_distance(self) -> bool {
        !matches!(self, Self::Dot)
    }

    /// Scores every query against every candidate of its group.
    ///
    /// # Panics
    /// If a slice does not fit the shape.
    pub fn scores(self, shape: Blocks, queries: &[f32], candidates: &[f32], scores: &mut [f32]) {
        shape.check(queries, candidates, scores);
        if shape.is_empty() {
            return scores.fill(0.0);
        }
        match self {
            Self::Dot => scores_of::<Dot, 1>(shape, queries, candidates, scores),
            Self::L1 => scores_of::<L1, 1>(shape, queries, candidates, scores),
            Self::L2 => scores_of::<L2, 1>(shape, queries, candidates, scores),
            Self::Modulus => scores_of::<Modulus, 2>(shape, queries, candidates, scores),
        }
    }

    /// Adds the gradients of the scores to the gradients of queries and candidates.
    ///
    /// Where a distance is not differentiable, one of its one-sided derivatives is used.
    pub(crate) fn backward(
        self,
        shape: Blocks,
        forward: Forward<'_>,
        query_gradients: &mut [f32],
        candidate_gradients: &mut [f32],
    ) {
        shape.check(forward.queries, forward.candidates, forward.scores);
        shape.check(query_gradients, candidate_gradients, forward.score_gradients);
        if shape.is_empty() {
            return;
        }
        // Below this size, packing the operands of a matrix product costs more than it saves.
        let is_large = shape.queries >= 8 && shape.candidates >= 8;
        match self {
            Self::Dot if is_large => {
                let weights = forward.score_gradients;
                matmul::add_weighted_sums(shape, forward, weights, query_gradients, candidate_gradients);
            }
            Self::L2 if is_large => l2_by_matmul(shape, forward, query_gradients, candidate_gradients),
            Self::Dot => backward_of::<Dot, 1>(shape, forward, query_gradients, candidate_gradients),
            Self::L1 => backward_of::<L1, 1>(shape, forward, query_gradients, candidate_gradients),
            Self::L2 => backward_of::<L2, 1>(shape, forward, query_gradients, candidate_gradients),
            Self::Modulus => backward_of::<Modulus, 2>(shape, forward, query_gradients, candidate_gradients),
        }
    }
}

/// The Euclidean backward pass as two matrix products: `Σ w (c − q) = Σ w c − (Σ w) q`.
fn l2_by_matmul(
    shape: Blocks,
    forward: Forward<'_>,
    query_gradients: &mut [f32],
    candidate_gradients: &mut [f32],
) {
    let weights: Vec<f32> = forward
        .scores
        .iter()
        .zip(forward.score_gradients)
        .map(|(&score, &gradient)| L2::weight(score, gradient))
        .collect();
    matmul::add_weighted_sums(shape, forward, &weights, query_gradients, candidate_gradients);
    Arch::new().dispatch(SubtractWeighted {
        shape,
        forward,
        weights: &weights,
        query_gradients,
        candidate_gradients,
    });
}

/// Subtracts every row, times the sum of its weights, from its gradient.
struct SubtractWeighted<'a> {
    shape: Blocks,
    forward: Forward<'a>,
    weights: &'a [f32],
    query_gradients: &'a mut [f32],
    candidate_gradients: &'a mut [f32],
}

impl WithSimd for SubtractWeighted<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { shape, forward, weights, query_gradients, candidate_gradients } = self;
        let Blocks { queries, candidates, dim, .. } = shape;
        let mut of_candidates = vec![0.0; candidates];
        for (group, weights) in weights.chunks_exact(queries * candidates).enumerate() {
            of_candidates.fill(0.0);
            for (query, weights) in weights.chunks_exact(candidates).enumerate() {
                let row = (group * queries + query) * dim..(group * queries + query + 1) * dim;
                let mut sum = 0.0;
                for (of_candidate, weight) in of_candidates.iter_mut().zip(weights) {
                    *of_candidate += weight;
                    sum += weight;
                }
                subtract(&mut query_gradients[row.clone()], sum, &forward.queries[row]);
            }
            for (candidate, &sum) in of_candidates.iter().enumerate() {
                let row = (group * candidates + candidate) * dim..(group * candidates + candidate + 1) * dim;
                subtract(&mut candidate_gradients[row.clone()], sum, &forward.candidates[row]);
            }
        }
    }
}

#[inline(always)]
fn subtract(from: &mut [f32], weight: f32, row: &[f32]) {
    for (from, value) in from.iter_mut().zip(row) {
        *from -= weight * value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn naive(similarity: Similarity, query: &[f64], candidate: &[f64]) -> f64 {
        let differences = || query.iter().zip(candidate).map(|(q, c)| q - c);
        match similarity {
            Similarity::Dot => query.iter().zip(candidate).map(|(q, c)| q * c).sum(),
            Similarity::L1 => -differences().map(f64::abs).sum::<f64>(),
            Similarity::L2 => -differences().map(|d| d * d).sum::<f64>().sqrt(),
            Similarity::Modulus => {
                let differences: Vec<f64> = differences().collect();
                let (re, im) = differences.split_at(differences.len() / 2);
                -re.iter().zip(im).map(|(re, im)| re.hypot(*im)).sum::<f64>()
            }
        }
    }

    fn wide(values: &[f32]) -> Vec<f64> {
        values.iter().map(|&value| value.into()).collect()
    }

    const ALL: [Similarity; 4] = [Similarity::Dot, Similarity::L1, Similarity::L2, Similarity::Modulus];

    fn blocks() -> impl Strategy<Value = (Similarity, Blocks, Vec<f32>, Vec<f32>, Vec<f32>)> {
        let shape = (1usize..3, 1usize..12, 1usize..12, 1usize..40);
        (prop::sample::select(&ALL[..]), shape).prop_flat_map(
            |(similarity, (groups, queries, candidates, dim))| {
                let dim = if similarity == Similarity::Modulus { 2 * dim } else { dim };
                let shape = Blocks { groups, queries, candidates, dim };
                let values = |len| prop::collection::vec(-1.0f32..1.0, len);
                (
                    Just(similarity),
                    Just(shape),
                    values(groups * queries * dim),
                    values(groups * candidates * dim),
                    values(shape.scores()),
                )
            },
        )
    }

    proptest! {
        #[test]
        fn blocks_agree_with_the_definition_and_with_single_pairs(
            (similarity, shape, queries, candidates, gradients) in blocks()
        ) {
            let dim = shape.dim;
            let mut scores = vec![0.0; shape.scores()];
            similarity.scores(shape, &queries, &candidates, &mut scores);
            let mut query_gradients = vec![0.0; queries.len()];
            let mut candidate_gradients = vec![0.0; candidates.len()];
            let forward = Forward {
                queries: &queries,
                candidates: &candidates,
                scores: &scores,
                score_gradients: &gradients,
            };
            similarity.backward(shape, forward, &mut query_gradients, &mut candidate_gradients);

            let (mut for_queries, mut for_candidates) = (vec![0.0; queries.len()], vec![0.0; candidates.len()]);
            for at in 0..shape.scores() {
                let query = at / shape.candidates;
                let candidate = query / shape.queries * shape.candidates + at % shape.candidates;
                let (q, c) = (query * dim..(query + 1) * dim, candidate * dim..(candidate + 1) * dim);
                let (query, candidate) = (&queries[q.clone()], &candidates[c.clone()]);
                let mut alone = [0.0];
                similarity.scores(Blocks::one(1, 1, dim), query, candidate, &mut alone);
                prop_assert_eq!(alone[0].to_bits(), scores[at].to_bits(), "a score depends on its neighbours");
                let (query, candidate) = (wide(query), wide(candidate));
                let expected = naive(similarity, &query, &candidate);
                prop_assert!((f64::from(scores[at]) - expected).abs() < 1e-4);
                for k in 0..dim {
                    let step = 1e-7;
                    let moved = |row: &[f64], by: f64| {
                        let mut row = row.to_vec();
                        row[k] += by;
                        row
                    };
                    let slope = |up: f64, down: f64| (up - down) / (2.0 * step) * f64::from(gradients[at]);
                    for_queries[q.start + k] += slope(
                        naive(similarity, &moved(&query, step), &candidate),
                        naive(similarity, &moved(&query, -step), &candidate),
                    );
                    for_candidates[c.start + k] += slope(
                        naive(similarity, &query, &moved(&candidate, step)),
                        naive(similarity, &query, &moved(&candidate, -step)),
                    );
                }
            }
            for (ours, expected) in [(query_gradients, for_queries), (candidate_gradients, for_candidates)] {
                for (ours, expected) in ours.into_iter().zip(expected) {
                    prop_assert!((f64::from(ours) - expected).abs() < 1e-3 * expected.abs().max(1.0));
                }
            }
        }
    }

    #[test]
    fn equal_rows_have_finite_gradients() {
        for similarity in ALL {
            let row = [0.5f32, -1.0, 0.0, 2.0];
            let (mut for_query, mut for_candidate) = ([0.0; 4], [0.0; 4]);
            let forward =
                Forward { queries: &row, candidates: &row, scores: &[0.0], score_gradients: &[1.0] };
            similarity.backward(Blocks::pairs(1, 4), forward, &mut for_query, &mut for_candidate);
            assert!(for_query.iter().chain(&for_candidate).all(|value| value.is_finite()), "{similarity:?}");
        }
    }
}
