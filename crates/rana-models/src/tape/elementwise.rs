//! Operations number by number, and those that repeat a row or a column.

use rayon::prelude::*;

use super::linear::add_column_sums;
use super::tape::{BackPass, Tape, Var};
use crate::real::{Real, add_scaled, dot};
use crate::vector_kernels::wide;

/// Numbers that are worked on at once. Their results do not depend on it.
const CHUNK: usize = 1 << 14;

/// `to = f(a)`, number by number.
fn map<T: Real>(a: &[T], f: impl Fn(T) -> T + Sync) -> Vec<T> {
    let mut to = vec![T::ZERO; a.len()];
    to.par_chunks_mut(CHUNK).zip(a.par_chunks(CHUNK)).for_each(|(to, a)| {
        wide(|| to.iter_mut().zip(a).for_each(|(to, &a)| *to = f(a)));
    });
    to
}

/// `to += f(a, b)`, number by number.
pub(super) fn add_mapped<T: Real>(to: &mut [T], a: &[T], b: &[T], f: impl Fn(T, T) -> T + Sync) {
    let inputs = a.par_chunks(CHUNK).zip(b.par_chunks(CHUNK));
    to.par_chunks_mut(CHUNK).zip(inputs).for_each(|(to, (a, b))| {
        wide(|| to.iter_mut().zip(a.iter().zip(b)).for_each(|(to, (&a, &b))| *to += f(a, b)));
    });
}

impl<T: Real> Tape<'_, T> {
    /// `f(x)` with a slope that follows from the result.
    fn by_result(&mut self, x: Var, f: impl Fn(T) -> T + Sync, slope: fn(T) -> T) -> Var {
        let values = map(self.values(x), f);
        self.push(self.shape(x), values, &[x], move |pass| {
            let (gradient, result) = (pass.gradient, pass.result());
            pass.add(x, gradient, result, move |gradient, result| gradient * slope(result));
        })
    }

    /// `f(x)` with a slope that follows from `x`.
    fn by_input(
        &mut self,
        x: Var,
        f: impl Fn(T) -> T + Sync,
        slope: impl Fn(T) -> T + Send + Sync + 'static,
    ) -> Var {
        let values = map(self.values(x), f);
        self.push(self.shape(x), values, &[x], move |pass| {
            let (gradient, x_values) = (pass.gradient, pass.values(x));
            pass.add(x, gradient, x_values, |gradient, x| gradient * slope(x));
        })
    }

    /// `a + b`.
    pub(crate) fn add(&mut self, a: Var, b: Var) -> Var {
        self.add_scaled(a, T::ONE, b)
    }

    /// `a − b`.
    pub(crate) fn subtract(&mut self, a: Var, b: Var) -> Var {
        self.add_scaled(a, -T::ONE, b)
    }

    /// `a + factor · b`.
    pub(crate) fn add_scaled(&mut self, a: Var, factor: T, b: Var) -> Var {
        assert_eq!(self.shape(a), self.shape(b), "shapes differ");
        let mut values = self.values(a).to_vec();
        add_scaled(&mut values, factor, self.values(b));
        self.push(self.shape(a), values, &[a, b], move |pass| {
            let gradient = pass.gradient;
            for (input, factor) in [(a, T::ONE), (b, factor)] {
                if let Some(at) = pass.at(input) {
                    add_scaled(at, factor, gradient);
                }
            }
        })
    }

    /// `factor · x`.
    pub(crate) fn scale(&mut self, x: Var, factor: T) -> Var {
        let values = map(self.values(x), |x| factor * x);
        self.push(self.shape(x), values, &[x], move |pass| {
            let gradient = pass.gradient;
            if let Some(at) = pass.at(x) {
                add_scaled(at, factor, gradient);
            }
        })
    }

    /// `a · b`, number by number.
    pub(crate) fn multiply(&mut self, a: Var, b: Var) -> Var {
        assert_eq!(self.shape(a), self.shape(b), "shapes differ");
        let mut values = vec![T::ZERO; self.values(a).len()];
        add_mapped(&mut values, self.values(a), self.values(b), |a, b| a * b);
        self.push(self.shape(a), values, &[a, b], move |pass| {
            let (gradient, a_values, b_values) = (pass.gradient, pass.values(a), pass.values(b));
            pass.add(a, gradient, b_values, |gradient, b| gradient * b);
            pass.add(b, gradient, a_values, |gradient, a| gradient * a);
        })
    }

    /// `a / b`, number by number; zero where `b` is.
    pub(crate) fn divide(&mut self, a: Var, b: Var) -> Var {
        assert_eq!(self.shape(a), self.shape(b), "shapes differ");
        let over = |a: T, b: T| if b == T::ZERO { T::ZERO } else { a / b };
        let mut values = vec![T::ZERO; self.values(a).len()];
        add_mapped(&mut values, self.values(a), self.values(b), over);
        self.push(self.shape(a), values, &[a, b], move |pass| {
            let (gradient, b_values, result) = (pass.gradient, pass.values(b), pass.result());
            pass.add(a, gradient, b_values, over);
            let mut at_result = vec![T::ZERO; gradient.len()];
            add_mapped(&mut at_result, gradient, result, |gradient, result| -gradient * result);
            pass.add(b, &at_result, b_values, over);
        })
    }

    /// Adds a row (or a bias) to each row of a matrix.
    pub(crate) fn add_row(&mut self, x: Var, row: Var) -> Var {
        let (rows, columns) = self.shape(x);
        assert_eq!(self.values(row).len(), columns, "the row has another width");
        let mut values = self.values(x).to_vec();
        values.chunks_exact_mut(columns).for_each(|to| add_scaled(to, T::ONE, self.values(row)));
        self.push((rows, columns), values, &[x, row], move |pass| {
            let gradient = pass.gradient;
            if let Some(at) = pass.at(x) {
                add_scaled(at, T::ONE, gradient);
            }
            if let Some(at) = pass.at(row) {
                add_column_sums(at, gradient);
            }
        })
    }

    /// Multiplies each row of a matrix by its number in a column.
    pub(crate) fn multiply_by_column(&mut self, x: Var, column: Var) -> Var {
        let (rows, columns) = self.shape(x);
        assert_eq!(self.shape(column), (rows, 1), "one number per row is needed");
        let mut values = vec![T::ZERO; rows * columns];
        let inputs = self.values(x).chunks_exact(columns).zip(self.values(column));
        for (to, (x, &factor)) in values.chunks_exact_mut(columns).zip(inputs) {
            add_scaled(to, factor, x);
        }
        self.push((rows, columns), values, &[x, column], move |pass| {
            let (gradient, x_values, factors) = (pass.gradient, pass.values(x), pass.values(column));
            if let Some(at) = pass.at(x) {
                let rows = at.chunks_exact_mut(columns).zip(gradient.chunks_exact(columns));
                rows.zip(factors).for_each(|((at, gradient), &factor)| add_scaled(at, factor, gradient));
            }
            if let Some(at) = pass.at(column) {
                let rows = gradient.chunks_exact(columns).zip(x_values.chunks_exact(columns));
                at.iter_mut().zip(rows).for_each(|(at, (gradient, x))| *at += dot(gradient, x));
            }
        })
    }

    /// The hyperbolic tangent.
    pub(crate) fn tanh(&mut self, x: Var) -> Var {
        self.by_result(x, T::tanh, |result| T::ONE - result * result)
    }

    /// `1 / (1 + e^-x)`.
    pub(crate) fn sigmoid(&mut self, x: Var) -> Var {
        self.by_result(x, sigmoid, |result| result * (T::ONE - result))
    }

    /// `max(0, x)`.
    pub(crate) fn relu(&mut self, x: Var) -> Var {
        self.leaky_relu(x, 0.0)
    }

    /// `x` above zero, `leak · x` below.
    pub(crate) fn leaky_relu(&mut self, x: Var, leak: f64) -> Var {
        let slope = move |x: T| if x < T::ZERO { T::of(leak) } else { T::ONE };
        self.by_input(x, move |x| slope(x) * x, slope)
    }

    /// The Gaussian error linear unit, by the formula with a hyperbolic tangent (Hendrycks and Gimpel, 2016). It
    /// differs from the exact one by less than 0.0005.
    pub(crate) fn gelu(&mut self, x: Var) -> Var {
        self.by_input(x, |x| x * normal_below(x).0, |x| normal_below(x).0 + x * normal_below(x).1)
    }

    /// `e^x`.
    pub(crate) fn exp(&mut self, x: Var) -> Var {
        self.by_result(x, T::exp, |result| result)
    }

    /// The natural logarithm.
    pub(crate) fn ln(&mut self, x: Var) -> Var {
        self.by_input(x, |x| T::of(x.wide().ln()), |x| T::ONE / x)
    }
}

impl<T: Real> BackPass<'_, T> {
    /// Adds `f(a, b)` to the gradient of an input, number by number.
    pub(super) fn add(&mut self, input: Var, a: &[T], b: &[T], f: impl Fn(T, T) -> T + Sync) {
        if let Some(at) = self.at(input) {
            add_mapped(at, a, b, f);
        }
    }
}

/// `1 / (1 + e^-x)`.
#[inline(always)]
pub(super) fn sigmoid<T: Real>(x: T) -> T {
    let half = T::of(0.5);
    half + half * (half * x).tanh()
}

/// About the share of a standard normal distribution below `x`, and its slope.
#[inline(always)]
fn normal_below<T: Real>(x: T) -> (T, T) {
    let (scale, cubic) = (T::of((2.0 / std::f64::consts::PI).sqrt()), T::of(0.044_715));
    let (half, three) = (T::of(0.5), T::of(3.0));
    let tanh = (scale * (x + cubic * x * x * x)).tanh();
    let slope = half * (T::ONE - tanh * tanh) * scale * (T::ONE + three * cubic * x * x);
    (half * (T::ONE + tanh), slope)
}
