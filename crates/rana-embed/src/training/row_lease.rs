//! [`Leases`] and [`Lease`]: give threads exclusive access to different rows of one table.
#![allow(unsafe_code, reason = "rows of one table lent to several threads, each row to one at a time")]

use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, Ordering};

use super::row_access::{Rows, RowsMut};
use super::table_in_training::Table;
use crate::prefetch::fetch_at;

/// A table whose rows are divided into buckets. Each bucket can be lent to one thread.
pub(crate) struct Leases<'t> {
    values: *mut f32,
    state: *mut f32,
    width: usize,
    state_width: usize,
    /// The bucket of each row.
    bucket_of: &'t [u8],
    /// Whether a bucket is lent now.
    is_lent: Vec<AtomicBool>,
    table: PhantomData<&'t mut f32>,
}

// SAFETY: a shared reference gives access to a row only through a `Lease`, and there is at most one for the bucket of
// that row.
unsafe impl Sync for Leases<'_> {}

impl<'t> Leases<'t> {
    /// # Panics
    /// If the table and `bucket_of` have different numbers of rows.
    pub(crate) fn new(table: Table<'t>, bucket_of: &'t [u8]) -> Self {
        let Table { width, state_width, values, state, .. } = table;
        assert_eq!(values.len(), bucket_of.len() * width);
        assert_eq!(state.len(), bucket_of.len() * state_width);
        Self {
            values: values.as_mut_ptr(),
            state: state.as_mut_ptr(),
            width,
            state_width,
            bucket_of,
            is_lent: (0..=u8::MAX).map(|_| AtomicBool::new(false)).collect(),
            table: PhantomData,
        }
    }

    /// Lends two buckets, or one if they are the same.
    ///
    /// # Panics
    /// If one of them is lent already.
    pub(crate) fn lend(&self, buckets: [u8; 2]) -> Lease<'_> {
        let [first, second] = buckets;
        let lease = Lease { leases: self, buckets };
        for bucket in [Some(first), (second != first).then_some(second)].into_iter().flatten() {
            let was_lent = self.is_lent[usize::from(bucket)].swap(true, Ordering::Acquire);
            assert!(!was_lent, "bucket {bucket} is lent already");
        }
        lease
    }
}

/// The rows of two buckets, for one thread to read and write.
pub(crate) struct Lease<'l> {
    leases: &'l Leases<'l>,
    buckets: [u8; 2],
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        // A panicking thread may not own its buckets; the training fails anyway.
        if !std::thread::panicking() {
            for bucket in self.buckets {
                self.leases.is_lent[usize::from(bucket)].store(false, Ordering::Release);
            }
        }
    }
}

impl Lease<'_> {
    /// Numbers per row.
    pub(crate) fn width(&self) -> usize {
        self.leases.width
    }

    #[inline(always)]
    fn check(&self, row: usize) {
        assert!(self.buckets.contains(&self.leases.bucket_of[row]), "row {row} is not lent");
    }

    /// A row and its state, to be changed.
    ///
    /// # Panics
    /// If the row is in neither of the two buckets.
    #[inline(always)]
    pub(crate) fn row_mut(&mut self, row: usize) -> (&mut [f32], &mut [f32]) {
        self.check(row);
        let Leases { width, state_width, values, state, .. } = *self.leases;
        // SAFETY: `check` found the row in the table, whose length the constructor checked, and in a bucket of this
        // lease. No other lease has that bucket, so there is no other reference to the row, and `&mut self` proves
        // that this lease has given out none.
        unsafe {
            (
                std::slice::from_raw_parts_mut(values.add(row * width), width),
                std::slice::from_raw_parts_mut(state.add(row * state_width), state_width),
            )
        }
    }

    #[inline(always)]
    fn get(&self, row: usize) -> &[f32] {
        self.check(row);
        let Leases { width, values, .. } = *self.leases;
        // SAFETY: as in `row_mut`; `&self` allows other shared references, but no exclusive one.
        unsafe { std::slice::from_raw_parts(values.add(row * width), width) }
    }
}

impl<'l> Lease<'l> {
    /// Checks many rows at once. They are then accessed by their index in the list.
    ///
    /// Single checks in the middle of other work wait for the cache: a tenth of the time with one negative per fact.
    ///
    /// # Panics
    /// If one of the rows is in neither of the two buckets.
    pub(crate) fn checked<'a>(&'a mut self, rows: &'a [u32]) -> Checked<'a, 'l> {
        for &row in rows {
            self.check(row as usize);
        }
        Checked { lease: self, rows }
    }
}

/// Rows of a lease that were checked before.
pub(crate) struct Checked<'a, 'l> {
    lease: &'a mut Lease<'l>,
    /// All of them are in the buckets of the lease.
    rows: &'a [u32],
}

impl Checked<'_, '_> {
    /// The rows at three indices of the list, for writing.
    ///
    /// # Panics
    /// If two of them are the same row.
    #[inline(always)]
    pub(crate) fn distinct_mut(&mut self, [a, b, c]: [usize; 3]) -> [&mut [f32]; 3] {
        let rows = [self.rows[a], self.rows[b], self.rows[c]];
        assert!(are_distinct(rows), "rows {rows:?} are not distinct");
        let [a, b, c] = rows;
        // SAFETY: the rows are on the checked list, so each is in the table and in a bucket of this
        // lease, which is borrowed for as long as the references live; and no two are the same.
        unsafe { [self.slice_mut(a), self.slice_mut(b), self.slice_mut(c)] }
    }

    /// # Safety
    /// The row is on the list, and no other reference to it lives as long as this one.
    #[inline(always)]
    unsafe fn slice_mut<'r>(&self, row: u32) -> &'r mut [f32] {
        let Leases { width, values, .. } = *self.lease.leases;
        // SAFETY: as in `Lease::row_mut`, whose check the list has passed.
        unsafe { std::slice::from_raw_parts_mut(values.add(row as usize * width), width) }
    }

    /// Starts to load a row into the cache.
    #[inline(always)]
    pub(crate) fn fetch(&self, row: u32) {
        self.lease.fetch(row as usize);
    }
}

/// Whether no two of three rows are the same.
#[inline(always)]
pub(crate) fn are_distinct([a, b, c]: [u32; 3]) -> bool {
    // Without branches between the comparisons, so that they run in parallel.
    (a != b) & (b != c) & (c != a)
}

impl Rows for Lease<'_> {
    #[inline(always)]
    fn load(&self, row: usize, to: &mut [f32]) {
        to.copy_from_slice(self.get(row));
    }

    #[inline(always)]
    fn row(&self, row: usize) -> &[f32] {
        self.get(row)
    }

    #[inline(always)]
    fn fetch(&self, row: usize) {
        // A prefetch reads nothing, so the row need not be lent.
        let Leases { width, values, .. } = *self.leases;
        fetch_at(values.wrapping_add(row * width), width);
    }
}

impl RowsMut for Lease<'_> {
    #[inline(always)]
    fn width(&self) -> usize {
        Lease::width(self)
    }

    #[inline(always)]
    fn row_mut(&mut self, row: usize) -> (&mut [f32], &mut [f32]) {
        Lease::row_mut(self, row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUCKETS: [u8; 4] = [0, 1, 0, 2];

    fn with_leases(work: impl FnOnce(&Leases<'_>)) -> (Vec<f32>, Vec<f32>) {
        let (mut values, mut state) = (vec![0.0; 4 * 3], vec![0.0; 4]);
        let table =
            Table { width: 3, state_width: 1, values: &mut values, state: &mut state, heads: &mut [] };
        work(&Leases::new(table, &BUCKETS));
        (values, state)
    }

    #[test]
    fn threads_write_to_the_rows_they_are_lent() {
        let (values, state) = with_leases(|leases| {
            std::thread::scope(|scope| {
                for (buckets, rows) in [([0, 2], vec![0, 2, 3]), ([1, 1], vec![1])] {
                    scope.spawn(move || {
                        let mut lease = leases.lend(buckets);
                        for row in rows {
                            let (values, state) = lease.row_mut(row);
                            values.fill(row as f32);
                            state.fill(-(row as f32));
                            assert_eq!(lease.row(row), [row as f32; 3]);
                        }
                    });
                }
            });
            // Buckets that were returned can be lent again.
            drop(leases.lend([0, 1]));
        });
        assert_eq!(values, [0., 0., 0., 1., 1., 1., 2., 2., 2., 3., 3., 3.]);
        assert_eq!(state, [0., -1., -2., -3.]);
    }

    #[test]
    #[should_panic(expected = "bucket 2 is lent already")]
    fn a_bucket_is_lent_to_one_only() {
        with_leases(|leases| {
            let _first = leases.lend([0, 2]);
            leases.lend([1, 2]);
        });
    }

    #[test]
    #[should_panic(expected = "row 1 is not lent")]
    fn a_row_of_another_bucket_is_refused() {
        with_leases(|leases| {
            leases.lend([0, 2]).row_mut(1);
        });
    }

    #[test]
    fn checked_rows_are_lent_three_at_a_time() {
        let (values, _) = with_leases(|leases| {
            let mut lease = leases.lend([0, 2]);
            let mut rows = lease.checked(&[3, 0, 2]);
            let [a, b, c] = rows.distinct_mut([2, 0, 1]);
            a.fill(2.0);
            b.fill(3.0);
            c.fill(0.5);
        });
        assert_eq!(values, [0.5, 0.5, 0.5, 0., 0., 0., 2., 2., 2., 3., 3., 3.]);
    }

    #[test]
    #[should_panic(expected = "row 1 is not lent")]
    fn a_list_with_a_row_of_another_bucket_is_refused() {
        with_leases(|leases| {
            leases.lend([0, 2]).checked(&[0, 2, 1]);
        });
    }

    #[test]
    #[should_panic(expected = "rows [0, 3, 0] are not distinct")]
    fn a_row_is_lent_once_at_a_time() {
        with_leases(|leases| {
            leases.lend([0, 2]).checked(&[0, 3, 0]).distinct_mut([0, 1, 2]);
        });
    }
}
