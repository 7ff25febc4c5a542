//! [`Similarity`]: compares queries with entity rows, many at a time.
//!
//! | file | concept |
//! | --- | --- |
//! | `similarity.rs` | the similarities, and their scores and gradients for blocks of queries and rows |
//! | `kernel.rs` | the numbers that one coordinate adds, for each similarity |
//! | `scores.rs` | scores, tile by tile |
//! | `gradients.rs` | gradients, tile by tile |
//! | `tiles.rs`, `lanes.rs` | how large tiles are, and rows as vectors of the processor |

#![expect(clippy::needless_range_loop, reason = "tiles are small matrices, and indices say it best")]

mod gradients;
mod kernel;
mod lanes;
mod scores;
#[allow(clippy::module_inception)]
mod similarity;
mod tiles;

pub(crate) use gradients::pull_pair;
pub(crate) use kernel::{Dot, Kernel, L1, L2, Modulus};
pub(crate) use scores::score_pair;
pub(crate) use similarity::Forward;
pub use similarity::{Blocks, Similarity};
