//! [`Spelling`]: the words of a graph that resemble a misspelt one.

use fst::{IntoStreamer, Set, SetBuilder, Streamer};
use levenshtein_automata::{Distance, LevenshteinAutomatonBuilder};

/// Words up to this length, in characters, may be wrong in one place, longer ones in two.
pub(super) const SHORT: usize = 7;
/// A word that is shorter than this, in characters, is taken as it is written.
pub(super) const SHORTEST: usize = 3;

/// A word of the graph, and in how many places it differs from what was written.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Variant {
    pub(super) word: Vec<u8>,
    pub(super) edits: usize,
}

/// The words of a graph, found by what is nearly the same.
pub(super) struct Spelling {
    words: Set<Vec<u8>>,
    /// For one edit and for two; an edit is a letter more, less or other, or two that changed places.
    within: [LevenshteinAutomatonBuilder; 2],
}

/// Whether a word is spelled: numbers and codes have no misspellings, only neighbours.
pub(super) fn is_spelled(word: &[u8]) -> bool {
    !word.iter().any(u8::is_ascii_digit)
}

/// The number of spelling mistakes that are allowed in a query of this many characters.
pub(super) fn budget(characters: usize) -> usize {
    if characters <= SHORT { 1 } else { 2 }
}

/// In how many places one word of a query may be wrong.
pub(super) fn word_budget(word: &str) -> usize {
    match word.chars().count() {
        length if length < SHORTEST => 0,
        length => budget(length),
    }
}

impl Spelling {
    /// Takes words in ascending order; some may come repeatedly.
    pub(super) fn new<'w>(words: impl Iterator<Item = &'w [u8]>) -> Self {
        let mut set = SetBuilder::memory();
        let mut last: Option<&[u8]> = None;
        for word in words.filter(|word| is_spelled(word)) {
            if last != Some(word) {
                // Words come in order and the memory does not refuse: without one word there
                // is one misspelling less to find.
                let _ = set.insert(word);
                last = Some(word);
            }
        }
        Self {
            words: set.into_set(),
            within: [1, 2].map(|edits| LevenshteinAutomatonBuilder::new(edits, true)),
        }
    }

    /// The other words that `word` may mean, in ascending order.
    pub(super) fn variants(&self, word: &str, most: usize) -> Vec<Variant> {
        let edits = word_budget(word).min(most);
        if edits == 0 {
            return Vec::new();
        }
        let automaton = self.within[edits - 1].build_dfa(word);
        let mut stream = self.words.search_with_state(&automaton).into_stream();
        let mut variants = Vec::new();
        while let Some((found, state)) = stream.next() {
            if let Distance::Exact(edits @ 1..) = automaton.distance(state) {
                variants.push(Variant { word: found.to_vec(), edits: edits.into() });
            }
        }
        variants
    }
}
