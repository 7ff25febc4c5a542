//! Random numbers keyed by what they are for.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// What a stream of random numbers is for; part of its key.
#[derive(Clone, Copy)]
pub(crate) enum Purpose {
    /// Which candidates a cap keeps, by relation.
    Candidates = 1,
    /// Which split a relation falls into.
    Assignment = 2,
    /// In which order episodes walk the tasks, by round.
    Walk = 3,
    /// Which facts an episode holds, by episode.
    Episode = 4,
    /// Which facts support an evaluation, by relation and draw.
    Support = 5,
}

/// The generator for one purpose at one place.
///
/// The four words are the ChaCha key itself, so different places have unrelated streams and any
/// of them can be started without drawing the ones before it.
pub(crate) fn rng(seed: u64, purpose: Purpose, place: [u64; 2]) -> ChaCha8Rng {
    let mut key = [0; 32];
    for (bytes, word) in key.chunks_exact_mut(8).zip([seed, purpose as u64, place[0], place[1]]) {
        bytes.copy_from_slice(&word.to_le_bytes());
    }
    ChaCha8Rng::from_seed(key)
}
