//! Random numbers that depend only on a key.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// A random generator keyed by four words, such as a seed, a purpose and an index.
///
/// The words are the ChaCha key itself, so different words give independent streams, and any stream can
/// be started without drawing from the others. The numbers therefore depend neither on the number of
/// threads nor on where a run was resumed.
#[must_use]
pub fn keyed_rng(words: [u64; 4]) -> ChaCha8Rng {
    let mut key = [0; 32];
    for (bytes, word) in key.chunks_exact_mut(8).zip(words) {
        bytes.copy_from_slice(&word.to_le_bytes());
    }
    ChaCha8Rng::from_seed(key)
}
