//! Damage to any bytes, as disks, networks and editors do it.

use rand::{Rng, RngExt};

/// Damages bytes in one to three places.
pub(crate) fn mutate(bytes: &mut Vec<u8>, rng: &mut impl Rng) {
    for _ in 0..rng.random_range(1..4) {
        if bytes.is_empty() {
            bytes.push(rng.random());
        }
        let at = rng.random_range(0..bytes.len());
        let end = (at + rng.random_range(1..64)).min(bytes.len());
        match rng.random_range(0..7) {
            0 => bytes[at] = rng.random(),
            1 => bytes[at] ^= 1 << rng.random_range(0..8),
            2 => bytes.truncate(at),
            3 => bytes.insert(at, b"\0\xff<>\"'\\{}[],.:;@^_\t\n"[rng.random_range(0..20)]),
            4 => drop(bytes.drain(at..end)),
            // Numbers that are too large for what they count.
            5 => bytes[at..end].fill(b"\xff09"[rng.random_range(0..3)]),
            _ => {
                let copy = bytes[at..end].to_vec();
                let to = rng.random_range(0..=bytes.len());
                bytes.splice(to..to, copy);
            }
        }
    }
}
