//! [`Table`]: one vector per row.

use rana_graph::Array;
use rayon::prelude::*;
use serde::Serialize;

use crate::huge_pages;
use crate::vector_error::VectorError;

/// A dense matrix of `f32`, row after row, in memory or memory-mapped.
///
/// ```
/// use rana_embed::Table;
/// let table = Table::new(2, 3, vec![1.0, 0.0, 0.0, 0.0, 3.0, 4.0])?;
/// assert_eq!(table.row(1), [0.0, 3.0, 4.0]);
/// assert_eq!(table.norms().unwrap().mean, 3.0);
/// # Ok::<(), rana_embed::VectorError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    rows: usize,
    dim: usize,
    values: Array<f32>,
}

/// The spread of the L2 norms of rows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Norms {
    /// The shortest row.
    pub min: f64,
    /// The mean over all rows.
    pub mean: f64,
    /// The longest row.
    pub max: f64,
}

impl Table {
    /// A table of `rows` rows of `dim` values each.
    ///
    /// # Errors
    /// If the number of values is not `rows * dim`, or `dim` is 0.
    pub fn new(rows: usize, dim: usize, values: impl Into<Array<f32>>) -> Result<Self, VectorError> {
        let values = values.into();
        if dim == 0 || rows.checked_mul(dim) != Some(values.len()) {
            return Err(VectorError::Shape { rows, dim, values: values.len() });
        }
        Ok(Self { rows, dim, values })
    }

    /// How many rows there are.
    #[must_use]
    pub const fn rows(&self) -> usize {
        self.rows
    }

    /// How many values a row has.
    #[must_use]
    pub const fn dim(&self) -> usize {
        self.dim
    }

    /// One row.
    ///
    /// # Panics
    /// If `index` is not below [`rows`](Self::rows).
    #[inline]
    #[must_use]
    pub fn row(&self, index: usize) -> &[f32] {
        &self.values[index * self.dim..(index + 1) * self.dim]
    }

    /// The values of `count` rows from one on; `None` if there are not so many.
    #[must_use]
    pub fn span(&self, first: usize, count: usize) -> Option<&[f32]> {
        let end = first.checked_add(count)?.checked_mul(self.dim)?;
        self.values.get(first.checked_mul(self.dim)?..end)
    }

    /// All values, row after row.
    #[must_use]
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// A copy in memory, in huge pages if the system has them. It is faster for access to rows in random order, but
    /// needs the memory.
    #[must_use]
    pub fn resident(&self) -> Self {
        let mut values = huge_pages::zeros(self.values.len());
        values.copy_from_slice(&self.values);
        Self { values: values.into(), ..*self }
    }

    /// The spread of the norms of the rows, if there are rows.
    #[must_use]
    pub fn norms(&self) -> Option<Norms> {
        // The norms are collected before they are summed, so that the sum does not depend on the threads.
        let norms: Vec<f64> = self
            .values
            .par_chunks_exact(self.dim)
            .with_min_len(1024)
            .map(|row| row.iter().map(|&value| f64::from(value) * f64::from(value)).sum::<f64>().sqrt())
            .collect();
        (!norms.is_empty()).then(|| Norms {
            min: norms.iter().copied().fold(f64::INFINITY, f64::min),
            mean: norms.iter().sum::<f64>() / norms.len() as f64,
            max: norms.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        })
    }

    /// Checks that every value is finite. `name` names the table in the error.
    ///
    /// # Errors
    /// If a value is not finite; states the row and column of the first.
    pub fn check_finite(&self, name: &str) -> Result<(), VectorError> {
        let rows = self.values.par_chunks_exact(self.dim).with_min_len(1024);
        let Some(row) = rows.position_first(|row| !row.iter().all(|value| value.is_finite())) else {
            return Ok(());
        };
        let values = self.row(row);
        let column = values.iter().position(|value| !value.is_finite()).unwrap_or(0);
        Err(VectorError::NotFinite { table: name.to_owned(), row, column, value: values[column] })
    }

    /// A table with the rows of `order`, in that order.
    ///
    /// # Panics
    /// If `order` names a row that is not there.
    #[must_use]
    pub fn select(&self, order: &[usize]) -> Self {
        let values: Vec<f32> = order.iter().flat_map(|&row| self.row(row)).copied().collect();
        Self { rows: order.len(), dim: self.dim, values: values.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shape_that_does_not_fit_is_refused() {
        for (rows, dim, values) in [(2, 3, 5), (0, 0, 0), (3, 0, 0), (usize::MAX, 2, 4)] {
            let error = Table::new(rows, dim, vec![0.0; values]).unwrap_err();
            assert!(matches!(error, VectorError::Shape { .. }), "{error}");
        }
        assert_eq!(Table::new(0, 4, Vec::new()).unwrap().norms(), None);
    }

    #[test]
    fn the_first_value_that_is_not_finite_is_named() {
        let mut values = vec![0.5; 5000 * 3];
        for (at, bad) in [(3 * 4000, f32::NAN), (3 * 2000 + 1, f32::NEG_INFINITY), (3 * 2000 + 2, f32::NAN)] {
            values[at] = bad;
        }
        let error = Table::new(5000, 3, values).unwrap().check_finite("entities").unwrap_err().to_string();
        assert!(error.starts_with("entities: row 2000, column 1 (counted from 0) is -inf."), "{error}");
        Table::new(1, 3, vec![0.0, f32::MAX, f32::MIN_POSITIVE]).unwrap().check_finite("entities").unwrap();
    }

    #[test]
    fn norms_and_selection_are_those_of_the_rows() {
        let table = Table::new(3, 2, vec![3.0, 4.0, 0.0, 0.0, 0.0, 1.0]).unwrap();
        assert_eq!(table.norms(), Some(Norms { min: 0.0, mean: 2.0, max: 5.0 }));
        assert_eq!(table.select(&[2, 0, 2]).values(), [0.0, 1.0, 3.0, 4.0, 0.0, 1.0]);
    }
}
