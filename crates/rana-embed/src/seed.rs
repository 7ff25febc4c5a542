//! Random numbers keyed by what they are for.

use rana_graph::keyed_rng;
use rand_chacha::ChaCha8Rng;

/// What a stream of random numbers is for; part of its key.
#[derive(Clone, Copy)]
pub(crate) enum Purpose {
    /// The first values of entity rows, by block of rows.
    EntityRows = 1,
    /// The first values of relation rows, by block of rows.
    RelationRows = 2,
    /// In which order an epoch walks the facts, by epoch.
    Order = 3,
    /// Which negatives are drawn, by epoch and place in it.
    Negatives = 4,
    /// Which facts are held out.
    HoldOut = 5,
}

/// The generator for one purpose at one place.
pub(crate) fn rng(seed: u64, purpose: Purpose, place: [u64; 2]) -> ChaCha8Rng {
    keyed_rng([seed, purpose as u64, place[0], place[1]])
}
