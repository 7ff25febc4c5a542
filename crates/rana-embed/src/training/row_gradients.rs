//! [`RowGradients`]: gradients of some rows of a table.

use super::gradient_shard::resize;

/// Gradients of rows. `gradients` starts with one row for each of `rows`, which are unordered and may repeat; the
/// values after them are unused.
#[derive(Default)]
pub(crate) struct RowGradients {
    pub(crate) rows: Vec<u32>,
    pub(crate) gradients: Vec<f32>,
}

impl RowGradients {
    /// Marks an entry without a gradient.
    pub(crate) const NONE: u32 = u32::MAX;

    /// Makes room for these rows. The first `overwritten` gradients will be overwritten.
    pub(super) fn reset(&mut self, rows: &[u32], width: usize, overwritten: usize) {
        self.rows.clear();
        self.rows.extend_from_slice(rows);
        resize(&mut self.gradients, rows.len() * width);
        self.gradients[overwritten * width..].fill(0.0);
    }

    /// The rows that have a gradient, with the gradients.
    #[inline(always)]
    pub(crate) fn iter(&self, width: usize) -> impl Iterator<Item = (usize, &[f32])> {
        let gradients = self.gradients.chunks_exact(width);
        let all = self.rows.iter().zip(gradients);
        all.filter(|(row, _)| **row != Self::NONE).map(|(row, gradient)| (*row as usize, gradient))
    }

    /// Removes all rows but keeps the memory.
    #[inline(always)]
    pub(crate) fn forget(&mut self) {
        self.rows.clear();
    }

    /// Removes all rows and makes room for up to `most` rows.
    pub(super) fn clear(&mut self, most: usize, width: usize) {
        self.rows.clear();
        resize(&mut self.gradients, most * width);
    }

    /// Appends a row and gives its gradient, which must be overwritten.
    #[inline(always)]
    pub(crate) fn next(&mut self, row: u32, width: usize) -> &mut [f32] {
        let start = self.rows.len() * width;
        self.rows.push(row);
        &mut self.gradients[start..start + width]
    }
}
