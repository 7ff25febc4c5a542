//! Random numbers keyed by what they are for.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

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
///
/// The four words are the ChaCha key itself, so any stream can be started without drawing the
/// ones before it: what is drawn depends on neither the threads nor where a run was resumed.
pub(crate) fn rng(seed: u64, purpose: Purpose, place: [u64; 2]) -> ChaCha8Rng {
    let mut key = [0; 32];
    for (bytes, word) in key.chunks_exact_mut(8).zip([seed, purpose as u64, place[0], place[1]]) {
        bytes.copy_from_slice(&word.to_le_bytes());
    }
    ChaCha8Rng::from_seed(key)
}
