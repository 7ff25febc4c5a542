//! [`MisspelledQuery`]: the ranges of keys that a misspelled query may mean.

use std::ops::Range;

use super::prefix_index::{Keys, first_word, text_at};
use super::spelling::Variant;

/// A word of a query and the words it may mean.
pub(super) struct Spelled<'q> {
    pub(super) word: &'q str,
    pub(super) variants: Vec<Variant>,
}

/// The ranges of keys that a misspelled query may mean.
pub(super) struct MisspelledQuery<'a> {
    text: &'a [u8],
    keys: &'a Keys,
    query: &'a [Spelled<'a>],
    most: usize,
    ranges: Vec<(usize, Range<usize>)>,
}

impl<'a> MisspelledQuery<'a> {
    pub(super) fn new(text: &'a [u8], keys: &'a Keys, query: &'a [Spelled<'a>], most: usize) -> Self {
        Self { text, keys, query, most, ranges: Vec::new() }
    }

    /// The ranges, each with its number of edits.
    pub(super) fn ranges(mut self) -> Vec<(usize, Range<usize>)> {
        self.follow(self.keys.all(), &mut Vec::new(), 0, 0);
        self.ranges
    }

    /// Reads word number `at` of the query after what is `spelled`, within the keys that begin so.
    fn follow(&mut self, range: Range<usize>, spelled: &mut Vec<u8>, at: usize, edits: usize) {
        let Spelled { word, variants } = &self.query[at];
        let is_last = at + 1 == self.query.len();
        let length = spelled.len();
        if is_last && edits > 0 {
            // The last word may still be being typed.
            spelled.extend_from_slice(word.as_bytes());
            let found = self.keys.starting(self.text, range.clone(), spelled);
            self.ranges.extend((!found.is_empty()).then_some((edits, found)));
            spelled.truncate(length);
        } else if !is_last {
            self.take(range.clone(), spelled, at, word.as_bytes(), edits);
        }
        let left = self.most - edits;
        if left == 0 {
            return;
        }
        if variants.len() <= range.len() {
            for Variant { word, edits: more } in variants.iter().filter(|variant| variant.edits <= left) {
                self.take(range.clone(), spelled, at, word, edits + more);
            }
            return;
        }
        // Few keys are left: asking which of the variants they hold is faster than the reverse.
        let mut key = range.start;
        while key < range.end {
            let rest = text_at(self.text, self.keys.place(key)).get(length..).unwrap_or_default();
            let word = first_word(rest);
            let variant = variants.binary_search_by(|variant| variant.word[..].cmp(word));
            let Some(Variant { word, edits: more }) = variant.ok().map(|found| &variants[found]) else {
                key += 1;
                continue;
            };
            spelled.extend_from_slice(word);
            let same = self.keys.whole_words(self.text, key..range.end, spelled);
            spelled.truncate(length);
            key = same.end.max(key + 1);
            if *more <= left {
                self.take(same, spelled, at, word, edits + more);
            }
        }
    }

    /// Narrows a range to the keys that have this word next.
    fn take(&mut self, range: Range<usize>, spelled: &mut Vec<u8>, at: usize, word: &[u8], edits: usize) {
        let length = spelled.len();
        spelled.extend_from_slice(word);
        let found = self.keys.whole_words(self.text, range, spelled);
        if !found.is_empty() {
            if at + 1 == self.query.len() {
                self.ranges.push((edits, found));
            } else {
                spelled.push(b' ');
                self.follow(found, spelled, at + 1, edits);
            }
        }
        spelled.truncate(length);
    }
}
