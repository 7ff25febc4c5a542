//! The same numbers in another arrangement: rows gathered, columns and rows side by side, slices, reshaping.

use std::ops::Range;

use super::tape::{Tape, Var};
use crate::real::{Real, add_scaled};

impl<T: Real> Tape<'_, T> {
    /// The rows of these numbers; a row may come up many times, or never.
    pub(crate) fn gather_rows(&mut self, x: Var, rows: Vec<u32>) -> Var {
        let (_, columns) = self.shape(x);
        let values = self.values(x);
        let mut gathered = Vec::with_capacity(rows.len() * columns);
        for &row in &rows {
            gathered.extend_from_slice(&values[row as usize * columns..(row as usize + 1) * columns]);
        }
        self.push((rows.len(), columns), gathered, &[x], move |pass| {
            let gradient = pass.gradient;
            if let Some(at) = pass.at(x) {
                for (&row, gradient) in rows.iter().zip(gradient.chunks_exact(columns)) {
                    let row = row as usize;
                    add_scaled(&mut at[row * columns..(row + 1) * columns], T::ONE, gradient);
                }
            }
        })
    }

    /// Matrices with as many rows, side by side.
    pub(crate) fn concat_columns(&mut self, parts: &[Var]) -> Var {
        let rows = self.shape(parts[0]).0;
        let widths: Vec<usize> = parts.iter().map(|&part| self.shape(part).1).collect();
        assert!(parts.iter().all(|&part| self.shape(part).0 == rows), "numbers of rows differ");
        let columns = widths.iter().sum();
        let mut values = Vec::with_capacity(rows * columns);
        for row in 0..rows {
            for (&part, width) in parts.iter().zip(&widths) {
                values.extend_from_slice(&self.values(part)[row * width..(row + 1) * width]);
            }
        }
        let inputs = parts.to_vec();
        self.push((rows, columns), values, parts, move |pass| {
            let gradient = pass.gradient;
            let mut start = 0;
            for (&part, &width) in inputs.iter().zip(&widths) {
                if let Some(at) = pass.at(part) {
                    let rows = at.chunks_exact_mut(width).zip(gradient.chunks_exact(columns));
                    rows.for_each(|(at, gradient)| add_scaled(at, T::ONE, &gradient[start..start + width]));
                }
                start += width;
            }
        })
    }

    /// Matrices with as many columns, one below the other.
    pub(crate) fn concat_rows(&mut self, parts: &[Var]) -> Var {
        let columns = self.shape(parts[0]).1;
        assert!(parts.iter().all(|&part| self.shape(part).1 == columns), "numbers of columns differ");
        let mut values = Vec::new();
        parts.iter().for_each(|&part| values.extend_from_slice(self.values(part)));
        let inputs = parts.to_vec();
        self.push((values.len() / columns, columns), values, parts, move |pass| {
            let gradient = pass.gradient;
            let mut start = 0;
            for &part in &inputs {
                let end = start + pass.values(part).len();
                if let Some(at) = pass.at(part) {
                    add_scaled(at, T::ONE, &gradient[start..end]);
                }
                start = end;
            }
        })
    }

    /// Some columns next to each other.
    pub(crate) fn slice_columns(&mut self, x: Var, range: Range<usize>) -> Var {
        let (rows, columns) = self.shape(x);
        let mut values = Vec::with_capacity(rows * range.len());
        let all = self.values(x).chunks_exact(columns);
        all.for_each(|row| values.extend_from_slice(&row[range.clone()]));
        self.push((rows, range.len()), values, &[x], move |pass| {
            let gradient = pass.gradient;
            if let Some(at) = pass.at(x) {
                let rows = at.chunks_exact_mut(columns).zip(gradient.chunks_exact(range.len()));
                rows.for_each(|(at, gradient)| add_scaled(&mut at[range.clone()], T::ONE, gradient));
            }
        })
    }

    /// The same numbers as rows of another width.
    pub(crate) fn reshape(&mut self, x: Var, columns: usize) -> Var {
        let values = self.values(x).to_vec();
        self.push((values.len() / columns, columns), values, &[x], move |pass| {
            let gradient = pass.gradient;
            if let Some(at) = pass.at(x) {
                add_scaled(at, T::ONE, gradient);
            }
        })
    }
}
