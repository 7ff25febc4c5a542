//! [`Known`]: the facts emitted so far, each as one 64-bit number.

use hashbrown::HashTable;

use super::latent_space::mix;

/// A set of facts, of about 9 bytes each. It excludes duplicates, and gives the paths of the background
/// that a composed relation may follow.
#[derive(Debug)]
pub(super) struct Known {
    entities: u64,
    keys: HashTable<u64>,
}

impl Known {
    pub(super) fn new(entities: u64, facts: u64) -> Self {
        Self { entities, keys: HashTable::with_capacity(facts as usize) }
    }

    /// Adds a fact; `false` if it was there already.
    pub(super) fn insert(&mut self, head: u32, relation: u32, tail: u32) -> bool {
        let key = self.key(head, relation, tail);
        let entry = self.keys.entry(mix(key), |&other| other == key, |&other| mix(other));
        let fresh = matches!(entry, hashbrown::hash_table::Entry::Vacant(_));
        entry.or_insert(key);
        fresh
    }

    pub(super) fn contains(&self, head: u32, relation: u32, tail: u32) -> bool {
        let key = self.key(head, relation, tail);
        self.keys.find(mix(key), |&other| other == key).is_some()
    }

    /// Injective, because the configuration bounds relations × entities².
    fn key(&self, head: u32, relation: u32, tail: u32) -> u64 {
        (u64::from(relation) * self.entities + u64::from(head)) * self.entities + u64::from(tail)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fact_is_new_once() {
        let mut known = Known::new(10, 2);
        assert!(known.insert(1, 2, 3) && !known.insert(1, 2, 3) && known.insert(3, 2, 1));
        assert!(known.contains(3, 2, 1) && !known.contains(2, 3, 1));
    }
}
