//! [`KnownAnswers`]: the answers of each query that are known to be true, for filtered ranks.

use rana_graph::{EntityId, Fact, Graph, HeldOut, RelationId};
use rayon::prelude::*;

use super::query::LinkQuery;
use crate::side::Side;

/// The true answers of every query, on both sides, according to some facts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownAnswers {
    heads: Answers,
    tails: Answers,
}

impl KnownAnswers {
    /// The answers according to these facts.
    #[must_use]
    pub fn new(facts: impl IntoIterator<Item = Fact>) -> Self {
        let facts: Vec<Fact> = facts.into_iter().collect();
        let answers = |side| {
            Answers::new(facts.par_iter().map(|&fact| {
                let (query, answer) = LinkQuery::of(fact, side);
                (key(query), answer)
            }))
        };
        let (heads, tails) = rayon::join(|| answers(Side::Head), || answers(Side::Tail));
        Self { heads, tails }
    }

    /// The answers according to a graph and all its held-out facts: the usual filter.
    #[must_use]
    pub fn of_graph(graph: &Graph) -> Self {
        let held_out = HeldOut::ALL.into_iter().flat_map(|part| graph.held_out(part));
        Self::new(graph.facts().iter().chain(held_out).copied())
    }

    /// The known answers of a query, in the order of their ids, each once.
    #[must_use]
    pub fn answers(&self, query: LinkQuery) -> &[EntityId] {
        match query.side {
            Side::Head => self.heads.get(key(query)),
            Side::Tail => self.tails.get(key(query)),
        }
    }

    /// Whether a fact is known.
    #[must_use]
    pub fn contains(&self, fact: Fact) -> bool {
        let (query, answer) = LinkQuery::of(fact, Side::Tail);
        self.answers(query).binary_search(&answer).is_ok()
    }
}

type Key = (RelationId, EntityId);

const fn key(query: LinkQuery) -> Key {
    (query.relation, query.anchor)
}

/// Sorted lists under sorted keys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Answers {
    keys: Vec<Key>,
    /// The end of the list of each key.
    ends: Vec<usize>,
    entities: Vec<EntityId>,
}

impl Answers {
    fn new(entries: impl ParallelIterator<Item = (Key, EntityId)>) -> Self {
        let mut entries: Vec<(Key, EntityId)> = entries.collect();
        entries.par_sort_unstable();
        entries.dedup();
        let (mut keys, mut ends) = (Vec::new(), Vec::new());
        for list in entries.chunk_by(|a, b| a.0 == b.0) {
            keys.push(list[0].0);
            ends.push(ends.last().copied().unwrap_or(0) + list.len());
        }
        Self { keys, ends, entities: entries.into_iter().map(|(_, entity)| entity).collect() }
    }

    fn get(&self, key: Key) -> &[EntityId] {
        let Ok(at) = self.keys.binary_search(&key) else { return &[] };
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        &self.entities[start..self.ends[at]]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn answers_are_those_of_the_facts(facts in prop::collection::vec((0u32..6, 0u32..3, 0u32..6), 0..60)) {
            let facts: Vec<Fact> = facts
                .into_iter()
                .map(|(h, r, t)| Fact { head: EntityId(h), relation: RelationId::forward(r), tail: EntityId(t) })
                .collect();
            let known = KnownAnswers::new(facts.iter().copied());
            for anchor in (0..7).map(EntityId) {
                for relation in (0..4).map(RelationId::forward) {
                    for side in Side::ALL {
                        let query = LinkQuery { side, relation, anchor };
                        let expected: std::collections::BTreeSet<EntityId> = facts
                            .iter()
                            .map(|&fact| LinkQuery::of(fact, side))
                            .filter(|of| of.0 == query)
                            .map(|of| of.1)
                            .collect();
                        prop_assert_eq!(known.answers(query), expected.into_iter().collect::<Vec<_>>());
                    }
                    for tail in (0..7).map(EntityId) {
                        let fact = Fact { head: anchor, relation, tail };
                        prop_assert_eq!(known.contains(fact), facts.contains(&fact));
                    }
                }
            }
        }
    }
}
