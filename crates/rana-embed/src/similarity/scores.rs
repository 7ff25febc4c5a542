//! Scores of queries and rows, tile by tile.

use std::marker::PhantomData;
use std::ops::Range;

use pulp::{Arch, Simd, WithSimd};

use super::kernel::Kernel;
use super::lanes::Lanes;
use super::similarity::Blocks;
use super::tiles::{TILE, block_rows};

// No closures in this file: a closure is a separate function, which is compiled without the vector instructions of
// its caller, and calling it would cost more than its work.

pub(super) fn scores_of<K: Kernel<P>, const P: usize>(
    shape: Blocks,
    queries: &[f32],
    candidates: &[f32],
    scores: &mut [f32],
) {
    Arch::new().dispatch(Scores::<K, P> { shape, queries, candidates, scores, kernel: PhantomData });
}

pub(super) struct Scores<'a, K, const P: usize> {
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
