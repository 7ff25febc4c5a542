//! Random streams of this crate, each keyed by its purpose.
//!
//! All crates share the seed of a run, so the numbers of their purposes must differ: `rana-fewshot` has 1 to 5,
//! `rana-models` those from 6, this crate those from 100.

use rana_graph::keyed_rng;
use rand_chacha::ChaCha8Rng;

/// The purpose of a random stream; part of its key.
#[derive(Clone, Copy)]
pub(crate) enum Purpose {
    /// Initial entity rows, by block of rows.
    EntityRows = 101,
    /// Initial relation rows, by block of rows.
    RelationRows = 102,
    /// The order of the facts in an epoch, by epoch.
    Order = 103,
    /// Negatives, by epoch and position in it.
    Negatives = 104,
    /// The choice of held-out facts.
    HoldOut = 105,
}

/// The random generator for a purpose at a position.
pub(crate) fn rng(seed: u64, purpose: Purpose, place: [u64; 2]) -> ChaCha8Rng {
    keyed_rng([seed, purpose as u64, place[0], place[1]])
}
