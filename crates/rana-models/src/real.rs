//! [`Real`]: the numbers that RANA computes with.
//!
//! Training runs in `f32`. The very same code in `f64` is what the tests hold against finite
//! differences, which single precision could not tell from noise.

use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub, SubAssign};

use rana_embed::elementary_functions as math;
use rana_embed::matmul::Element;

use crate::vector_kernels::Kernels;

/// `f32` or `f64`.
pub(crate) trait Real:
    Kernels
    + Element
    + Send
    + Sync
    + PartialOrd
    + Default
    + std::fmt::Debug
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
    + Sum
{
    /// Zero.
    const ZERO: Self;

    /// The nearest number of this type.
    fn of(value: f64) -> Self;
    /// The same number in double precision.
    fn wide(self) -> f64;
    /// The square root.
    fn sqrt(self) -> Self;
    /// `e^x`.
    fn exp(self) -> Self;
    /// The hyperbolic tangent.
    fn tanh(self) -> Self;
    /// `ln(1 + e^x)` and its slope, the sigmoid.
    fn softplus_and_sigmoid(self) -> (Self, Self);
}

impl Real for f32 {
    const ZERO: Self = 0.0;

    #[inline(always)]
    fn of(value: f64) -> Self {
        value as Self
    }
    #[inline(always)]
    fn wide(self) -> f64 {
        self.into()
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        self.sqrt()
    }
    #[inline(always)]
    fn exp(self) -> Self {
        math::exp(self)
    }
    #[inline(always)]
    fn tanh(self) -> Self {
        math::tanh(self)
    }
    #[inline(always)]
    fn softplus_and_sigmoid(self) -> (Self, Self) {
        math::softplus_and_sigmoid(self)
    }
}

impl Real for f64 {
    const ZERO: Self = 0.0;

    fn of(value: f64) -> Self {
        value
    }
    fn wide(self) -> f64 {
        self
    }
    fn sqrt(self) -> Self {
        self.sqrt()
    }
    fn exp(self) -> Self {
        self.exp()
    }
    fn tanh(self) -> Self {
        self.tanh()
    }
    fn softplus_and_sigmoid(self) -> (Self, Self) {
        let y = (-self.abs()).exp();
        (self.max(0.0) + y.ln_1p(), if self < 0.0 { y } else { 1.0 } / (1.0 + y))
    }
}

/// Numbers that are worked on side by side, so that the compiler can use vectors.
const LANES: usize = 16;

/// The same for what is left of a row after that. Without it, the last few numbers of a row of 100 would
/// cost as much as twenty others.
const FEW: usize = 4;

/// `Σ aᵢ bᵢ`, always summed in the same order.
#[inline(always)]
pub(crate) fn dot<T: Real>(a: &[T], b: &[T]) -> T {
    let mut lanes = [T::ZERO; LANES];
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    for (a, b) in a.iter().zip(b) {
        for lane in 0..LANES {
            lanes[lane] += a[lane] * b[lane];
        }
    }
    // Lanes of their own: with some of the others, all would be taken apart.
    let mut few = [T::ZERO; FEW];
    let ((a, a_rest), (b, b_rest)) = (a_rest.as_chunks::<FEW>(), b_rest.as_chunks::<FEW>());
    for (a, b) in a.iter().zip(b) {
        for lane in 0..FEW {
            few[lane] += a[lane] * b[lane];
        }
    }
    let rest: T = a_rest.iter().zip(b_rest).map(|(&a, &b)| a * b).sum();
    // By halves: a chain of additions would take longer than all products.
    let mut eight: [T; 8] = [T::ZERO; 8];
    for lane in 0..8 {
        eight[lane] = lanes[lane] + lanes[lane + 8];
    }
    for lane in 0..FEW {
        few[lane] += eight[lane] + eight[lane + 4];
    }
    (few[0] + few[2]) + (few[1] + few[3]) + rest
}

/// `to += factor · from`.
#[inline(always)]
pub(crate) fn add_scaled<T: Real>(to: &mut [T], factor: T, from: &[T]) {
    for (to, &from) in to.iter_mut().zip(from) {
        *to += factor * from;
    }
}

/// The softmax over some logits and one more that stands for several alike; the weight of those.
#[inline(always)]
pub(crate) fn softmax<T: Real>(logits: &mut [T], repeated: Option<(T, T)>) -> T {
    let greater = |a: T, b: T| if b > a { b } else { a };
    let Some(&first) = logits.first().or(repeated.as_ref().map(|(logit, _)| logit)) else { return T::ZERO };
    let mut most = logits.iter().copied().fold(first, greater);
    if let Some((logit, _)) = repeated {
        most = greater(most, logit);
    }
    for logit in logits.iter_mut() {
        *logit = (*logit - most).exp();
    }
    let of_repeated = repeated.map_or(T::ZERO, |(logit, times)| times * (logit - most).exp());
    let scale = T::ONE / (logits.iter().copied().sum::<T>() + of_repeated);
    for logit in logits {
        *logit *= scale;
    }
    of_repeated * scale
}
