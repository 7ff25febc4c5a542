//! How large tiles and blocks of rows are: a tile fits the registers, a block the cache.

/// Bytes of candidates that are compared with all queries of a group before the next ones are loaded. It is half of a
/// small first-level cache; the gradients use the other half.
const CACHE_BLOCK: usize = 16 * 1024;

/// The number of candidates in such a block, in whole tiles.
#[inline(always)]
pub(super) fn block_rows(dim: usize) -> usize {
    (CACHE_BLOCK / (dim * size_of::<f32>() * TILE.1)).max(1) * TILE.1
}

/// Queries and candidates of a tile: as many sums as fit the registers of any x86-64 or ARM processor.
pub(super) const TILE: (usize, usize) = (4, 2);
