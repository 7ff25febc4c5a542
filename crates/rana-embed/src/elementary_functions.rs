//! Elementary functions that the compiler can vectorise.
//!
//! The functions of the standard library are calls, and a loop with a call cannot be vectorised. These are
//! branch-free polynomials, accurate to a few units in the last place within their stated range.

/// Adding this to a small number rounds it to an integer, which is then in the low bits.
///
/// A conversion with `as` checks each number for overflow.
const ROUND: f32 = 12_582_912.0;

/// `e^x`, for `x` clamped to ±87.
#[inline(always)]
#[must_use]
pub fn exp(x: f32) -> f32 {
    let x = x.clamp(-87.0, 87.0);
    let shifted = x * std::f32::consts::LOG2_E + ROUND;
    let n = shifted - ROUND;
    // ln 2 in two parts, so that the remainder keeps its low bits.
    let r = x - n * 0.693_359_4 + n * 2.121_944_4e-4;
    let p = 1.987_569_1e-4;
    let p = p * r + 1.398_2e-3;
    let p = p * r + 8.333_452e-3;
    let p = p * r + 4.166_579_6e-2;
    let p = p * r + 1.666_666_5e-1;
    let p = p * r + 0.5;
    let y = p * r * r + r + 1.0;
    // The shift drops all of `ROUND` but leaves `n` where the exponent is.
    y * f32::from_bits((shifted.to_bits() << 23).wrapping_add(127 << 23))
}

/// `ln(1 + e^x)` and its slope, the sigmoid `1 / (1 + e^-x)`: both from one exponential.
#[inline(always)]
#[must_use]
pub fn softplus_and_sigmoid(x: f32) -> (f32, f32) {
    let y = exp(-x.abs());
    // ln(1 + y) = 2 artanh(y / (2 + y)), whose series converges fast for y in (0, 1].
    let z = y / (2.0 + y);
    let s = z * z;
    let p = 1.0 / 13.0;
    let p = p * s + 1.0 / 11.0;
    let p = p * s + 1.0 / 9.0;
    let p = p * s + 1.0 / 7.0;
    let p = p * s + 1.0 / 5.0;
    let p = p * s + 1.0 / 3.0;
    let p = p * s + 1.0;
    let slope = if x < 0.0 { y } else { 1.0 } / (1.0 + y);
    (x.max(0.0) + 2.0 * z * p, slope)
}

/// The polynomials of [`tanh`]: numerator and denominator, by falling powers of `x²`.
pub const TANH_OVER: [f32; 5] = [1.426_917e-8, 2.125_1e-5, 3.534_024e-3, 0.134_132_45, 1.0];
/// See [`TANH_OVER`].
pub const TANH_UNDER: [f32; 5] = [8.145_099e-7, 3.348_860_4e-4, 2.602_274_1e-2, 0.467_465_67, 1.0];

/// The hyperbolic tangent.
///
/// An odd rational function, fitted where tanh differs from ±1 in single precision. A quotient of exponentials would
/// cost twice as much.
#[inline(always)]
#[must_use]
pub fn tanh(x: f32) -> f32 {
    let x = x.clamp(-8.5, 8.5);
    let y = x * x;
    let polynomial = |coefficients: [f32; 5]| coefficients.into_iter().fold(0.0, |sum, next| sum * y + next);
    x * polynomial(TANH_OVER) / polynomial(TANH_UNDER)
}

/// `1 / √x` for a normal `x` above zero.
///
/// Halving the exponent gives the first guess, and Newton's method corrects it. These are pipelined multiplications;
/// a square root and a division take many cycles each.
#[inline(always)]
#[must_use]
pub fn inverse_sqrt(x: f32) -> f32 {
    let half = 0.5 * x;
    let mut y = f32::from_bits(0x5f37_5a86 - (x.to_bits() >> 1));
    y *= 1.5 - half * y * y;
    y *= 1.5 - half * y * y;
    y * (1.5 - half * y * y)
}

/// `(sin x, cos x)`, for `|x|` up to some thousands.
#[inline(always)]
#[must_use]
pub fn sin_cos(x: f32) -> (f32, f32) {
    let shifted = x * std::f32::consts::FRAC_2_PI + ROUND;
    let quarter = shifted - ROUND;
    // π/2 in three parts, so that the remainder keeps its low bits.
    let r = x - quarter * 1.570_312_5 - quarter * 4.837_513e-4 - quarter * 7.549_79e-8;
    let s = r * r;
    let sin = ((-1.951_529_6e-4 * s + 8.332_161e-3) * s - 1.666_665_5e-1) * s * r + r;
    let cos = ((2.443_315_7e-5 * s - 1.388_731_6e-3) * s + 4.166_664_6e-2) * s * s - 0.5 * s + 1.0;
    let quadrant = shifted.to_bits();
    let (sin, cos) = if quadrant & 1 == 0 { (sin, cos) } else { (cos, sin) };
    // The second bit of the quadrant becomes the sign.
    let flip_sin = (quadrant & 2) << 30;
    let flip_cos = (quadrant.wrapping_add(1) & 2) << 30;
    (f32::from_bits(sin.to_bits() ^ flip_sin), f32::from_bits(cos.to_bits() ^ flip_cos))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn elementary_functions_agree_with_the_standard_library(x in -80.0f32..80.0) {
            let close = |ours: f32, theirs: f64| (f64::from(ours) - theirs).abs() <= 3e-7 * theirs.abs().max(1e-30);
            let wide = f64::from(x);
            prop_assert!(close(exp(x), wide.exp()));
            let (softplus, sigmoid) = softplus_and_sigmoid(x);
            prop_assert!(close(sigmoid, 1.0 / (1.0 + (-wide).exp())));
            prop_assert!((f64::from(softplus) - wide.exp().ln_1p()).abs() <= 4e-7 * wide.exp().ln_1p().max(1e-30));
            let positive = exp(x);
            prop_assert!(close(inverse_sqrt(positive), 1.0 / f64::from(positive).sqrt()));
            let (small, tangent) = (x / 8.0, (wide / 8.0).tanh());
            prop_assert!((f64::from(tanh(small)) - tangent).abs() <= 4e-7 * tangent.abs());
            let (sin, cos) = sin_cos(x);
            prop_assert!((f64::from(sin) - wide.sin()).abs() < 3e-7);
            prop_assert!((f64::from(cos) - wide.cos()).abs() < 3e-7);
        }
    }
}
