//! [`Real`]: the numbers that RANA computes with.
//!
//! Training runs in `f32`. The very same code in `f64` is what the tests hold against finite
//! differences, which single precision could not tell from noise.

use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub, SubAssign};

use pulp::{Scalar, Simd};
use rana_embed::math;
use rana_embed::matmul::Element;

/// `f32` or `f64`.
pub(crate) trait Real:
    Element
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
    /// `self · factor + term`, rounded once: fast if the processor has an instruction for it, else very slow.
    fn fused(self, factor: Self, term: Self) -> Self;
    /// The hyperbolic tangent by such instructions.
    fn tanh_fused(self) -> Self;
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
    fn fused(self, factor: Self, term: Self) -> Self {
        self.mul_add(factor, term)
    }
    #[inline(always)]
    fn tanh_fused(self) -> Self {
        math::tanh_by(self, Self::mul_add)
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
    fn fused(self, factor: Self, term: Self) -> Self {
        self.mul_add(factor, term)
    }
    fn tanh_fused(self) -> Self {
        self.tanh()
    }
    fn softplus_and_sigmoid(self) -> (Self, Self) {
        let y = (-self.abs()).exp();
        (self.max(0.0) + y.ln_1p(), if self < 0.0 { y } else { 1.0 } / (1.0 + y))
    }
}

/// Numbers that are worked on side by side, so that the compiler can use vectors.
pub(crate) const LANES: usize = 16;

/// The same for what is left of a row after that. Without it, the last few numbers of a row of 100 would
/// cost as much as twenty others.
pub(crate) const FEW: usize = 4;

/// `a b + c`, by one instruction where vectors of kind `S` have one. To be used in what is dispatched by
/// `pulp`, which knows that the processor has it.
#[inline(always)]
pub(crate) fn add_product<S: Simd, T: Real>(a: T, b: T, c: T) -> T {
    if S::IS_SCALAR { a * b + c } else { a.fused(b, c) }
}

/// `Σ aᵢ bᵢ`, always summed in the same order.
#[inline(always)]
pub(crate) fn dot<T: Real>(a: &[T], b: &[T]) -> T {
    dot_by::<Scalar, T>(a, b)
}

/// The same by vectors of a kind.
#[inline(always)]
pub(crate) fn dot_by<S: Simd, T: Real>(a: &[T], b: &[T]) -> T {
    let mut lanes = [T::ZERO; LANES];
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    for (a, b) in a.iter().zip(b) {
        for lane in 0..LANES {
            lanes[lane] = add_product::<S, T>(a[lane], b[lane], lanes[lane]);
        }
    }
    // Lanes of their own: with some of the others, all would be taken apart.
    let mut few = [T::ZERO; FEW];
    let ((a, a_rest), (b, b_rest)) = (a_rest.as_chunks::<FEW>(), b_rest.as_chunks::<FEW>());
    for (a, b) in a.iter().zip(b) {
        for lane in 0..FEW {
            few[lane] = add_product::<S, T>(a[lane], b[lane], few[lane]);
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
    add_scaled_by::<Scalar, T>(to, factor, from);
}

/// The same by vectors of a kind.
#[inline(always)]
pub(crate) fn add_scaled_by<S: Simd, T: Real>(to: &mut [T], factor: T, from: &[T]) {
    let (to, from) = add_scaled_blocks::<S, T, LANES>(to, factor, from);
    let (to, from) = add_scaled_blocks::<S, T, FEW>(to, factor, from);
    add_scaled_blocks::<S, T, 1>(to, factor, from);
}

/// The same in blocks of a size; what is left of the rows.
#[inline(always)]
fn add_scaled_blocks<'t, 'f, S: Simd, T: Real, const SIZE: usize>(
    to: &'t mut [T],
    factor: T,
    from: &'f [T],
) -> (&'t mut [T], &'f [T]) {
    let ((to, to_rest), (from, from_rest)) = (to.as_chunks_mut::<SIZE>(), from.as_chunks::<SIZE>());
    for (to, from) in to.iter_mut().zip(from) {
        // Read as a whole and written as a whole, or the compiler fears that the rows overlap.
        let (mut sum, from) = (*to, *from);
        for lane in 0..SIZE {
            sum[lane] = add_product::<S, T>(factor, from[lane], sum[lane]);
        }
        *to = sum;
    }
    (to_rest, from_rest)
}

/// `to = tanh(a + b)`, by vectors of a kind.
#[inline(always)]
pub(crate) fn tanh_of_sum<S: Simd, T: Real>(to: &mut [T], a: &[T], b: &[T]) {
    let rows = tanh_of_sum_blocks::<S, T, LANES>(to, a, b);
    let rows = tanh_of_sum_blocks::<S, T, FEW>(rows.0, rows.1, rows.2);
    tanh_of_sum_blocks::<S, T, 1>(rows.0, rows.1, rows.2);
}

/// The same in blocks of a size; what is left of the rows.
#[inline(always)]
fn tanh_of_sum_blocks<'t, 'f, S: Simd, T: Real, const SIZE: usize>(
    to: &'t mut [T],
    a: &'f [T],
    b: &'f [T],
) -> (&'t mut [T], &'f [T], &'f [T]) {
    let (to, to_rest) = to.as_chunks_mut::<SIZE>();
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<SIZE>(), b.as_chunks::<SIZE>());
    for ((to, a), b) in to.iter_mut().zip(a).zip(b) {
        let (mut sum, b) = (*a, *b);
        for lane in 0..SIZE {
            let x = sum[lane] + b[lane];
            sum[lane] = if S::IS_SCALAR { x.tanh() } else { x.tanh_fused() };
        }
        *to = sum;
    }
    (to_rest, a_rest, b_rest)
}
