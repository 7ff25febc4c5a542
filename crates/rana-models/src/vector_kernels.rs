//! [`Kernels`]: the innermost loops of a step.
//!
//! In `f32` they are written in vectors of whatever width the processor has; left to itself, the compiler
//! takes sums apart into halves of a vector and less. In `f64`, where only tests run, they are plain.

use pulp::{Arch, Simd};
use rana_embed::elementary_functions::{TANH_OVER, TANH_UNDER};

use crate::real::{Real, add_scaled, dot};

/// Runs a loop compiled for vectors of the width that the processor has. Each number comes out the same with any width.
#[inline(always)]
pub(crate) fn wide<R>(work: impl FnOnce() -> R) -> R {
    Arch::new().dispatch(work)
}

/// A hidden layer `tanh(pair + other)` under `out`, and what its gradients are added to.
pub(crate) struct HiddenRows<'r, T> {
    /// The part that is the same for all neighbours of an end.
    pub(crate) pair: &'r [T],
    /// The part that differs.
    pub(crate) other: &'r [T],
    /// W2.
    pub(crate) out: &'r [T],
    /// The gradient of W2.
    pub(crate) out_gradient: &'r mut [T],
    pub(crate) pair_gradient: &'r mut [T],
    pub(crate) other_gradient: &'r mut [T],
}

/// The innermost loops; `simd` says what the processor can do.
pub(crate) trait Kernels: Sized {
    /// `Σ aᵢ bᵢ`.
    fn dot_by<S: Simd>(simd: S, a: &[Self], b: &[Self]) -> Self;
    /// `to += factor · from`.
    fn add_scaled_by<S: Simd>(simd: S, to: &mut [Self], factor: Self, from: &[Self]);
    /// `to = Σ weight · row`; every row is as long as `to`.
    fn weighted_sum<S: Simd>(simd: S, to: &mut [Self], weights: &[Self], rows: &[&[Self]]);
    /// `Σ outᵢ tanh(pairᵢ + otherᵢ)`.
    fn logit<S: Simd>(simd: S, pair: &[Self], other: &[Self], out: &[Self]) -> Self;
    /// Adds the gradients of `slope ·` that.
    fn add_logit_gradient<S: Simd>(simd: S, slope: Self, rows: HiddenRows<'_, Self>);
}

impl Kernels for f64 {
    fn dot_by<S: Simd>(_: S, a: &[Self], b: &[Self]) -> Self {
        dot(a, b)
    }

    fn add_scaled_by<S: Simd>(_: S, to: &mut [Self], factor: Self, from: &[Self]) {
        add_scaled(to, factor, from);
    }

    fn weighted_sum<S: Simd>(_: S, to: &mut [Self], weights: &[Self], rows: &[&[Self]]) {
        to.fill(0.0);
        for (&weight, row) in weights.iter().zip(rows) {
            add_scaled(to, weight, row);
        }
    }

    fn logit<S: Simd>(_: S, pair: &[Self], other: &[Self], out: &[Self]) -> Self {
        pair.iter().zip(other).zip(out).map(|((pair, other), out)| out * Real::tanh(pair + other)).sum()
    }

    fn add_logit_gradient<S: Simd>(_: S, slope: Self, rows: HiddenRows<'_, Self>) {
        for at in 0..rows.out.len() {
            let value = Real::tanh(rows.pair[at] + rows.other[at]);
            let gradient = slope * rows.out[at] * (1.0 - value * value);
            rows.out_gradient[at] += slope * value;
            rows.pair_gradient[at] += gradient;
            rows.other_gradient[at] += gradient;
        }
    }
}

/// Vectors that are summed side by side: a sum has to wait for the one before it.
const SUMS: usize = 4;

impl Kernels for f32 {
    #[inline(always)]
    fn dot_by<S: Simd>(simd: S, a: &[Self], b: &[Self]) -> Self {
        let ((a, a_rest), (b, b_rest)) = (S::as_simd_f32s(a), S::as_simd_f32s(b));
        let mut sums = [simd.splat_f32s(0.0); SUMS];
        let ((a, a_last), (b, b_last)) = (a.as_chunks::<SUMS>(), b.as_chunks::<SUMS>());
        for (a, b) in a.iter().zip(b) {
            for at in 0..SUMS {
                sums[at] = simd.mul_add_e_f32s(a[at], b[at], sums[at]);
            }
        }
        for (&a, &b) in a_last.iter().zip(b_last) {
            sums[0] = simd.mul_add_e_f32s(a, b, sums[0]);
        }
        let (a, b) = (simd.partial_load_f32s(a_rest), simd.partial_load_f32s(b_rest));
        sums[1] = simd.mul_add_e_f32s(a, b, sums[1]);
        let sum = simd.add_f32s(simd.add_f32s(sums[0], sums[1]), simd.add_f32s(sums[2], sums[3]));
        simd.reduce_sum_f32s(sum)
    }

    #[inline(always)]
    fn add_scaled_by<S: Simd>(simd: S, to: &mut [Self], factor: Self, from: &[Self]) {
        let factor = simd.splat_f32s(factor);
        let ((to, to_rest), (from, from_rest)) = (S::as_mut_simd_f32s(to), S::as_simd_f32s(from));
        for (to, &from) in to.iter_mut().zip(from) {
            *to = simd.mul_add_e_f32s(factor, from, *to);
        }
        let sum =
            simd.mul_add_e_f32s(factor, simd.partial_load_f32s(from_rest), simd.partial_load_f32s(to_rest));
        simd.partial_store_f32s(to_rest, sum);
    }

    #[inline(always)]
    fn weighted_sum<S: Simd>(simd: S, to: &mut [Self], weights: &[Self], rows: &[&[Self]]) {
        let (blocks, rest) = S::as_mut_simd_f32s(to);
        let width = if blocks.is_empty() { 0 } else { size_of::<S::f32s>() / size_of::<Self>() };
        // Some columns of all rows at a time: their sums then stay in registers.
        let (blocks, last) = blocks.as_chunks_mut::<SUMS>();
        for (number, block) in blocks.iter_mut().enumerate() {
            let mut sums = [simd.splat_f32s(0.0); SUMS];
            for (&weight, row) in weights.iter().zip(rows) {
                let (weight, row) = (simd.splat_f32s(weight), &row[number * SUMS * width..][..SUMS * width]);
                for (sum, &value) in sums.iter_mut().zip(S::as_simd_f32s(row).0) {
                    *sum = simd.mul_add_e_f32s(weight, value, *sum);
                }
            }
            *block = sums;
        }
        let done = blocks.len() * SUMS * width;
        for (number, block) in last.iter_mut().enumerate() {
            let mut sum = simd.splat_f32s(0.0);
            for (&weight, row) in weights.iter().zip(rows) {
                let row = simd.partial_load_f32s(&row[done + number * width..][..width]);
                sum = simd.mul_add_e_f32s(simd.splat_f32s(weight), row, sum);
            }
            *block = sum;
        }
        let mut sum = simd.splat_f32s(0.0);
        for (&weight, row) in weights.iter().zip(rows) {
            let row = simd.partial_load_f32s(&row[row.len() - rest.len()..]);
            sum = simd.mul_add_e_f32s(simd.splat_f32s(weight), row, sum);
        }
        simd.partial_store_f32s(rest, sum);
    }

    #[inline(always)]
    fn logit<S: Simd>(simd: S, pair: &[Self], other: &[Self], out: &[Self]) -> Self {
        let (pair, pair_rest) = S::as_simd_f32s(pair);
        let (other, other_rest) = S::as_simd_f32s(other);
        let (out, out_rest) = S::as_simd_f32s(out);
        let mut sums = [simd.splat_f32s(0.0); 2];
        let ((pair, pair_last), (other, other_last)) = (pair.as_chunks::<2>(), other.as_chunks::<2>());
        let (out, out_last) = out.as_chunks::<2>();
        for ((pair, other), out) in pair.iter().zip(other).zip(out) {
            for at in 0..2 {
                let value = tanh(simd, simd.add_f32s(pair[at], other[at]));
                sums[at] = simd.mul_add_e_f32s(out[at], value, sums[at]);
            }
        }
        for ((&pair, &other), &out) in pair_last.iter().zip(other_last).zip(out_last) {
            sums[1] = simd.mul_add_e_f32s(out, tanh(simd, simd.add_f32s(pair, other)), sums[1]);
        }
        let rest = [pair_rest, other_rest, out_rest].map(|rest| simd.partial_load_f32s(rest));
        let value = tanh(simd, simd.add_f32s(rest[0], rest[1]));
        sums[0] = simd.mul_add_e_f32s(rest[2], value, sums[0]);
        simd.reduce_sum_f32s(simd.add_f32s(sums[0], sums[1]))
    }

    #[inline(always)]
    fn add_logit_gradient<S: Simd>(simd: S, slope: Self, rows: HiddenRows<'_, Self>) {
        let slope = simd.splat_f32s(slope);
        let (pair, pair_rest) = S::as_simd_f32s(rows.pair);
        let (other, other_rest) = S::as_simd_f32s(rows.other);
        let (out, out_rest) = S::as_simd_f32s(rows.out);
        let (out_gradient, out_gradient_rest) = S::as_mut_simd_f32s(rows.out_gradient);
        let (pair_gradient, pair_gradient_rest) = S::as_mut_simd_f32s(rows.pair_gradient);
        let (other_gradient, other_gradient_rest) = S::as_mut_simd_f32s(rows.other_gradient);
        let given = pair.iter().zip(other).zip(out);
        let gradients = out_gradient.iter_mut().zip(pair_gradient).zip(other_gradient);
        for (((&pair, &other), &out), ((to_out, to_pair), to_other)) in given.zip(gradients) {
            let value = tanh(simd, simd.add_f32s(pair, other));
            let gradient = before_tanh(simd, simd.mul_f32s(slope, out), value);
            *to_out = simd.mul_add_e_f32s(slope, value, *to_out);
            *to_pair = simd.add_f32s(*to_pair, gradient);
            *to_other = simd.add_f32s(*to_other, gradient);
        }
        let [pair, other, out] = [pair_rest, other_rest, out_rest].map(|rest| simd.partial_load_f32s(rest));
        let value = tanh(simd, simd.add_f32s(pair, other));
        let gradient = before_tanh(simd, simd.mul_f32s(slope, out), value);
        let old = simd.partial_load_f32s(out_gradient_rest);
        simd.partial_store_f32s(out_gradient_rest, simd.mul_add_e_f32s(slope, value, old));
        for rest in [pair_gradient_rest, other_gradient_rest] {
            let sum = simd.add_f32s(simd.partial_load_f32s(rest), gradient);
            simd.partial_store_f32s(rest, sum);
        }
    }
}

/// The gradient before a hyperbolic tangent, from that after it.
#[inline(always)]
fn before_tanh<S: Simd>(simd: S, gradient: S::f32s, value: S::f32s) -> S::f32s {
    simd.mul_f32s(gradient, simd.mul_add_e_f32s(simd.neg_f32s(value), value, simd.splat_f32s(1.0)))
}

/// As [`rana_embed::elementary_functions::tanh`].
#[inline(always)]
fn tanh<S: Simd>(simd: S, x: S::f32s) -> S::f32s {
    let x = simd.min_f32s(simd.max_f32s(x, simd.splat_f32s(-8.5)), simd.splat_f32s(8.5));
    let y = simd.mul_f32s(x, x);
    let (mut over, mut under) = (simd.splat_f32s(TANH_OVER[0]), simd.splat_f32s(TANH_UNDER[0]));
    for at in 1..TANH_OVER.len() {
        over = simd.mul_add_e_f32s(over, y, simd.splat_f32s(TANH_OVER[at]));
        under = simd.mul_add_e_f32s(under, y, simd.splat_f32s(TANH_UNDER[at]));
    }
    simd.div_f32s(simd.mul_f32s(x, over), under)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use pulp::WithSimd;

    /// Runs every kernel on some rows: gives its results, and its sums added to ones.
    struct All<'a, T> {
        rows: [&'a [T]; 3],
        slope: T,
    }

    impl<T: Real> WithSimd for All<'_, T> {
        type Output = Vec<T>;

        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) -> Vec<T> {
            let [a, b, c] = self.rows;
            let ones = || vec![T::ONE; a.len()];
            let mut found = vec![T::dot_by(simd, a, b), T::logit(simd, a, b, c)];
            let mut summed = ones();
            T::weighted_sum(simd, &mut summed, &[self.slope, T::ONE, self.slope], &[a, b, c]);
            let mut scaled = ones();
            T::add_scaled_by(simd, &mut scaled, self.slope, a);
            let [mut out, mut pair, mut other] = [(); 3].map(|()| ones());
            let rows = HiddenRows {
                pair: a,
                other: b,
                out: c,
                out_gradient: &mut out,
                pair_gradient: &mut pair,
                other_gradient: &mut other,
            };
            T::add_logit_gradient(simd, self.slope, rows);
            for row in [summed, scaled, out, pair, other] {
                found.extend(row);
            }
            found
        }
    }

    proptest! {
        #[test]
        fn vectors_compute_what_plain_loops_do(
            rows in (0usize..70).prop_flat_map(|len| prop::collection::vec(-3.0f64..3.0, 3 * len)),
            slope in -2.0f64..2.0,
        ) {
            let len = rows.len() / 3;
            let narrow: Vec<f32> = rows.iter().map(|&value| value as f32).collect();
            let wide: Vec<f64> = narrow.iter().map(|&value| f64::from(value)).collect();
            let slope = slope as f32;
            let wide_rows = [0, 1, 2].map(|row| &wide[row * len..(row + 1) * len]);
            let narrow_rows = [0, 1, 2].map(|row| &narrow[row * len..(row + 1) * len]);
            let expected = Arch::new().dispatch(All { rows: wide_rows, slope: f64::from(slope) });
            for found in [
                Arch::new().dispatch(All { rows: narrow_rows, slope }),
                All { rows: narrow_rows, slope }.with_simd(pulp::Scalar::new()),
            ] {
                for (found, expected) in found.iter().zip(&expected) {
                    prop_assert!((f64::from(*found) - expected).abs() < 2e-4, "{} {}", found, expected);
                }
            }
        }
    }
}
