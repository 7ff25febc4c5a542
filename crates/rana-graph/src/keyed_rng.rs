//! Random numbers that depend on a key alone.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// The generator that belongs to four words, such as a seed, a purpose and a place.
///
/// The words are the ChaCha key itself, so different places have unrelated streams, and any of them
/// can be started without drawing the ones before it: what is drawn depends on neither the threads
/// nor where a run was resumed.
#[must_use]
pub fn keyed_rng(words: [u64; 4]) -> ChaCha8Rng {
    let mut key = [0; 32];
    for (bytes, word) in key.chunks_exact_mut(8).zip(words) {
        bytes.copy_from_slice(&word.to_le_bytes());
    }
    ChaCha8Rng::from_seed(key)
}
