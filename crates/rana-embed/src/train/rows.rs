//! [`Rows`]: a table as the computation of gradients sees it.
#![allow(unsafe_code, reason = "prefetches")]

use super::shard::Shard;

/// A table that rows can be copied from.
pub(crate) trait Rows: Sync {
    /// Copies a row.
    fn load(&self, row: usize, to: &mut [f32]);

    /// The row where it lies.
    fn row(&self, row: usize) -> &[f32];

    /// Starts to bring a row into the cache.
    fn fetch(&self, row: usize);

    /// Copies many rows back to back.
    fn load_all(&self, rows: &[u32], width: usize, to: &mut [f32]) {
        for (at, (&row, to)) in rows.iter().zip(to.chunks_exact_mut(width)).enumerate() {
            if let Some(&next) = rows.get(at + AHEAD) {
                self.fetch(next as usize);
            }
            self.load(row as usize, to);
        }
    }
}

/// Both tables, and what becomes of gradients at their rows.
pub(crate) trait Tables {
    type Entities: Rows;
    type Relations: Rows;

    fn entities(&self) -> &Self::Entities;

    fn relations(&self) -> &Self::Relations;

    /// Takes the gradients of a fact out of the shard, or leaves them there for later; called from
    /// code that is compiled for vectors.
    fn take(&mut self, shard: &mut Shard);
}

/// Rows to bring into the cache ahead of use: their misses overlap, where one by one they would add up.
pub(crate) const AHEAD: usize = 8;

/// Starts to bring a row into the cache.
#[inline(always)]
pub(crate) fn fetch(row: &[f32]) {
    fetch_at(row.as_ptr(), row.len());
}

/// Starts to bring so many numbers into the cache, if they are there: any address will do.
#[inline(always)]
pub(crate) fn fetch_at(start: *const f32, width: usize) {
    let before = start.addr() % LINE;
    let first = start.wrapping_byte_sub(before);
    for line in (0..before + width * size_of::<f32>()).step_by(LINE) {
        fetch_line(first.wrapping_byte_add(line));
    }
}

/// Bytes per line of the cache.
const LINE: usize = 64;

#[inline(always)]
fn fetch_line(at: *const f32) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch reads nothing and faults nowhere; SSE is part of every x86-64.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(at.cast());
    }
    // Elsewhere the processor is left to itself.
    #[cfg(not(target_arch = "x86_64"))]
    let _ = at;
}

/// A table that nobody writes.
#[derive(Clone, Copy)]
pub(crate) struct Frozen<'a> {
    pub(crate) values: &'a [f32],
    pub(crate) width: usize,
}

impl Rows for Frozen<'_> {
    #[inline]
    fn load(&self, row: usize, to: &mut [f32]) {
        to.copy_from_slice(&self.values[row * self.width..(row + 1) * self.width]);
    }

    #[inline(always)]
    fn row(&self, row: usize) -> &[f32] {
        &self.values[row * self.width..(row + 1) * self.width]
    }

    #[inline(always)]
    fn fetch(&self, row: usize) {
        fetch(&self.values[row * self.width..(row + 1) * self.width]);
    }
}

/// Tables that nobody writes: gradients are left in their shards.
pub(crate) struct FrozenTables<'a> {
    pub(crate) entities: Frozen<'a>,
    pub(crate) relations: Frozen<'a>,
}

impl<'a> Tables for FrozenTables<'a> {
    type Entities = Frozen<'a>;
    type Relations = Frozen<'a>;

    #[inline(always)]
    fn entities(&self) -> &Frozen<'a> {
        &self.entities
    }

    #[inline(always)]
    fn relations(&self) -> &Frozen<'a> {
        &self.relations
    }

    #[inline(always)]
    fn take(&mut self, _: &mut Shard) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_those_of_the_table() {
        let values: Vec<f32> = (0..15).map(|n| n as f32).collect();
        let frozen = Frozen { values: &values, width: 5 };
        let mut both = vec![0.0; 10];
        frozen.load_all(&[2, 0], 5, &mut both);
        assert_eq!(both, [10., 11., 12., 13., 14., 0., 1., 2., 3., 4.]);
        for at in 0..3 {
            frozen.fetch(at);
            assert_eq!(frozen.row(at), &values[5 * at..5 * at + 5]);
        }
    }
}
