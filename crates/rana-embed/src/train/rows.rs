//! Tables of rows as training sees them: read-only, or shared between threads that write.
#![allow(unsafe_code, reason = "prefetches, and two casts that let threads share a table through atomics")]

use std::marker::PhantomData;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// A table that rows can be copied from.
pub(crate) trait Rows: Sync {
    /// Copies a row.
    fn load(&self, row: usize, to: &mut [f32]);

    /// The row where it lies, or copied to the buffer if it may change meanwhile.
    fn row<'s>(&'s self, row: usize, buffer: &'s mut [f32]) -> &'s [f32];

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

/// Rows to bring into the cache ahead of use: their misses overlap, where one by one they would add up.
pub(crate) const AHEAD: usize = 8;

/// Starts to bring a row into the cache.
#[inline(always)]
pub(crate) fn fetch(row: &[f32]) {
    fetch_cells(row, LINE);
}

#[inline(always)]
fn fetch_cells<T>(cells: &[T], per_line: usize) {
    for cell in cells.iter().step_by(per_line) {
        fetch_line(cell);
    }
    // A row that starts within a line ends one line later.
    if let Some(last) = cells.last() {
        fetch_line(last);
    }
}

/// Numbers per line of the cache.
const LINE: usize = 64 / size_of::<f32>();

#[inline(always)]
fn fetch_line<T>(at: &T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch reads nothing and faults nowhere; SSE is part of every x86-64.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(at).cast());
    }
    // Elsewhere the processor is left to itself.
    #[cfg(not(target_arch = "x86_64"))]
    let _ = at;
}

/// A table that nobody writes.
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
    fn row<'s>(&'s self, row: usize, _: &'s mut [f32]) -> &'s [f32] {
        &self.values[row * self.width..(row + 1) * self.width]
    }

    #[inline(always)]
    fn fetch(&self, row: usize) {
        fetch(&self.values[row * self.width..(row + 1) * self.width]);
    }
}

/// A table that many threads read and write at once, number by number or pair by pair.
///
/// Relaxed atomics: a reader may see a row half updated, but never a torn number, and there is no
/// data race.
pub(crate) struct Shared<'a> {
    cells: Cells<'a>,
    width: usize,
    exclusive: PhantomData<&'a mut [f32]>,
}

enum Cells<'a> {
    Singles(&'a [AtomicU32]),
    /// Two numbers at a time are almost twice as fast.
    Pairs(&'a [AtomicU64]),
}

impl<'a> Shared<'a> {
    pub(crate) fn new(values: &'a mut [f32], width: usize) -> Self {
        let len = values.len();
        let start = values.as_mut_ptr();
        let cells = if width.is_multiple_of(2) && start.cast::<AtomicU64>().is_aligned() {
            // SAFETY: `start` is aligned for an `AtomicU64`, which has the size of two `f32` and,
            // like them, no invalid bit pattern. `values` is borrowed exclusively for 'a, so until
            // then all access to this memory goes through the atomics.
            Cells::Pairs(unsafe { std::slice::from_raw_parts(start.cast(), len / 2) })
        } else {
            // SAFETY: as above; an `AtomicU32` has the size and alignment of an `f32`.
            Cells::Singles(unsafe { std::slice::from_raw_parts(start.cast(), len) })
        };
        Self { cells, width, exclusive: PhantomData }
    }

    /// Overwrites a row.
    #[inline]
    pub(crate) fn store(&self, row: usize, from: &[f32]) {
        assert_eq!(from.len(), self.width);
        match self.cells {
            Cells::Singles(cells) => {
                for (cell, value) in cells[row * self.width..(row + 1) * self.width].iter().zip(from) {
                    cell.store(value.to_bits(), Ordering::Relaxed);
                }
            }
            Cells::Pairs(cells) => {
                let half = self.width / 2;
                for (cell, pair) in cells[row * half..(row + 1) * half].iter().zip(from.chunks_exact(2)) {
                    cell.store(bytemuck::cast([pair[0], pair[1]]), Ordering::Relaxed);
                }
            }
        }
    }
}

impl Rows for Shared<'_> {
    #[inline]
    fn load(&self, row: usize, to: &mut [f32]) {
        assert_eq!(to.len(), self.width);
        match self.cells {
            Cells::Singles(cells) => {
                for (value, cell) in to.iter_mut().zip(&cells[row * self.width..(row + 1) * self.width]) {
                    *value = f32::from_bits(cell.load(Ordering::Relaxed));
                }
            }
            Cells::Pairs(cells) => {
                let half = self.width / 2;
                for (pair, cell) in to.chunks_exact_mut(2).zip(&cells[row * half..(row + 1) * half]) {
                    pair.copy_from_slice(&bytemuck::cast::<u64, [f32; 2]>(cell.load(Ordering::Relaxed)));
                }
            }
        }
    }

    #[inline(always)]
    fn row<'s>(&'s self, row: usize, buffer: &'s mut [f32]) -> &'s [f32] {
        self.load(row, buffer);
        buffer
    }

    #[inline(always)]
    fn fetch(&self, row: usize) {
        match self.cells {
            Cells::Singles(cells) => fetch_cells(&cells[row * self.width..(row + 1) * self.width], LINE),
            Cells::Pairs(cells) => {
                let half = self.width / 2;
                fetch_cells(&cells[row * half..(row + 1) * half], LINE / 2);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_rows_are_the_rows_of_the_table() {
        for width in [0, 1, 2, 5, 8] {
            for offset in 0..2 {
                let mut buffer: Vec<f32> = (0..offset + 3 * width).map(|n| n as f32).collect();
                let values = &mut buffer[offset..];
                let before = values.to_vec();
                let shared = Shared::new(values, width);
                let mut row = vec![0.0; width];
                let frozen = Frozen { values: &before, width };
                for at in 0..3 {
                    shared.fetch(at);
                    frozen.fetch(at);
                    assert_eq!(shared.row(at, &mut row), &before[at * width..(at + 1) * width]);
                    assert_eq!(frozen.row(at, &mut []), &before[at * width..(at + 1) * width]);
                }
                std::thread::scope(|scope| {
                    for at in [0, 2] {
                        let shared = &shared;
                        scope.spawn(move || shared.store(at, &vec![-(at as f32); width]));
                    }
                });
                let expected =
                    [vec![0.0; width], before[width..2 * width].to_vec(), vec![-2.0; width]].concat();
                assert_eq!(buffer[offset..], expected);
            }
        }
    }
}
