//! [`Leases`] and [`Lease`]: threads that write to different rows of one table.
#![allow(unsafe_code, reason = "rows of one table lent to several threads, each row to one at a time")]

use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, Ordering};

use super::rows::Rows;
use super::table::Table;
use crate::prefetch::fetch_at;

/// A table whose rows are dealt out to buckets, which can be lent one by one.
pub(crate) struct Leases<'t> {
    values: *mut f32,
    state: *mut f32,
    width: usize,
    state_width: usize,
    /// The bucket of each row.
    bucket_of: &'t [u8],
    /// Whether a bucket is lent at the moment.
    is_lent: Vec<AtomicBool>,
    table: PhantomData<&'t mut f32>,
}

// SAFETY: a shared reference to it gives access to a row only through a `Lease`, of which there is
// at most one for the bucket of that row.
unsafe impl Sync for Leases<'_> {}

impl<'t> Leases<'t> {
    /// # Panics
    /// If the table does not have as many rows as buckets are given for.
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
        // A thread that panics may have been refused one; then nobody goes on anyway.
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
        // SAFETY: `check` found the row in the table, whose length the constructor checked, and in a
        // bucket of this lease. No other lease has that bucket, so nobody else holds a reference to
        // the row, and `&mut self` says that this lease has given out none.
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
        // Reads nothing, so it does not matter whether the row is lent.
        let Leases { width, values, .. } = *self.leases;
        fetch_at(values.wrapping_add(row * width), width);
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
            // What was given back can be lent again.
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
}
