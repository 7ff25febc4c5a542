//! [`NameIndex`]: entities by what people call them.

use std::collections::HashSet;
use std::fmt;
use std::ops::Range;

use rana_graph::{EntityId, Graph};
use rayon::prelude::*;

use super::found::{Found, Match};
use super::misspelled_query::{MisspelledQuery, Spelled};
use super::prefix_index::{BestFirst, Keys, Place, first_word, text_at};
use super::spelling::{Spelling, budget};
use super::text_folding::{fold_into, folded};
use super::unresolved::Unresolved;

/// How many names are offered where one was not understood.
const SUGGESTIONS: usize = 5;
/// How many entities one thread prepares at a time.
const TOGETHER: usize = 16 * 1024;

/// Finds entities by their name or label, without regard to case, accents and punctuation.
///
/// Of an IRI only the end counts. A word of up to seven characters may be misspelled in one place,
/// a longer one in two; a whole query in as many as a word of its length. Words shorter than three
/// characters and words with digits are taken as they are written.
///
/// ```
/// use rana::graph::{Duplicates, GraphBuilder};
/// use rana::search::{Match, NameIndex};
/// let mut builder = GraphBuilder::new(Duplicates::Remove);
/// builder.add_named("São_Tomé", "capital_of", "São_Tomé_and_Príncipe");
/// let graph = builder.finish();
/// let index = NameIndex::new(&graph);
/// let names = |query: &str| -> Vec<(&str, Match)> {
///     let found = index.find(&graph, query, 10);
///     found.iter().map(|found| (graph.entity_name(found.entity), found.matched)).collect()
/// };
/// assert_eq!(names("sao tome"), [("São_Tomé", Match::Exact), ("São_Tomé_and_Príncipe", Match::Prefix)]);
/// assert_eq!(names("prin"), [("São_Tomé_and_Príncipe", Match::Word)]);
/// assert_eq!(names("pirncipe"), [("São_Tomé_and_Príncipe", Match::Fuzzy)]);
/// ```
pub struct NameIndex {
    /// The names and labels, each followed by a zero byte.
    text: Vec<u8>,
    /// Where names and labels begin.
    starts: Keys,
    /// Where their further words begin.
    words: Keys,
    spelling: Spelling,
    /// The entities, those with the most neighbours first.
    by_degree: Vec<EntityId>,
}

impl NameIndex {
    /// Reads the names and labels of a graph.
    #[must_use]
    pub fn new(graph: &Graph) -> Self {
        let mut by_degree: Vec<EntityId> = graph.entities().collect();
        by_degree.par_sort_by_cached_key(|&entity| std::cmp::Reverse(graph.degree(entity)));
        let mut ranks = vec![0; by_degree.len()];
        for (rank, entity) in by_degree.iter().enumerate() {
            ranks[entity.index()] = rank as u32;
        }
        let parts: Vec<Part> = ranks
            .par_chunks(TOGETHER)
            .enumerate()
            .map(|(chunk, ranks)| Part::new(graph, chunk * TOGETHER, ranks))
            .collect();
        let mut text = Vec::with_capacity(parts.iter().map(|part| part.text.len()).sum());
        let (mut starts, mut words) = (Vec::new(), Vec::new());
        for part in parts {
            let moved = |place: &Place| Place { at: place.at + text.len() as u64, ..*place };
            starts.extend(part.starts.iter().map(moved));
            words.extend(part.words.iter().map(moved));
            text.extend_from_slice(part.text.as_bytes());
        }
        let starts = Keys::new(&text, &starts);
        let words = Keys::new(&text, &words);
        let spelling = Spelling::new(first_words(&text, &starts, &words));
        Self { text, starts, words, spelling, by_degree }
    }

    /// The entities that fit a query best, of those that fit alike the ones with the most neighbours.
    ///
    /// The graph is the one that the index was made of. Exact finds come first, then names and labels
    /// that begin with the query, then those with a word that does, then those that are nearly the
    /// query, with fewer misspellings first.
    #[must_use]
    pub fn find(&self, graph: &Graph, query: &str, limit: usize) -> Vec<Found> {
        let text = &self.text;
        let folded = folded(query);
        let mut finds = Finds { limit, seen: HashSet::new(), found: Vec::new() };
        if let Some(entity) = graph.entity(query) {
            finds.add(entity, Match::Exact);
        }
        if folded.is_empty() {
            return finds.found;
        }
        let begin = folded.as_bytes();
        for (keys, range, matched) in [
            (&self.starts, self.starts.equal(text, begin), Match::Exact),
            (&self.starts, self.starts.starting(text, self.starts.all(), begin), Match::Prefix),
            (&self.words, self.words.starting(text, self.words.all(), begin), Match::Word),
        ] {
            self.add(&mut finds, [(keys, range)], matched);
        }
        if !finds.is_full() {
            let most = budget(folded.chars().count());
            let query: Vec<Spelled<'_>> = folded.split(' ').map(|word| self.spelled(word, most)).collect();
            let ranges: Vec<_> = [&self.starts, &self.words]
                .into_iter()
                .flat_map(|keys| {
                    let ranges = MisspelledQuery::new(text, keys, &query, most).ranges();
                    ranges.into_iter().map(move |(edits, range)| (keys, edits, range))
                })
                .collect();
            for edits in 1..=most {
                let alike = ranges.iter().filter(|(_, of, _)| *of == edits);
                self.add(&mut finds, alike.map(|(keys, _, range)| (*keys, range.clone())), Match::Fuzzy);
            }
        }
        finds.found
    }

    /// The entity that a text names: by its name, or by a label that no other entity has.
    ///
    /// Case counts where it decides. The graph is the one that the index was made of.
    ///
    /// # Errors
    /// If there is no such entity, or several have the label; names that may be meant are offered.
    pub fn resolve(&self, graph: &Graph, text: &str) -> Result<EntityId, Unresolved> {
        if let Some(entity) = graph.entity(text) {
            return Ok(entity);
        }
        let folded = folded(text);
        let same = BestFirst::new([(&self.starts, self.starts.equal(&self.text, folded.as_bytes()))]);
        let mut same: Vec<EntityId> = same.map(|rank| self.by_degree[rank as usize]).collect();
        same.dedup();
        let lower = text.to_lowercase();
        let is_called = |entity: &EntityId, is: &dyn Fn(&str) -> bool| {
            graph.entity_label(*entity).is_some_and(is) || is(graph.entity_name(*entity))
        };
        for is in [&|called: &str| called == text, &|called: &str| called.to_lowercase() == lower]
            as [&dyn Fn(&str) -> bool; 2]
        {
            let called: Vec<EntityId> = same.iter().copied().filter(|entity| is_called(entity, is)).collect();
            match called[..] {
                [] => {}
                [entity] => return Ok(entity),
                _ => {
                    let meant = &called[..called.len().min(SUGGESTIONS)];
                    return Err(Unresolved::new(graph, text, true, meant));
                }
            }
        }
        let found = self.find(graph, text, SUGGESTIONS);
        let meant: Vec<EntityId> = found.iter().map(|found| found.entity).collect();
        Err(Unresolved::new(graph, text, false, &meant))
    }

    fn add<'k>(
        &self,
        finds: &mut Finds,
        ranges: impl IntoIterator<Item = (&'k Keys, Range<usize>)>,
        matched: Match,
    ) {
        for rank in BestFirst::new(ranges) {
            if finds.is_full() {
                break;
            }
            finds.add(self.by_degree[rank as usize], matched);
        }
    }

    fn spelled<'q>(&self, word: &'q str, most: usize) -> Spelled<'q> {
        Spelled { word, variants: self.spelling.variants(word, most) }
    }
}

impl fmt::Debug for NameIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NameIndex").field("entities", &self.by_degree.len()).finish_non_exhaustive()
    }
}

/// The part of the index that one thread builds.
struct Part {
    text: String,
    starts: Vec<Place>,
    words: Vec<Place>,
}

impl Part {
    fn new(graph: &Graph, first: usize, ranks: &[u32]) -> Self {
        let mut part = Self { text: String::new(), starts: Vec::new(), words: Vec::new() };
        for (number, &rank) in ranks.iter().enumerate() {
            let entity = EntityId((first + number) as u32);
            let name = part.add(graph.entity_name(entity), rank, None);
            if let Some(label) = graph.entity_label(entity) {
                part.add(label, rank, Some(name));
            }
        }
        part
    }

    /// Adds a text unless it is as good as `other`.
    fn add(&mut self, text: &str, rank: u32, other: Option<Range<usize>>) -> Range<usize> {
        let start = self.text.len();
        fold_into(&mut self.text, text);
        let range = start..self.text.len();
        if range.is_empty() || other.is_some_and(|other| self.text[other] == self.text[range.clone()]) {
            self.text.truncate(start);
            return start..start;
        }
        self.starts.push(Place { at: start as u64, rank });
        let spaces =
            self.text.as_bytes()[range.clone()].iter().enumerate().filter(|(_, byte)| **byte == b' ');
        self.words.extend(spaces.map(|(at, _)| Place { at: (start + at + 1) as u64, rank }));
        self.text.push('\0');
        range
    }
}

/// The first words of all keys, in ascending order.
fn first_words<'t>(text: &'t [u8], starts: &Keys, words: &Keys) -> impl Iterator<Item = &'t [u8]> {
    let word = |at| first_word(text_at(text, at));
    let (mut of_starts, mut of_words) = (0, 0);
    std::iter::from_fn(move || {
        let start = (of_starts < starts.len()).then(|| word(starts.place(of_starts)));
        let later = (of_words < words.len()).then(|| word(words.place(of_words)));
        if start.is_some() && (later.is_none() || start <= later) {
            of_starts += 1;
            start
        } else {
            of_words += 1;
            later
        }
    })
}

/// Entities found so far, each once.
struct Finds {
    limit: usize,
    seen: HashSet<EntityId>,
    found: Vec<Found>,
}

impl Finds {
    fn is_full(&self) -> bool {
        self.found.len() >= self.limit
    }

    fn add(&mut self, entity: EntityId, matched: Match) {
        if !self.is_full() && self.seen.insert(entity) {
            self.found.push(Found { entity, matched });
        }
    }
}
