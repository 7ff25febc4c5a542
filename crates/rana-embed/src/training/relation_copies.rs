//! [`Copies`]: copies of relation rows, so that jobs update them without waiting for each other.

use super::row_access::{Rows, RowsMut};
use super::table_in_training::Table;
use crate::prefetch::fetch;

/// The relation rows of a job, which updates copies of them.
pub(crate) struct Copies<'t> {
    width: usize,
    state_width: usize,
    values: &'t [f32],
    state: &'t [f32],
    /// The index of each row's copy, if there is one.
    copy_of: Vec<u32>,
    changed: Changed,
}

/// The copies of the relation rows that a job has updated.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Changed {
    /// The rows of the copies.
    rows: Vec<u32>,
    values: Vec<f32>,
    state: Vec<f32>,
    /// The number of updates of each copy.
    counts: Vec<u32>,
}

impl<'t> Copies<'t> {
    const NONE: u32 = u32::MAX;

    /// Starts without copies.
    pub(crate) fn of(table: &'t Table<'_>) -> Self {
        let Table { width, state_width, ref values, ref state, .. } = *table;
        let copy_of = vec![Self::NONE; values.len().checked_div(width).unwrap_or(0)];
        Self { width, state_width, values, state, copy_of, changed: Changed::default() }
    }

    pub(crate) fn changed(self) -> Changed {
        self.changed
    }

    /// Copies a row.
    #[cold]
    fn copy(&mut self, row: usize) -> usize {
        let Self { width, state_width, changed, .. } = self;
        let copy = changed.rows.len();
        self.copy_of[row] = copy as u32;
        changed.rows.push(row as u32);
        changed.values.extend_from_slice(&self.values[row * *width..(row + 1) * *width]);
        changed.state.extend_from_slice(&self.state[row * *state_width..(row + 1) * *state_width]);
        changed.counts.push(0);
        copy
    }
}

impl Rows for Copies<'_> {
    #[inline(always)]
    fn load(&self, row: usize, to: &mut [f32]) {
        to.copy_from_slice(self.row(row));
    }

    #[inline(always)]
    fn row(&self, row: usize) -> &[f32] {
        let (values, at) = match self.copy_of[row] {
            Self::NONE => (self.values, row),
            copy => (&self.changed.values[..], copy as usize),
        };
        &values[at * self.width..(at + 1) * self.width]
    }

    #[inline(always)]
    fn fetch(&self, row: usize) {
        fetch(self.row(row));
    }
}

impl RowsMut for Copies<'_> {
    #[inline(always)]
    fn width(&self) -> usize {
        self.width
    }

    #[inline(always)]
    fn row_mut(&mut self, row: usize) -> (&mut [f32], &mut [f32]) {
        let copy = match self.copy_of[row] {
            Self::NONE => self.copy(row),
            copy => copy as usize,
        };
        let Self { width, state_width, changed, .. } = self;
        changed.counts[copy] += 1;
        (
            &mut changed.values[copy * *width..(copy + 1) * *width],
            &mut changed.state[copy * *state_width..(copy + 1) * *state_width],
        )
    }
}

/// Sets each row to the mean of its copies, weighted by their numbers of updates.
pub(crate) fn merge<'c>(table: Table<'_>, all: impl Iterator<Item = &'c Changed> + Clone) {
    let Table { width, state_width, values, state, .. } = table;
    let mut totals = vec![0u32; values.len().checked_div(width).unwrap_or(0)];
    for copies in all.clone() {
        for (&row, count) in copies.rows.iter().zip(&copies.counts) {
            totals[row as usize] += count;
        }
    }
    let mut is_first = vec![true; totals.len()];
    for copies in all {
        for (copy, (&row, &count)) in copies.rows.iter().zip(&copies.counts).enumerate() {
            let row = row as usize;
            let share = count as f32 / totals[row] as f32;
            let is_first = std::mem::replace(&mut is_first[row], false);
            let add = |to: &mut [f32], from: &[f32]| {
                for (to, from) in to.iter_mut().zip(from) {
                    *to = if is_first { share * from } else { *to + share * from };
                }
            };
            add(
                &mut values[row * width..(row + 1) * width],
                &copies.values[copy * width..(copy + 1) * width],
            );
            add(
                &mut state[row * state_width..(row + 1) * state_width],
                &copies.state[copy * state_width..(copy + 1) * state_width],
            );
        }
    }
}
