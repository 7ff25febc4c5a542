//! [`Keys`]: positions in a text, sorted by the text there, with the entity of most neighbours for each range.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use rayon::prelude::*;

/// How many values one value of the level above covers.
const BLOCK: usize = 32;

/// A place in the text and the entity it belongs to.
#[derive(Clone, Copy)]
pub(super) struct Place {
    /// The position in the text.
    pub(super) at: u64,
    /// The position of the entity when the best known comes first.
    pub(super) rank: u32,
}

/// Sorted positions, and for every range the position of the entity with the most neighbours.
pub(super) struct Keys {
    at: Vec<u64>,
    /// The ranks of the positions, then the minimum of every block of the level before.
    levels: Vec<Vec<u32>>,
}

/// The text at a position, up to the end of its name or label.
pub(super) fn text_at(text: &[u8], at: u64) -> &[u8] {
    let rest = &text[at as usize..];
    &rest[..memchr::memchr(0, rest).unwrap_or(rest.len())]
}

impl Keys {
    pub(super) fn new(text: &[u8], places: &[Place]) -> Self {
        struct Unsorted {
            /// The first bytes as a number: most comparisons need no more.
            begin: u64,
            place: Place,
        }
        let mut unsorted: Vec<Unsorted> = places
            .par_iter()
            .map(|&place| {
                let mut begin = [0; 8];
                let bytes = text_at(text, place.at);
                let length = bytes.len().min(begin.len());
                begin[..length].copy_from_slice(&bytes[..length]);
                Unsorted { begin: u64::from_be_bytes(begin), place }
            })
            .collect();
        unsorted.par_sort_unstable_by(|a, b| {
            let rest = || text_at(text, a.place.at).cmp(text_at(text, b.place.at));
            let order = a.begin.cmp(&b.begin).then_with(rest);
            // The same text in the same entity: any order will do, as long as it is one.
            order.then_with(|| (a.place.rank, a.place.at).cmp(&(b.place.rank, b.place.at)))
        });
        let at = unsorted.par_iter().map(|key| key.place.at).collect();
        let mut levels: Vec<Vec<u32>> = vec![unsorted.par_iter().map(|key| key.place.rank).collect()];
        drop(unsorted);
        while let Some(last) = levels.last().filter(|last| last.len() > BLOCK) {
            let least = |block: &[u32]| block.iter().copied().min().unwrap_or(u32::MAX);
            levels.push(last.par_chunks(BLOCK).map(least).collect());
        }
        Self { at, levels }
    }

    pub(super) fn len(&self) -> usize {
        self.at.len()
    }

    pub(super) fn all(&self) -> Range<usize> {
        0..self.len()
    }

    pub(super) fn place(&self, key: usize) -> u64 {
        self.at[key]
    }

    /// The keys of a range whose text begins with `begin`.
    pub(super) fn starting(&self, text: &[u8], within: Range<usize>, begin: &[u8]) -> Range<usize> {
        // No byte of UTF-8 is that large.
        self.between(text, within, begin, 0xff)
    }

    /// The keys of a range that begin with `begin`, after which the word ends.
    pub(super) fn whole_words(&self, text: &[u8], within: Range<usize>, begin: &[u8]) -> Range<usize> {
        self.between(text, within, begin, b' ' + 1)
    }

    /// The keys that are `begin`, with nothing behind it.
    pub(super) fn equal(&self, text: &[u8], begin: &[u8]) -> Range<usize> {
        self.between(text, self.all(), begin, b' ')
    }

    /// The keys of a range that begin with `begin`, then nothing or a byte below `below`.
    fn between(&self, text: &[u8], within: Range<usize>, begin: &[u8], below: u8) -> Range<usize> {
        let keys = &self.at[within.clone()];
        let from = keys.partition_point(|&at| text_at(text, at) < begin);
        let is_in = |at: u64| {
            let key = text_at(text, at);
            key.starts_with(begin) && key.get(begin.len()).is_none_or(|&next| next < below)
        };
        let length = keys[from..].partition_point(|&at| is_in(at));
        within.start + from..within.start + from + length
    }

    /// The least rank of a range that is not empty, and its key.
    fn best(&self, range: Range<usize>) -> (u32, usize) {
        self.best_of(0, range)
    }

    fn best_of(&self, level: usize, range: Range<usize>) -> (u32, usize) {
        let values = &self.levels[level];
        let scan = |range: Range<usize>| {
            let indexed = values[range.clone()].iter().copied().zip(range);
            indexed.min().unwrap_or((u32::MAX, usize::MAX))
        };
        let blocks = range.start.div_ceil(BLOCK)..range.end / BLOCK;
        if blocks.len() < 2 || level + 1 == self.levels.len() {
            return scan(range);
        }
        let (_, block) = self.best_of(level + 1, blocks.clone());
        let inner = scan(block * BLOCK..(block + 1) * BLOCK);
        inner.min(scan(range.start..blocks.start * BLOCK)).min(scan(blocks.end * BLOCK..range.end))
    }
}

/// The ranks of the entities in some ranges, best first; one comes as often as it has keys there.
pub(super) struct BestFirst<'k> {
    heap: BinaryHeap<Reverse<Candidate>>,
    lists: Vec<&'k Keys>,
}

/// The best key of a range, in the order of ranks.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    rank: u32,
    list: usize,
    key: usize,
    start: usize,
    end: usize,
}

impl<'k> BestFirst<'k> {
    pub(super) fn new(ranges: impl IntoIterator<Item = (&'k Keys, Range<usize>)>) -> Self {
        let mut best = Self { heap: BinaryHeap::new(), lists: Vec::new() };
        for (keys, range) in ranges {
            best.lists.push(keys);
            best.add(best.lists.len() - 1, range);
        }
        best
    }

    fn add(&mut self, list: usize, range: Range<usize>) {
        if !range.is_empty() {
            let (rank, key) = self.lists[list].best(range.clone());
            self.heap.push(Reverse(Candidate { rank, list, key, start: range.start, end: range.end }));
        }
    }
}

impl Iterator for BestFirst<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        let Reverse(Candidate { rank, list, key, start, end }) = self.heap.pop()?;
        self.add(list, start..key);
        self.add(list, key + 1..end);
        Some(rank)
    }
}

/// The first word of a text.
pub(super) fn first_word(text: &[u8]) -> &[u8] {
    &text[..memchr::memchr(b' ', text).unwrap_or(text.len())]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn best_first_is_in_the_order_of_ranks(
            ranks in prop::collection::vec(0_u32..50, 1..3000),
            cut in (0_usize..3000, 0_usize..3000),
        ) {
            // One text of one letter: the order of the keys is that of ranks, then of places.
            let text = b"a\0b\0".repeat(ranks.len());
            let places = |offset: u64| -> Vec<Place> {
                ranks.iter().enumerate().map(|(n, &rank)| Place { at: n as u64 * 4 + offset, rank }).collect()
            };
            let keys = Keys::new(&text, &[places(0), places(2)].concat());
            prop_assert_eq!(keys.equal(&text, b"a"), 0..ranks.len());
            prop_assert_eq!(keys.starting(&text, keys.all(), b"b"), ranks.len()..2 * ranks.len());
            prop_assert!(keys.starting(&text, keys.all(), b"c").is_empty());
            let (a, b) = (cut.0.min(keys.len()), cut.1.min(keys.len()));
            let range = a.min(b)..a.max(b);
            let mut expected = keys.levels[0][range.clone()].to_vec();
            expected.sort_unstable();
            let found: Vec<u32> = BestFirst::new([(&keys, range)]).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
