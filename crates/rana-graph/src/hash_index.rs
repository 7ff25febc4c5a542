//! [`Slots`]: the hash index under names and facts while a graph is built.
//!
//! An open-addressing table of 32-bit ids with the 32 bits of their hashes. It differs from a general
//! hash map in two ways, which matter when millions of names do not fit the cache. The position of an
//! entry is given by the *top* bits of its hash, so growing the table walks memory in order and does
//! not read the keys again. And the memory of a batch of lookups can be [touched](Slots::touch) first,
//! so that their cache misses overlap instead of following each other.

/// A hash index from 32-bit hashes to ids.
#[derive(Clone, Debug, Default)]
pub(crate) struct Slots {
    /// A power-of-two number of entries, `hash << 32 | id`, or [`FREE_ENTRY`].
    entries: Vec<u64>,
    len: usize,
}

/// Marks a free slot: the largest id is never used.
pub(crate) const FREE: u32 = u32::MAX;
/// A free entry; its lower half is [`FREE`].
const FREE_ENTRY: u64 = u64::MAX;

/// Smallest table; with it the shift below stays under 32.
const SMALLEST: usize = 16;

/// The position where the search for a hash starts in a table of `capacity` entries.
pub(crate) fn home(hash: u32, capacity: usize) -> usize {
    // `capacity` is a power of two, so this takes the top bits.
    ((u64::from(hash) * capacity as u64) >> 32) as usize
}

impl Slots {
    /// The id under this hash for which `is_it` holds.
    pub(crate) fn find(&self, hash: u32, is_it: impl Fn(u32) -> bool) -> Option<u32> {
        if self.entries.is_empty() {
            return None;
        }
        let mut at = home(hash, self.entries.len());
        loop {
            match self.entries[at] {
                FREE_ENTRY => return None,
                entry if (entry >> 32) as u32 == hash && is_it(entry as u32) => return Some(entry as u32),
                _ => at = (at + 1) & (self.entries.len() - 1),
            }
        }
    }

    /// The id under this hash for which `is_it` holds, or else inserts `new` and returns `None`.
    pub(crate) fn find_or_insert(&mut self, hash: u32, new: u32, is_it: impl Fn(u32) -> bool) -> Option<u32> {
        if (self.len + 1) * 8 > self.entries.len() * 5 {
            self.grow();
        }
        let mask = self.entries.len() - 1;
        let mut at = home(hash, self.entries.len());
        loop {
            match self.entries[at] {
                FREE_ENTRY => {
                    self.entries[at] = u64::from(hash) << 32 | u64::from(new);
                    self.len += 1;
                    return None;
                }
                entry if (entry >> 32) as u32 == hash && is_it(entry as u32) => return Some(entry as u32),
                _ => at = (at + 1) & mask,
            }
        }
    }

    /// Loads the entries where the search for these hashes starts into the cache, and returns the ids
    /// found there under the same hashes, which are probably the results of the searches.
    pub(crate) fn touch(&self, hashes: &[u32]) -> Vec<u32> {
        if self.entries.is_empty() {
            return Vec::new();
        }
        let start = |hash: u32| self.entries[home(hash, self.entries.len())];
        // No address in this loop depends on a value read before, so the processor need not wait.
        std::hint::black_box(hashes.iter().fold(0, |sum, &hash| sum ^ start(hash)));
        let is_it = |&(hash, entry): &(u32, u64)| entry != FREE_ENTRY && (entry >> 32) as u32 == hash;
        hashes.iter().map(|&hash| (hash, start(hash))).filter(is_it).map(|(_, entry)| entry as u32).collect()
    }

    /// The id of each slot, or [`FREE`]. This is enough to look up names if the names are available.
    pub(crate) fn into_ids(self) -> Vec<u32> {
        self.entries.into_iter().map(|entry| entry as u32).collect()
    }

    fn grow(&mut self) {
        let capacity = (self.entries.len() * 2).max(SMALLEST);
        let old = std::mem::replace(&mut self.entries, vec![FREE_ENTRY; capacity]);
        for entry in old.into_iter().filter(|&entry| entry != FREE_ENTRY) {
            let mut at = home((entry >> 32) as u32, capacity);
            while self.entries[at] != FREE_ENTRY {
                at = (at + 1) & (capacity - 1);
            }
            self.entries[at] = entry;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    proptest! {
        #[test]
        fn agrees_with_a_hash_map(keys in prop::collection::vec(0u32..300, 0..600), spread in any::<bool>()) {
            // Without spreading, all hashes are small and share a home: the worst case.
            let hash = |key: u32| if spread { key.wrapping_mul(0x9E37_79B9) } else { key % 5 };
            let mut slots = Slots::default();
            let mut names: Vec<u32> = Vec::new();
            let mut map: HashMap<u32, u32> = HashMap::new();
            for key in keys {
                let new = names.len() as u32;
                let found = slots.find_or_insert(hash(key), new, |id| names[id as usize] == key);
                prop_assert_eq!(found, map.get(&key).copied());
                if found.is_none() {
                    map.insert(key, new);
                    names.push(key);
                }
                prop_assert_eq!(slots.find(hash(key), |id| names[id as usize] == key), map.get(&key).copied());
                prop_assert_eq!(slots.len, map.len());
            }
            prop_assert_eq!(slots.find(77_777, |id| names[id as usize] == 77_777), None);
        }
    }
}
