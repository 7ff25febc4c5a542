//! Random streams of this crate, each keyed by what it is for.
//!
//! Crates share the seed of a run, so their purposes must differ: `rana-fewshot` has 1 to 5, `rana-models` those from 6,
//! this crate those from 100.

use rana_graph::keyed_rng;
use rand_chacha::ChaCha8Rng;

/// What a stream of random numbers is for; part of its key.
#[derive(Clone, Copy)]
pub(crate) enum Purpose {
    /// The first values of entity rows, by block of rows.
    EntityRows = 101,
    /// The first values of relation rows, by block of rows.
    RelationRows = 102,
    /// In which order an epoch walks the facts, by epoch.
    Order = 103,
    /// Which negatives are drawn, by epoch and place in it.
    Negatives = 104,
    /// Which facts are held out.
    HoldOut = 105,
}

/// The generator for one purpose at one place.
pub(crate) fn rng(seed: u64, purpose: Purpose, place: [u64; 2]) -> ChaCha8Rng {
    keyed_rng([seed, purpose as u64, place[0], place[1]])
}
