//! Matrix products.

use rana_embed::matmul::{Matrix, add_product};
use rayon::prelude::*;

use super::tape::{Tape, Var};
use crate::real::{Real, add_scaled, dot};

/// Rows that are multiplied at once.
const CHUNK: usize = 96;
/// Into how many parts sums over rows are made.
const PARTS: usize = 8;

impl<T: Real> Tape<'_, T> {
    /// `x Wᵀ + b`: n × i and o × i (and o numbers) to n × o.
    pub(crate) fn linear(&mut self, x: Var, weight: Var, bias: Option<Var>) -> Var {
        let ((rows, inputs), (outputs, columns)) = (self.shape(x), self.shape(weight));
        assert_eq!(inputs, columns, "the weight has other inputs");
        let mut sums = vec![T::ZERO; rows * outputs];
        if let Some(bias) = bias {
            let bias = self.values(bias);
            assert_eq!(bias.len(), outputs, "the bias has other outputs");
            sums.chunks_exact_mut(outputs).for_each(|row| row.copy_from_slice(bias));
        }
        add_rows_times(
            &mut sums,
            self.values(x),
            Matrix::new(self.values(weight), outputs, inputs).transposed(),
        );
        let used: Vec<Var> = [x, weight].into_iter().chain(bias).collect();
        self.push((rows, outputs), sums, &used, move |pass| {
            let (gradient, x_values, weights) = (pass.gradient, pass.values(x), pass.values(weight));
            if let Some(at) = pass.at(x) {
                add_rows_times(at, gradient, Matrix::new(weights, outputs, inputs));
            }
            if let Some(at) = pass.at(weight) {
                add_columns_times(at, (gradient, outputs), (x_values, inputs));
            }
            if let Some(at) = bias.and_then(|bias| pass.at(bias)) {
                add_column_sums(at, gradient);
            }
        })
    }

    /// `base + x Wᵀ`: n × o, n × i and o × i to n × o.
    pub(crate) fn add_linear(&mut self, base: Var, x: Var, weight: Var) -> Var {
        let ((rows, inputs), (outputs, columns)) = (self.shape(x), self.shape(weight));
        assert_eq!((self.shape(base), inputs), ((rows, outputs), columns), "shapes do not fit");
        let mut sums = self.values(base).to_vec();
        add_rows_times(
            &mut sums,
            self.values(x),
            Matrix::new(self.values(weight), outputs, inputs).transposed(),
        );
        self.push((rows, outputs), sums, &[base, x, weight], move |pass| {
            let (gradient, x_values, weights) = (pass.gradient, pass.values(x), pass.values(weight));
            if let Some(at) = pass.at(base) {
                add_scaled(at, T::ONE, gradient);
            }
            if let Some(at) = pass.at(x) {
                add_rows_times(at, gradient, Matrix::new(weights, outputs, inputs));
            }
            if let Some(at) = pass.at(weight) {
                add_columns_times(at, (gradient, outputs), (x_values, inputs));
            }
        })
    }

    /// `A Bᵀ`: n × k and m × k to n × m.
    pub(crate) fn product_transposed(&mut self, a: Var, b: Var) -> Var {
        self.linear(a, b, None)
    }

    /// `A B`: n × k and k × m to n × m.
    pub(crate) fn product(&mut self, a: Var, b: Var) -> Var {
        let ((rows, inner), (b_rows, columns)) = (self.shape(a), self.shape(b));
        assert_eq!(inner, b_rows, "inner sizes differ");
        let mut sums = vec![T::ZERO; rows * columns];
        add_rows_times(&mut sums, self.values(a), Matrix::new(self.values(b), inner, columns));
        self.push((rows, columns), sums, &[a, b], move |pass| {
            let (gradient, a_values, b_values) = (pass.gradient, pass.values(a), pass.values(b));
            if let Some(at) = pass.at(a) {
                add_rows_times(at, gradient, Matrix::new(b_values, inner, columns).transposed());
            }
            if let Some(at) = pass.at(b) {
                add_columns_times(at, (a_values, inner), (gradient, columns));
            }
        })
    }
}

/// `to += A B`. A row of the result depends only on its row of `A`, to the last bit.
///
/// `gemm` sums in an order that depends on the number of rows. So it always gets the same number: what is missing in
/// the last chunk is filled up with zeros.
fn add_rows_times<T: Real>(to: &mut [T], a: &[T], b: Matrix<'_, T>) {
    let (inner, columns) = b.shape();
    if columns == 1 {
        to.iter_mut().zip(a.chunks_exact(inner)).for_each(|(to, a)| *to += dot(a, b.values()));
        return;
    }
    to.par_chunks_mut(CHUNK * columns).zip(a.par_chunks(CHUNK * inner)).for_each(|(to, a)| {
        if a.len() == CHUNK * inner {
            add_product(to, Matrix::new(a, CHUNK, inner), b);
        } else {
            let (mut sums, mut rows) = (vec![T::ZERO; CHUNK * columns], vec![T::ZERO; CHUNK * inner]);
            sums[..to.len()].copy_from_slice(to);
            rows[..a.len()].copy_from_slice(a);
            add_product(&mut sums, Matrix::new(&rows, CHUNK, inner), b);
            to.copy_from_slice(&sums[..to.len()]);
        }
    });
}

/// `to += Aᵀ B`: a sum over rows, in fixed parts.
fn add_columns_times<T: Real>(to: &mut [T], (a, a_columns): (&[T], usize), (b, b_columns): (&[T], usize)) {
    let rows = a.len() / a_columns;
    let parts = PARTS.min(rows.div_ceil(CHUNK));
    let sums: Vec<Vec<T>> = (0..parts)
        .into_par_iter()
        .map(|part| {
            let (start, end) = (part * rows / parts, (part + 1) * rows / parts);
            let a = Matrix::new(&a[start * a_columns..end * a_columns], end - start, a_columns);
            let b = Matrix::new(&b[start * b_columns..end * b_columns], end - start, b_columns);
            let mut sum = vec![T::ZERO; a_columns * b_columns];
            add_product(&mut sum, a.transposed(), b);
            sum
        })
        .collect();
    sums.iter().for_each(|sum| add_scaled(to, T::ONE, sum));
}

/// Adds every row to `to`.
pub(super) fn add_column_sums<T: Real>(to: &mut [T], rows: &[T]) {
    rows.chunks_exact(to.len()).for_each(|row| add_scaled(to, T::ONE, row));
}
