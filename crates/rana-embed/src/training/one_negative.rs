//! [`OneNegative`]: TransE with one negative per fact and plain gradient descent, with no gradient in memory.
//!
//! The rows of a fact are read once to compare both distances, and a second time only if the fact has a gradient.
//! Gradients stay in registers. The results have the same bits as those of
//! [`Unshared`](super::unshared_negatives::Unshared), which stores gradients in a [`Shard`](super::gradient_shard::Shard).

use std::marker::PhantomData;

use pulp::{Arch, Simd, WithSimd};

use super::relation_copies::Copies;
use super::row_access::{Rows, RowsMut};
use super::row_lease::Lease;
use super::row_listing::Listing;
use crate::embed_config::EmbedConfig;
use crate::loss::Loss;
use crate::model::{ModelKind, Norm};
use crate::optimiser::{Optimiser, Update};
use crate::regulariser::Regulariser;
use crate::side::Side;
use crate::similarity::{Kernel, L1, L2};

/// How many facts ahead rows are prefetched. With more, rows would leave the first-level cache before they are used.
const AHEAD: usize = 3;

/// Numbers in the widest vector register of any processor; a row has at least as many.
const WIDEST: usize = 16;

/// Some facts, each with one negative, and the rows they update.
pub(crate) struct OneNegative<'a, 'l> {
    pub(crate) loss: Loss,
    pub(crate) norm: Norm,
    pub(crate) listing: &'a Listing,
    /// The next facts, whose rows are prefetched.
    pub(crate) next: &'a Listing,
    pub(crate) entities: &'a mut Lease<'l>,
    pub(crate) relations: &'a mut Copies<'l>,
    pub(crate) updates: [Update; 2],
}

impl OneNegative<'_, '_> {
    /// Whether this fast path supports the settings.
    pub(crate) fn serves(config: &EmbedConfig) -> bool {
        let negatives = config.negatives;
        config.model == ModelKind::TransE
            && config.dim >= WIDEST
            && (negatives.count, negatives.shared_by, negatives.filtered) == (1, 1, false)
            && config.optimiser == Optimiser::Sgd
            && config.regulariser == Regulariser::None
    }

    /// Trains on all facts and gives the sum of their losses.
    ///
    /// # Panics
    /// If two of a fact's three entities are the same.
    pub(crate) fn train(self) -> f64 {
        match self.norm {
            Norm::L1 => Arch::new().dispatch(Train::<L1> { work: self, kernel: PhantomData }),
            Norm::L2 => Arch::new().dispatch(Train::<L2> { work: self, kernel: PhantomData }),
        }
    }
}

struct Train<'a, 'l, K> {
    work: OneNegative<'a, 'l>,
    kernel: PhantomData<K>,
}

impl<K: Kernel<1>> WithSimd for Train<'_, '_, K> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f64 {
        let OneNegative { loss, listing, next, entities, relations, updates, .. } = self.work;
        let [entity_update, relation_update] = updates;
        let facts = listing.relations.len();
        let shape = Shape::new(simd, entities.width(), listing.side);
        let mut entities = entities.checked(&listing.entities);
        let mut sum = 0.0;
        for at in 0..facts {
            let (to_come, fact) =
                if at + AHEAD < facts { (listing, at + AHEAD) } else { (next, at + AHEAD - facts) };
            if fact < to_come.relations.len() {
                for row in to_come.entities_of(fact) {
                    entities.fetch(row);
                }
            }
            let [anchor, answer, negative] = entities.distinct_mut([at, facts + at, 2 * facts + at]);
            let relation = relations.row(listing.relations[at] as usize);
            let [score, against] = shape.scores::<K>(simd, [anchor, relation, answer, negative]);
            let mut for_against = [0.0];
            let (of_fact, for_score) = loss.of_fact(score, &[against], &mut for_against, &mut [0.0]);
            sum += f64::from(of_fact);
            // The gradient at a true fact is zero only if the gradient at its negative is zero.
            if for_score == 0.0 {
                continue;
            }
            let weights = [K::weight(score, for_score), K::weight(against, for_against[0])];
            let (relation, _) = relations.row_mut(listing.relations[at] as usize);
            let rates = [entity_update.rate, relation_update.rate];
            shape.step::<K>(simd, weights, rates, [anchor, relation, answer, negative]);
            for row in [anchor, answer, negative] {
                entity_update.bound(row);
            }
        }
        sum
    }
}

/// Reads anchor, relation, answer and negative, which have the same width.
///
/// The remainder after the whole vectors of a row is read with a last vector that overlaps them.
#[derive(Clone, Copy)]
struct Shape<S: Simd> {
    width: usize,
    /// The length of the remainder.
    rest: usize,
    /// Which lanes of the last vector belong to the remainder.
    is_rest: S::m32s,
    sign: S::f32s,
}

impl<S: Simd> Shape<S> {
    #[inline(always)]
    fn new(simd: S, width: usize, side: Side) -> Self {
        let (lanes, rest) = (S::F32_LANES, width % S::F32_LANES);
        let is_rest = simd.mask_between_m32s((lanes - rest) as u32, lanes as u32).mask();
        Self { width, rest, is_rest, sign: simd.splat_f32s(side.sign()) }
    }

    /// The last vector of a row.
    #[inline(always)]
    fn last(self, row: &[f32]) -> S::f32s {
        S::as_simd_f32s(&row[self.width - S::F32_LANES..]).0[0]
    }

    /// The remainder, moved to the front and padded with zeros, as in all other scores. The order of a sum decides
    /// its last bits.
    #[inline(always)]
    fn rest(self, simd: S, last: S::f32s) -> S::f32s {
        let rest = simd.select_f32s(self.is_rest, last, simd.splat_f32s(0.0));
        simd.rotate_right_f32s(rest, self.rest)
    }

    #[inline(always)]
    fn query(self, simd: S, anchor: S::f32s, relation: S::f32s) -> S::f32s {
        simd.mul_add_e_f32s(self.sign, relation, anchor)
    }

    /// The scores of the answer and of the negative.
    #[inline(always)]
    fn scores<K: Kernel<1>>(self, simd: S, rows: [&[f32]; 4]) -> [f32; 2] {
        let [anchors, relations, answers, negatives] = whole::<S>(self.width, rows);
        let mut sums = [simd.splat_f32s(0.0); 2];
        for (((&anchor, &relation), &answer), &negative) in
            anchors.iter().zip(relations).zip(answers).zip(negatives)
        {
            let query = self.query(simd, anchor, relation);
            sums[0] = K::accumulate(simd, sums[0], [query], [answer]);
            sums[1] = K::accumulate(simd, sums[1], [query], [negative]);
        }
        if self.rest > 0 {
            let [anchor, relation, answer, negative] = rows;
            let query = self.rest(simd, self.query(simd, self.last(anchor), self.last(relation)));
            sums[0] = K::accumulate(simd, sums[0], [query], [self.rest(simd, self.last(answer))]);
            sums[1] = K::accumulate(simd, sums[1], [query], [self.rest(simd, self.last(negative))]);
        }
        [K::score(simd.reduce_sum_f32s(sums[0])), K::score(simd.reduce_sum_f32s(sums[1]))]
    }

    /// Moves all four rows against their gradients, given the weights of both scores.
    #[inline(always)]
    fn step<K: Kernel<1>>(self, simd: S, weights: [f32; 2], rates: [f32; 2], rows: [&mut [f32]; 4]) {
        let weights = [simd.splat_f32s(weights[0]), simd.splat_f32s(weights[1])];
        let rates = [simd.splat_f32s(rates[0]), simd.splat_f32s(rates[1])];
        let [anchor, relation, answer, negative] = rows;
        // The last vectors are computed from the old rows, with the overlap, and written at the end. The overlap then
        // gets the same numbers twice.
        let before = [self.last(anchor), self.last(relation), self.last(answer), self.last(negative)];
        let last = self.moved::<K>(simd, weights, rates, before);
        let (anchors, _) = S::as_mut_simd_f32s(anchor);
        let (relations, _) = S::as_mut_simd_f32s(relation);
        let (answers, _) = S::as_mut_simd_f32s(answer);
        let (negatives, _) = S::as_mut_simd_f32s(negative);
        let all = anchors.iter_mut().zip(relations).zip(answers).zip(negatives);
        for (((anchor, relation), answer), negative) in all {
            let before = [*anchor, *relation, *answer, *negative];
            [*anchor, *relation, *answer, *negative] = self.moved::<K>(simd, weights, rates, before);
        }
        if self.rest > 0 {
            let from = self.width - S::F32_LANES;
            S::as_mut_simd_f32s(&mut anchor[from..]).0[0] = last[0];
            S::as_mut_simd_f32s(&mut relation[from..]).0[0] = last[1];
            S::as_mut_simd_f32s(&mut answer[from..]).0[0] = last[2];
            S::as_mut_simd_f32s(&mut negative[from..]).0[0] = last[3];
        }
    }

    /// The new values of some coordinates of the four rows.
    #[inline(always)]
    fn moved<K: Kernel<1>>(
        self,
        simd: S,
        [weight, against]: [S::f32s; 2],
        [entity_rate, relation_rate]: [S::f32s; 2],
        [anchor, relation, answer, negative]: [S::f32s; 4],
    ) -> [S::f32s; 4] {
        let query = self.query(simd, anchor, relation);
        let zero = [simd.splat_f32s(0.0)];
        let (mut for_query, mut for_answer, mut for_negative) = (zero, zero, zero);
        K::pull(simd, weight, ([query], [answer]), (&mut for_query, &mut for_answer));
        K::pull(simd, against, ([query], [negative]), (&mut for_query, &mut for_negative));
        let for_relation = simd.mul_f32s(self.sign, for_query[0]);
        [
            simd.sub_f32s(anchor, simd.mul_f32s(entity_rate, for_query[0])),
            simd.sub_f32s(relation, simd.mul_f32s(relation_rate, for_relation)),
            simd.sub_f32s(answer, simd.mul_f32s(entity_rate, for_answer[0])),
            simd.sub_f32s(negative, simd.mul_f32s(entity_rate, for_negative[0])),
        ]
    }
}

/// The whole vectors of four rows.
#[inline(always)]
fn whole<S: Simd>(width: usize, [a, b, c, d]: [&[f32]; 4]) -> [&[S::f32s]; 4] {
    let [a, b, c, d] = [&a[..width], &b[..width], &c[..width], &d[..width]];
    [S::as_simd_f32s(a).0, S::as_simd_f32s(b).0, S::as_simd_f32s(c).0, S::as_simd_f32s(d).0]
}
