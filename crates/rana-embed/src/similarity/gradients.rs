//! Gradients of queries and rows, tile by tile.

use std::marker::PhantomData;
use std::ops::Range;

use pulp::{Arch, Simd, WithSimd};

use super::kernel::Kernel;
use super::lanes::{Lanes, LanesMut};
use super::similarity::{Blocks, Forward};
use super::tiles::{TILE, block_rows};

// No closures in this file: a closure is a separate function, which is compiled without the vector instructions of
// its caller, and calling it would cost more than its work.

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

pub(super) fn backward_of<K: Kernel<P>, const P: usize>(
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
