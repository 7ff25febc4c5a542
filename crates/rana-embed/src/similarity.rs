//! [`Similarity`]: compares queries with entity rows, many at a time.
//!
//! The sum of a pair is made in the same order at every position of a block, so a score does not depend on what else
//! is scored with it.
#![expect(clippy::needless_range_loop, reason = "tiles are small matrices, and indices say it best")]

use std::array;
use std::marker::PhantomData;
use std::ops::Range;

use pulp::{Arch, Simd, WithSimd};

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

/// A similarity of rows with `P` numbers per coordinate: 1 if real, 2 if complex.
pub(crate) trait Kernel<const P: usize> {
    /// Adds the contribution of some coordinates to the sum of a pair.
    fn accumulate<S: Simd>(simd: S, sum: S::f32s, query: [S::f32s; P], candidate: [S::f32s; P]) -> S::f32s;

    /// The score for a sum.
    fn score(sum: f32) -> f32;

    /// The weight of a pair in the backward pass, from its score and the gradient of the score.
    fn weight(score: f32, gradient: f32) -> f32;

    /// Adds the contribution of some coordinates to the gradients of query and candidate.
    fn pull<S: Simd>(
        simd: S,
        weight: S::f32s,
        rows: ([S::f32s; P], [S::f32s; P]),
        gradients: (&mut [S::f32s; P], &mut [S::f32s; P]),
    );
}

pub(crate) struct Dot;

impl Kernel<1> for Dot {
    #[inline(always)]
    fn accumulate<S: Simd>(simd: S, sum: S::f32s, [q]: [S::f32s; 1], [c]: [S::f32s; 1]) -> S::f32s {
        simd.mul_add_e_f32s(q, c, sum)
    }

    #[inline(always)]
    fn score(sum: f32) -> f32 {
        sum
    }

    #[inline(always)]
    fn weight(_: f32, gradient: f32) -> f32 {
        gradient
    }

    #[inline(always)]
    fn pull<S: Simd>(
        simd: S,
        weight: S::f32s,
        ([q], [c]): ([S::f32s; 1], [S::f32s; 1]),
        ([for_query], [for_candidate]): (&mut [S::f32s; 1], &mut [S::f32s; 1]),
    ) {
        *for_query = simd.mul_add_e_f32s(weight, c, *for_query);
        *for_candidate = simd.mul_add_e_f32s(weight, q, *for_candidate);
    }
}

pub(crate) struct L1;

impl Kernel<1> for L1 {
    #[inline(always)]
    fn accumulate<S: Simd>(simd: S, sum: S::f32s, [q]: [S::f32s; 1], [c]: [S::f32s; 1]) -> S::f32s {
        simd.add_f32s(sum, simd.abs_f32s(simd.sub_f32s(q, c)))
    }

    #[inline(always)]
    fn score(sum: f32) -> f32 {
        -sum
    }

    #[inline(always)]
    fn weight(_: f32, gradient: f32) -> f32 {
        gradient
    }

    #[inline(always)]
    fn pull<S: Simd>(
        simd: S,
        weight: S::f32s,
        ([q], [c]): ([S::f32s; 1], [S::f32s; 1]),
        ([for_query], [for_candidate]): (&mut [S::f32s; 1], &mut [S::f32s; 1]),
    ) {
        // The weight with the sign of the difference, in one operation instead of a comparison.
        let sign = simd.and_f32s(simd.splat_f32s(-0.0), simd.sub_f32s(q, c));
        let away = simd.xor_f32s(weight, sign);
        *for_query = simd.sub_f32s(*for_query, away);
        *for_candidate = simd.add_f32s(*for_candidate, away);
    }
}

pub(crate) struct L2;

impl Kernel<1> for L2 {
    #[inline(always)]
    fn accumulate<S: Simd>(simd: S, sum: S::f32s, [q]: [S::f32s; 1], [c]: [S::f32s; 1]) -> S::f32s {
        let difference = simd.sub_f32s(q, c);
        simd.mul_add_e_f32s(difference, difference, sum)
    }

    #[inline(always)]
    fn score(sum: f32) -> f32 {
        -sum.sqrt()
    }

    #[inline(always)]
    fn weight(score: f32, gradient: f32) -> f32 {
        if score == 0.0 { 0.0 } else { gradient / -score }
    }

    #[inline(always)]
    fn pull<S: Simd>(
        simd: S,
        weight: S::f32s,
        ([q], [c]): ([S::f32s; 1], [S::f32s; 1]),
        ([for_query], [for_candidate]): (&mut [S::f32s; 1], &mut [S::f32s; 1]),
    ) {
        let away = simd.mul_f32s(weight, simd.sub_f32s(q, c));
        *for_query = simd.sub_f32s(*for_query, away);
        *for_candidate = simd.add_f32s(*for_candidate, away);
    }
}

pub(crate) struct Modulus;

impl Kernel<2> for Modulus {
    #[inline(always)]
    fn accumulate<S: Simd>(
        simd: S,
        sum: S::f32s,
        [q_re, q_im]: [S::f32s; 2],
        [c_re, c_im]: [S::f32s; 2],
    ) -> S::f32s {
        let (re, im) = (simd.sub_f32s(q_re, c_re), simd.sub_f32s(q_im, c_im));
        simd.add_f32s(sum, simd.sqrt_f32s(simd.mul_add_e_f32s(re, re, simd.mul_f32s(im, im))))
    }

    #[inline(always)]
    fn score(sum: f32) -> f32 {
        -sum
    }

    #[inline(always)]
    fn weight(_: f32, gradient: f32) -> f32 {
        gradient
    }

    #[inline(always)]
    fn pull<S: Simd>(
        simd: S,
        weight: S::f32s,
        ([q_re, q_im], [c_re, c_im]): ([S::f32s; 2], [S::f32s; 2]),
        (for_query, for_candidate): (&mut [S::f32s; 2], &mut [S::f32s; 2]),
    ) {
        let (re, im) = (simd.sub_f32s(q_re, c_re), simd.sub_f32s(q_im, c_im));
        // The smallest normal number avoids 0 / 0 if the difference is zero.
        let square = simd.mul_add_e_f32s(im, im, simd.splat_f32s(f32::MIN_POSITIVE));
        let scale = simd.div_f32s(weight, simd.sqrt_f32s(simd.mul_add_e_f32s(re, re, square)));
        let (re, im) = (simd.mul_f32s(scale, re), simd.mul_f32s(scale, im));
        *for_query = [simd.sub_f32s(for_query[0], re), simd.sub_f32s(for_query[1], im)];
        *for_candidate = [simd.add_f32s(for_candidate[0], re), simd.add_f32s(for_candidate[1], im)];
    }
}

// No closures below this line: a closure is a separate function, which is compiled without the vector instructions of
// its caller, and calling it would cost more than its work.

/// Bytes of candidates that are compared with all queries of a group before the next ones are loaded. It is half of a
/// small first-level cache; the gradients use the other half.
const CACHE_BLOCK: usize = 16 * 1024;

/// The number of candidates in such a block, in whole tiles.
#[inline(always)]
fn block_rows(dim: usize) -> usize {
    (CACHE_BLOCK / (dim * size_of::<f32>() * TILE.1)).max(1) * TILE.1
}

/// Queries and candidates of a tile: as many sums as fit the registers of any x86-64 or ARM processor.
const TILE: (usize, usize) = (4, 2);

fn scores_of<K: Kernel<P>, const P: usize>(
    shape: Blocks,
    queries: &[f32],
    candidates: &[f32],
    scores: &mut [f32],
) {
    Arch::new().dispatch(Scores::<K, P> { shape, queries, candidates, scores, kernel: PhantomData });
}

struct Scores<'a, K, const P: usize> {
    shape: Blocks,
    queries: &'a [f32],
    candidates: &'a [f32],
    scores: &'a mut [f32],
    kernel: PhantomData<K>,
}

impl<K: Kernel<P>, const P: usize> WithSimd for Scores<'_, K, P> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { shape, queries, candidates, scores, .. } = self;
        let Blocks { dim, candidates: count, .. } = shape;
        let groups = queries.chunks_exact(shape.queries * dim).zip(candidates.chunks_exact(count * dim));
        for ((queries, candidates), scores) in groups.zip(scores.chunks_exact_mut(shape.queries * count)) {
            let mut from = 0;
            while from < count {
                let to = count.min(from + block_rows(dim));
                let mut query = 0;
                while query < shape.queries {
                    let tile = if query + TILE.0 <= shape.queries { TILE.0 } else { 1 };
                    let queries = &queries[query * dim..(query + tile) * dim];
                    let scores = &mut scores[query * count..(query + tile) * count];
                    if tile == TILE.0 {
                        score_strip::<S, K, P, { TILE.0 }>(simd, dim, from..to, queries, candidates, scores);
                    } else {
                        score_strip::<S, K, P, 1>(simd, dim, from..to, queries, candidates, scores);
                    }
                    query += tile;
                }
                from = to;
            }
        }
    }
}

/// Scores `Q` queries against some of the candidates of their group.
#[inline(always)]
fn score_strip<S: Simd, K: Kernel<P>, const P: usize, const Q: usize>(
    simd: S,
    dim: usize,
    range: Range<usize>,
    queries: &[f32],
    candidates: &[f32],
    scores: &mut [f32],
) {
    let count = candidates.len() / dim;
    let queries = Lanes::<S, P>::rows::<Q>(queries, dim);
    let mut at = range.start;
    while at + TILE.1 <= range.end {
        let tile = Lanes::rows(&candidates[at * dim..(at + TILE.1) * dim], dim);
        let sums = sum_tile::<S, K, P, Q, { TILE.1 }>(simd, &queries, &tile);
        for q in 0..Q {
            for c in 0..TILE.1 {
                scores[q * count + at + c] = K::score(sums[q][c]);
            }
        }
        at += TILE.1;
    }
    if at < range.end {
        let last = Lanes::rows(&candidates[at * dim..], dim);
        let sums = sum_tile::<S, K, P, Q, 1>(simd, &queries, &last);
        for q in 0..Q {
            scores[q * count + at] = K::score(sums[q][0]);
        }
    }
}

#[inline(always)]
fn sum_tile<S: Simd, K: Kernel<P>, const P: usize, const Q: usize, const C: usize>(
    simd: S,
    queries: &[Lanes<'_, S, P>; Q],
    candidates: &[Lanes<'_, S, P>; C],
) -> [[f32; C]; Q] {
    let mut sums = [[simd.splat_f32s(0.0); C]; Q];
    let mut candidate = [[simd.splat_f32s(0.0); P]; C];
    for at in 0..queries[0].len() {
        for c in 0..C {
            candidate[c] = candidates[c].get(simd, at);
        }
        for q in 0..Q {
            let query = queries[q].get(simd, at);
            for c in 0..C {
                sums[q][c] = K::accumulate(simd, sums[q][c], query, candidate[c]);
            }
        }
    }
    if queries[0].has_tail() {
        for c in 0..C {
            candidate[c] = candidates[c].tail(simd);
        }
        for q in 0..Q {
            let query = queries[q].tail(simd);
            for c in 0..C {
                sums[q][c] = K::accumulate(simd, sums[q][c], query, candidate[c]);
            }
        }
    }
    let mut totals = [[0.0; C]; Q];
    for q in 0..Q {
        for c in 0..C {
            totals[q][c] = simd.reduce_sum_f32s(sums[q][c]);
        }
    }
    totals
}

/// The score of one query and one candidate.
#[inline(always)]
pub(crate) fn score_pair<S: Simd, K: Kernel<P>, const P: usize>(
    simd: S,
    query: &[f32],
    candidate: &[f32],
) -> f32 {
    let rows = (Lanes::<S, P>::rows(query, query.len()), Lanes::rows(candidate, query.len()));
    K::score(sum_tile::<S, K, P, 1, 1>(simd, &rows.0, &rows.1)[0][0])
}

/// Adds to the gradient of a query and overwrites that of its candidate.
#[inline(always)]
pub(crate) fn pull_pair<S: Simd, K: Kernel<P>, const P: usize>(
    simd: S,
    weight: f32,
    (query, candidate): (&[f32], &[f32]),
    (for_query, for_candidate): (&mut [f32], &mut [f32]),
) {
    let dim = query.len();
    let weight = simd.splat_f32s(weight);
    let zero = [simd.splat_f32s(0.0); P];
    let [query] = Lanes::<S, P>::rows(query, dim);
    let [candidate] = Lanes::<S, P>::rows(candidate, dim);
    let [mut for_query] = LanesMut::<S, P>::rows(for_query, dim);
    let [mut for_candidate] = LanesMut::<S, P>::rows(for_candidate, dim);
    for at in 0..query.len() {
        let (mut to_query, mut to_candidate) = (for_query.get(simd, at), zero);
        let rows = (query.get(simd, at), candidate.get(simd, at));
        K::pull(simd, weight, rows, (&mut to_query, &mut to_candidate));
        for_query.set(at, to_query);
        for_candidate.set(at, to_candidate);
    }
    if query.has_tail() {
        let (mut to_query, mut to_candidate) = (for_query.tail(simd), zero);
        let rows = (query.tail(simd), candidate.tail(simd));
        K::pull(simd, weight, rows, (&mut to_query, &mut to_candidate));
        for_query.set_tail(simd, to_query);
        for_candidate.set_tail(simd, to_candidate);
    }
}

fn backward_of<K: Kernel<P>, const P: usize>(
    shape: Blocks,
    forward: Forward<'_>,
    query_gradients: &mut [f32],
    candidate_gradients: &mut [f32],
) {
    Arch::new().dispatch(Backward::<K, P> {
        shape,
        forward,
        query_gradients,
        candidate_gradients,
        kernel: PhantomData,
    });
}

struct Backward<'a, K, const P: usize> {
    shape: Blocks,
    forward: Forward<'a>,
    query_gradients: &'a mut [f32],
    candidate_gradients: &'a mut [f32],
    kernel: PhantomData<K>,
}

impl<K: Kernel<P>, const P: usize> WithSimd for Backward<'_, K, P> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { shape, forward, query_gradients, candidate_gradients, .. } = self;
        let Blocks { dim, queries, candidates, .. } = shape;
        for group in 0..shape.groups {
            let (first, scores) = (group * queries, group * queries * candidates);
            let of_group = group * candidates * dim..(group + 1) * candidates * dim;
            let their_gradients = &mut candidate_gradients[of_group.clone()];
            let mut from = 0;
            while from < candidates {
                let to = candidates.min(from + block_rows(dim));
                let mut query = 0;
                while query < queries {
                    let tile = if query + TILE.0 <= queries { TILE.0 } else { 1 };
                    let of_tile = (first + query) * dim..(first + query + tile) * dim;
                    let of_scores = scores + query * candidates..scores + (query + tile) * candidates;
                    let strip = Forward {
                        queries: &forward.queries[of_tile.clone()],
                        candidates: &forward.candidates[of_group.clone()],
                        scores: &forward.scores[of_scores.clone()],
                        score_gradients: &forward.score_gradients[of_scores],
                    };
                    let gradients = &mut query_gradients[of_tile];
                    if tile == TILE.0 {
                        pull_strip::<S, K, P, { TILE.0 }>(
                            simd,
                            dim,
                            from..to,
                            strip,
                            gradients,
                            their_gradients,
                        );
                    } else {
                        pull_strip::<S, K, P, 1>(simd, dim, from..to, strip, gradients, their_gradients);
                    }
                    query += tile;
                }
                from = to;
            }
        }
    }
}

/// The backward pass of `Q` queries and some of the candidates of their group.
#[inline(always)]
fn pull_strip<S: Simd, K: Kernel<P>, const P: usize, const Q: usize>(
    simd: S,
    dim: usize,
    range: Range<usize>,
    forward: Forward<'_>,
    query_gradients: &mut [f32],
    candidate_gradients: &mut [f32],
) {
    let mut at = range.start;
    while at + TILE.1 <= range.end {
        pull_tile::<S, K, P, Q, { TILE.1 }>(simd, dim, at, forward, query_gradients, candidate_gradients);
        at += TILE.1;
    }
    if at < range.end {
        pull_tile::<S, K, P, Q, 1>(simd, dim, at, forward, query_gradients, candidate_gradients);
    }
}

/// The backward pass of `Q` queries and the `C` candidates from `first` on.
#[inline(always)]
fn pull_tile<S: Simd, K: Kernel<P>, const P: usize, const Q: usize, const C: usize>(
    simd: S,
    dim: usize,
    first: usize,
    forward: Forward<'_>,
    query_gradients: &mut [f32],
    candidate_gradients: &mut [f32],
) {
    let count = forward.candidates.len() / dim;
    let mut weights = [[simd.splat_f32s(0.0); C]; Q];
    let mut is_idle = true;
    for q in 0..Q {
        for c in 0..C {
            let at = q * count + first + c;
            let weight = K::weight(forward.scores[at], forward.score_gradients[at]);
            is_idle &= weight == 0.0;
            weights[q][c] = simd.splat_f32s(weight);
        }
    }
    if is_idle {
        return;
    }
    let range = first * dim..(first + C) * dim;
    let queries = Lanes::<S, P>::rows::<Q>(forward.queries, dim);
    let candidates = Lanes::<S, P>::rows::<C>(&forward.candidates[range.clone()], dim);
    let mut query_gradients = LanesMut::<S, P>::rows::<Q>(query_gradients, dim);
    let mut candidate_gradients = LanesMut::<S, P>::rows::<C>(&mut candidate_gradients[range], dim);
    let mut query = [[simd.splat_f32s(0.0); P]; Q];
    let mut candidate = [[simd.splat_f32s(0.0); P]; C];
    let (mut for_query, mut for_candidate) = (query, candidate);
    for at in 0..queries[0].len() {
        for q in 0..Q {
            query[q] = queries[q].get(simd, at);
            for_query[q] = query_gradients[q].get(simd, at);
        }
        for c in 0..C {
            candidate[c] = candidates[c].get(simd, at);
            for_candidate[c] = candidate_gradients[c].get(simd, at);
        }
        pull_lanes::<S, K, P, Q, C>(
            simd,
            &weights,
            (&query, &candidate),
            (&mut for_query, &mut for_candidate),
        );
        for q in 0..Q {
            query_gradients[q].set(at, for_query[q]);
        }
        for c in 0..C {
            candidate_gradients[c].set(at, for_candidate[c]);
        }
    }
    if queries[0].has_tail() {
        for q in 0..Q {
            query[q] = queries[q].tail(simd);
            for_query[q] = query_gradients[q].tail(simd);
        }
        for c in 0..C {
            candidate[c] = candidates[c].tail(simd);
            for_candidate[c] = candidate_gradients[c].tail(simd);
        }
        pull_lanes::<S, K, P, Q, C>(
            simd,
            &weights,
            (&query, &candidate),
            (&mut for_query, &mut for_candidate),
        );
        for q in 0..Q {
            query_gradients[q].set_tail(simd, for_query[q]);
        }
        for c in 0..C {
            candidate_gradients[c].set_tail(simd, for_candidate[c]);
        }
    }
}

type Vectors<S, const P: usize, const N: usize> = [[<S as Simd>::f32s; P]; N];

/// The backward pass of the same few coordinates of all rows of a tile.
#[inline(always)]
fn pull_lanes<S: Simd, K: Kernel<P>, const P: usize, const Q: usize, const C: usize>(
    simd: S,
    weights: &[[S::f32s; C]; Q],
    (query, candidate): (&Vectors<S, P, Q>, &Vectors<S, P, C>),
    (for_query, for_candidate): (&mut Vectors<S, P, Q>, &mut Vectors<S, P, C>),
) {
    for q in 0..Q {
        for c in 0..C {
            let gradients = (&mut for_query[q], &mut for_candidate[c]);
            K::pull(simd, weights[q][c], (query[q], candidate[c]), gradients);
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

/// A row as whole vectors and a remainder, in `P` parts of equal length.
#[derive(Clone, Copy)]
struct Lanes<'a, S: Simd, const P: usize> {
    vectors: [&'a [S::f32s]; P],
    rests: [&'a [f32]; P],
}

impl<'a, S: Simd, const P: usize> Lanes<'a, S, P> {
    #[inline(always)]
    fn rows<const N: usize>(block: &'a [f32], dim: usize) -> [Self; N] {
        let mut rows = [Self { vectors: [&[]; P], rests: [&[]; P] }; N];
        let part = dim / P;
        for (n, row) in rows.iter_mut().enumerate() {
            for p in 0..P {
                let start = n * dim + p * part;
                (row.vectors[p], row.rests[p]) = S::as_simd_f32s(&block[start..start + part]);
            }
        }
        rows
    }

    #[inline(always)]
    fn len(&self) -> usize {
        self.vectors[0].len()
    }

    #[inline(always)]
    fn get(&self, simd: S, at: usize) -> [S::f32s; P] {
        let mut values = [simd.splat_f32s(0.0); P];
        for p in 0..P {
            values[p] = self.vectors[p][at];
        }
        values
    }

    #[inline(always)]
    fn has_tail(&self) -> bool {
        !self.rests[0].is_empty()
    }

    /// The remainder, padded with zeros, which contribute nothing to any similarity.
    #[inline(always)]
    fn tail(&self, simd: S) -> [S::f32s; P] {
        let mut values = [simd.splat_f32s(0.0); P];
        for p in 0..P {
            values[p] = simd.partial_load_f32s(self.rests[p]);
        }
        values
    }
}

/// A row to write, in the same parts.
struct LanesMut<'a, S: Simd, const P: usize> {
    vectors: [&'a mut [S::f32s]; P],
    rests: [&'a mut [f32]; P],
}

impl<'a, S: Simd, const P: usize> LanesMut<'a, S, P> {
    #[inline(always)]
    fn rows<const N: usize>(block: &'a mut [f32], dim: usize) -> [Self; N] {
        let mut rows: [Self; N] = array::from_fn(|_| Self {
            vectors: array::from_fn(|_| Default::default()),
            rests: array::from_fn(|_| Default::default()),
        });
        let mut rest = block;
        for row in &mut rows {
            for p in 0..P {
                let (part, others) = rest.split_at_mut(dim / P);
                (row.vectors[p], row.rests[p]) = S::as_mut_simd_f32s(part);
                rest = others;
            }
        }
        rows
    }

    #[inline(always)]
    fn get(&self, simd: S, at: usize) -> [S::f32s; P] {
        let mut values = [simd.splat_f32s(0.0); P];
        for p in 0..P {
            values[p] = self.vectors[p][at];
        }
        values
    }

    #[inline(always)]
    fn set(&mut self, at: usize, values: [S::f32s; P]) {
        for p in 0..P {
            self.vectors[p][at] = values[p];
        }
    }

    #[inline(always)]
    fn tail(&self, simd: S) -> [S::f32s; P] {
        let mut values = [simd.splat_f32s(0.0); P];
        for p in 0..P {
            values[p] = simd.partial_load_f32s(self.rests[p]);
        }
        values
    }

    #[inline(always)]
    fn set_tail(&mut self, simd: S, values: [S::f32s; P]) {
        for p in 0..P {
            simd.partial_store_f32s(self.rests[p], values[p]);
        }
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
