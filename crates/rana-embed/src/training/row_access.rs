//! [`Rows`], [`RowsMut`] and [`Tables`]: access to the tables during the computation of gradients.

use super::gradient_shard::Shard;
use crate::prefetch::fetch;

/// Read access to the rows of a table.
pub(crate) trait Rows: Sync {
    /// Copies a row.
    fn load(&self, row: usize, to: &mut [f32]);

    /// A reference to a row.
    fn row(&self, row: usize) -> &[f32];

    /// Starts to load a row into the cache.
    fn fetch(&self, row: usize);

    /// Copies many rows one after the other.
    fn load_all(&self, rows: &[u32], width: usize, to: &mut [f32]) {
        for (at, (&row, to)) in rows.iter().zip(to.chunks_exact_mut(width)).enumerate() {
            if let Some(&next) = rows.get(at + AHEAD) {
                self.fetch(next as usize);
            }
            self.load(row as usize, to);
        }
    }
}

/// Write access to the rows of a table.
pub(crate) trait RowsMut {
    /// Numbers per row.
    fn width(&self) -> usize;

    /// A row and its state, for one update.
    fn row_mut(&mut self, row: usize) -> (&mut [f32], &mut [f32]);
}

/// Both tables, and what is done with gradients at their rows.
pub(crate) trait Tables {
    type Entities: Rows;
    type Relations: Rows;

    fn entities(&self) -> &Self::Entities;

    fn relations(&self) -> &Self::Relations;

    /// Applies the gradients of a fact and removes them from the shard, or leaves them there for later. Called from
    /// vectorised code.
    fn take(&mut self, shard: &mut Shard);
}

/// How many rows ahead are prefetched, so that cache misses overlap.
pub(crate) const AHEAD: usize = 8;

/// A table that is only read.
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

/// Tables that are only read: gradients stay in their shards.
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
