//! Matrix products, through the `gemm` crate.
//!
//! Each product runs on the calling thread, so its sums do not depend on the number of threads.
#![allow(unsafe_code, reason = "`gemm` takes raw pointers; the one call to it is checked right before")]

use gemm::Parallelism;

use crate::similarity::{Blocks, Forward};

/// For each group: adds to the gradient of a query the sum of the candidates, weighted by its row of `weights`; adds
/// to the gradient of a candidate the sum of the queries, weighted by its column.
pub(crate) fn add_weighted_sums(
    shape: Blocks,
    forward: Forward<'_>,
    weights: &[f32],
    query_gradients: &mut [f32],
    candidate_gradients: &mut [f32],
) {
    let Blocks { queries: q, candidates: c, dim, .. } = shape;
    for group in 0..shape.groups {
        let (queries, candidates) =
            (group * q * dim..(group + 1) * q * dim, group * c * dim..(group + 1) * c * dim);
        let weights = Matrix::new(&weights[group * q * c..(group + 1) * q * c], q, c);
        let of_queries = Matrix::new(&forward.queries[queries.clone()], q, dim);
        let of_candidates = Matrix::new(&forward.candidates[candidates.clone()], c, dim);
        add_product(&mut query_gradients[queries], weights, of_candidates);
        add_product(&mut candidate_gradients[candidates], weights.transposed(), of_queries);
    }
}

/// A row-major matrix, or the transpose of one.
///
/// ```
/// use rana_embed::matmul::{Matrix, add_product};
/// let a = Matrix::new(&[1.0, 2.0, 3.0, 4.0], 2, 2);
/// let mut sum = [10.0, 10.0];
/// add_product(&mut sum, a, Matrix::new(&[1.0, 0.5], 1, 2).transposed());
/// assert_eq!(sum, [12.0, 15.0]);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Matrix<'a, T> {
    values: &'a [T],
    rows: usize,
    columns: usize,
    is_transposed: bool,
}

impl<'a, T> Matrix<'a, T> {
    /// A matrix with its rows one after the other in `values`.
    ///
    /// # Panics
    /// If the number of values is not `rows * columns`.
    #[must_use]
    pub fn new(values: &'a [T], rows: usize, columns: usize) -> Self {
        assert_eq!(values.len(), rows * columns, "values do not fit the shape");
        Self { values, rows, columns, is_transposed: false }
    }

    /// The transposed matrix.
    #[must_use]
    pub fn transposed(self) -> Self {
        Self { rows: self.columns, columns: self.rows, is_transposed: !self.is_transposed, ..self }
    }

    /// Rows and columns.
    #[must_use]
    pub fn shape(&self) -> (usize, usize) {
        (self.rows, self.columns)
    }

    /// The numbers as they stand in memory.
    #[must_use]
    pub fn values(&self) -> &'a [T] {
        self.values
    }

    /// The distances in memory between neighbours in a row and in a column.
    fn strides(&self) -> (isize, isize) {
        if self.is_transposed { (self.rows as isize, 1) } else { (1, self.columns as isize) }
    }
}

/// A type of matrix elements: `f32` or `f64`.
pub trait Element: sealed::Sealed + Copy + 'static {
    /// The neutral element of multiplication.
    const ONE: Self;
}

impl Element for f32 {
    const ONE: Self = 1.0;
}

impl Element for f64 {
    const ONE: Self = 1.0;
}

mod sealed {
    /// Restricts `Element` to the types that `gemm` supports.
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

/// Adds `a · b` to a row-major matrix, on the calling thread.
///
/// # Panics
/// If the shapes do not fit.
pub fn add_product<T: Element>(to: &mut [T], a: Matrix<'_, T>, b: Matrix<'_, T>) {
    assert_eq!(a.columns, b.rows);
    assert_eq!(a.values.len(), a.rows * a.columns);
    assert_eq!(b.values.len(), b.rows * b.columns);
    assert_eq!(to.len(), a.rows * b.columns);
    let ((a_columns, a_rows), (b_columns, b_rows)) = (a.strides(), b.strides());
    // SAFETY: by the four assertions above, every element that the shapes and strides address is inside its slice.
    // `to` is borrowed exclusively, so it overlaps neither `a` nor `b`.
    unsafe {
        gemm::gemm(
            a.rows,
            b.columns,
            a.columns,
            to.as_mut_ptr(),
            1,
            b.columns as isize,
            true,
            a.values.as_ptr(),
            a_columns,
            a_rows,
            b.values.as_ptr(),
            b_columns,
            b_rows,
            T::ONE,
            T::ONE,
            false,
            false,
            false,
            Parallelism::None,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn products_agree_with_three_loops(
            (m, k, n) in (1usize..20, 1usize..20, 1usize..20),
            turn in any::<[bool; 2]>(),
            seed in prop::collection::vec(-1.0f32..1.0, 800),
        ) {
            let shape = |values, rows, columns, turn| {
                if turn { Matrix::new(values, columns, rows).transposed() } else { Matrix::new(values, rows, columns) }
            };
            let (a, b) = (shape(&seed[..m * k], m, k, turn[0]), shape(&seed[400..400 + k * n], k, n, turn[1]));
            let at = |matrix: &Matrix<'_, f32>, row: usize, column: usize| {
                let (columns, rows) = matrix.strides();
                matrix.values[row * rows as usize + column * columns as usize]
            };
            let mut to = vec![1.0; m * n];
            add_product(&mut to, a, b);
            for row in 0..m {
                for column in 0..n {
                    let expected = 1.0 + (0..k).map(|i| at(&a, row, i) * at(&b, i, column)).sum::<f32>();
                    prop_assert!((to[row * n + column] - expected).abs() < 1e-4);
                }
            }
        }
    }
}
