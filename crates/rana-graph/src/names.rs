//! Interned strings: [`Names`] maps names to dense ids and back, [`Texts`] only ids to strings.

use xxhash_rust::xxh3::xxh3_64;

use crate::array::Array;
use crate::hash_index::{FREE, Slots, home};
use crate::lists::{Lists, ListsBuilder};

/// A sequence of strings in one block of bytes, addressed by position.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Texts(pub(crate) Lists<u8>);

impl Texts {
    /// How many strings there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is no string.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The string at `index`.
    ///
    /// # Panics
    /// If `index` is not below [`len`](Self::len).
    #[must_use]
    pub fn get(&self, index: usize) -> &str {
        // Builders only take `&str` and opening a store checks UTF-8, so the replacement character
        // is only seen if another program changes a mapped file.
        std::str::from_utf8(self.0.get(index)).unwrap_or("\u{FFFD}")
    }

    /// All strings in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> + '_ {
        (0..self.len()).map(|index| self.get(index))
    }
}

impl<S: AsRef<str>> FromIterator<S> for Texts {
    fn from_iter<I: IntoIterator<Item = S>>(strings: I) -> Self {
        let mut lists = ListsBuilder::default();
        for string in strings {
            lists.push(string.as_ref().as_bytes());
        }
        Self(lists.finish())
    }
}

/// Distinct names with dense ids `0..len`, found in either direction.
///
/// The index from name to id is an open-addressing table that is part of the store, so that opening a
/// store with millions of names does not have to build it.
///
/// ```
/// use rana_graph::NamesBuilder;
/// let mut builder = NamesBuilder::default();
/// assert_eq!(builder.intern("paris"), 0);
/// assert_eq!(builder.intern("france"), 1);
/// assert_eq!(builder.intern("paris"), 0);
/// let names = builder.finish();
/// assert_eq!(names.id("france"), Some(1));
/// assert_eq!(names.name(0), "paris");
/// assert_eq!(names.id("rome"), None);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Names {
    pub(crate) texts: Texts,
    /// A power-of-two number of slots holding ids or [`FREE`]: linear probing from the slot that
    /// the top bits of [`hash`] give.
    pub(crate) slots: Array<u32>,
}

impl Names {
    /// How many names there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// Whether there is no name.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// The name with this id.
    ///
    /// # Panics
    /// If `id` is not below [`len`](Self::len).
    #[must_use]
    pub fn name(&self, id: u32) -> &str {
        self.texts.get(id as usize)
    }

    /// The id of a name, if it is known.
    #[must_use]
    pub fn id(&self, name: &str) -> Option<u32> {
        if self.slots.is_empty() {
            return None;
        }
        let mask = self.slots.len() - 1;
        let mut slot = home(hash(name), self.slots.len());
        // The bound keeps a lookup finite even in a table without a free slot.
        for _ in 0..self.slots.len() {
            match self.slots[slot] {
                FREE => return None,
                id if self.name(id) == name => return Some(id),
                _ => slot = (slot + 1) & mask,
            }
        }
        None
    }

    /// All names in the order of their ids.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> + '_ {
        self.texts.iter()
    }
}

/// Collects distinct names and gives each the next free id.
#[derive(Clone, Debug, Default)]
pub struct NamesBuilder {
    bytes: Vec<u8>,
    ends: Vec<u64>,
    index: Slots,
}

/// The 32 bits by which names are indexed; part of the store's format.
pub(crate) fn hash(name: &str) -> u32 {
    (xxh3_64(name.as_bytes()) >> 32) as u32
}

impl NamesBuilder {
    /// How many distinct names were seen.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether no name was seen yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The id of `name`, new if it was not seen before.
    ///
    /// # Panics
    /// If there are more than `u32::MAX - 1` distinct names.
    pub fn intern(&mut self, name: &str) -> u32 {
        self.intern_hashed(name, hash(name))
    }

    /// The id of `name`, whose [`hash`] is known already.
    pub(crate) fn intern_hashed(&mut self, name: &str, hash: u32) -> u32 {
        let Self { bytes, ends, index } = self;
        assert!(ends.len() < FREE as usize, "more than u32::MAX - 1 distinct names");
        let new = ends.len() as u32;
        let is_it = |id| slice(bytes, ends, id) == name.as_bytes();
        if let Some(id) = index.find_or_insert(hash, new, is_it) {
            return id;
        }
        bytes.extend_from_slice(name.as_bytes());
        ends.push(bytes.len() as u64);
        new
    }

    /// Loads the memory that a lookup of these hashes reads into the cache, so that the cache misses overlap.
    pub(crate) fn touch(&self, hashes: &[u32]) {
        let ids = self.index.touch(hashes);
        let ends = ids.iter().fold(0, |sum, &id| sum ^ self.ends[id as usize]);
        // A name may lie across two cache lines.
        let edges = |id| match slice(&self.bytes, &self.ends, id) {
            [first, .., last] => first ^ last,
            name => name.first().copied().unwrap_or(0),
        };
        let bytes = ids.iter().fold(0, |sum, &id| sum ^ edges(id));
        std::hint::black_box((ends, bytes));
    }

    /// The id of a name that was seen before.
    #[must_use]
    pub fn id(&self, name: &str) -> Option<u32> {
        self.index.find(hash(name), |id| slice(&self.bytes, &self.ends, id) == name.as_bytes())
    }

    /// The name with this id.
    ///
    /// # Panics
    /// If there is no name with this id.
    #[must_use]
    pub fn name(&self, id: u32) -> &str {
        std::str::from_utf8(slice(&self.bytes, &self.ends, id)).unwrap_or("\u{FFFD}")
    }

    /// Builds the names.
    #[must_use]
    pub fn finish(self) -> Names {
        let Self { bytes, ends, index } = self;
        let mut offsets = ends;
        offsets.insert(0, 0);
        let texts = Texts(Lists { offsets: offsets.into(), values: bytes.into() });
        Names { texts, slots: index.into_ids().into() }
    }
}

impl<S: AsRef<str>> FromIterator<S> for NamesBuilder {
    fn from_iter<I: IntoIterator<Item = S>>(names: I) -> Self {
        let mut builder = Self::default();
        for name in names {
            builder.intern(name.as_ref());
        }
        builder
    }
}

fn slice<'a>(bytes: &'a [u8], ends: &[u64], id: u32) -> &'a [u8] {
    let id = id as usize;
    let start = if id == 0 { 0 } else { ends[id - 1] as usize };
    &bytes[start..ends[id] as usize]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn no_names_at_all() {
        let names = NamesBuilder::default().finish();
        assert!(names.is_empty());
        assert_eq!(names.id(""), None);
        assert_eq!(names.iter().count(), 0);
    }

    proptest! {
        #[test]
        fn ids_and_names_are_inverse(words in prop::collection::vec(".{0,8}", 0..200)) {
            let mut builder = NamesBuilder::default();
            let ids: Vec<u32> = words.iter().map(|w| builder.intern(w)).collect();
            for (word, &id) in words.iter().zip(&ids) {
                prop_assert_eq!(builder.id(word), Some(id));
                prop_assert_eq!(builder.name(id), word);
            }
            let names = builder.finish();
            for (word, &id) in words.iter().zip(&ids) {
                prop_assert_eq!(names.id(word), Some(id));
                prop_assert_eq!(names.name(id), word);
            }
            let distinct: std::collections::HashSet<_> = words.iter().collect();
            prop_assert_eq!(names.len(), distinct.len());
            prop_assert_eq!(names.id("a name that is longer than eight"), None);
        }
    }
}
