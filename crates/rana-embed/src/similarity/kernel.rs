//! [`Kernel`]: what one coordinate of two rows adds to a similarity, and to its gradient.

use pulp::Simd;

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
