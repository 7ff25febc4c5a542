//! [`DecisionIndex`]: the latest verdict on each fact.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use super::decision::{Decision, Verdict};

/// The latest verdict on each fact, unless it was withdrawn.
#[derive(Debug, Default)]
pub(crate) struct DecisionIndex {
    /// The same decisions as below, by their facts.
    by_fact: HashTable<Arc<KeptDecision>>,
    by_number: BTreeMap<u64, Arc<KeptDecision>>,
    hasher: RandomState,
}

/// A decision in little memory: a server keeps all of them.
#[derive(Debug)]
pub(crate) struct KeptDecision {
    pub(crate) number: u64,
    pub(crate) score: Option<f64>,
    pub(crate) confidence: Option<f64>,
    /// The relation, the head, the tail and the time, one behind the other.
    text: Box<str>,
    /// Where the first three of them end.
    ends: [usize; 3],
    pub(crate) verdict: Verdict,
}

impl KeptDecision {
    fn new(decision: &Decision) -> Self {
        let Decision { number, relation, head, tail, verdict, score, confidence, time } = decision;
        let mut ends = [relation.len(), head.len(), tail.len()];
        ends[1] += ends[0];
        ends[2] += ends[1];
        let text = [relation.as_str(), head, tail, time].concat().into_boxed_str();
        Self { number: *number, score: *score, confidence: *confidence, text, ends, verdict: *verdict }
    }

    /// The name of the relation.
    pub(crate) fn relation(&self) -> &str {
        self.part(0, self.ends[0])
    }

    /// The name of the head.
    pub(crate) fn head(&self) -> &str {
        self.part(self.ends[0], self.ends[1])
    }

    /// The name of the tail.
    pub(crate) fn tail(&self) -> &str {
        self.part(self.ends[1], self.ends[2])
    }

    /// The time of the decision, in UTC.
    pub(crate) fn time(&self) -> &str {
        self.part(self.ends[2], self.text.len())
    }

    fn part(&self, start: usize, end: usize) -> &str {
        &self.text[start..end]
    }

    fn fact(&self) -> [&str; 3] {
        [self.relation(), self.head(), self.tail()]
    }
}

impl DecisionIndex {
    /// Adds the next decision.
    pub(crate) fn add(&mut self, decision: &Decision) {
        let fact = [&decision.relation, &decision.head, &decision.tail].map(String::as_str);
        let (by_number, hasher) = (&mut self.by_number, &self.hasher);
        let entry = self.by_fact.entry(
            hasher.hash_one(fact),
            |kept| kept.fact() == fact,
            |kept| hasher.hash_one(kept.fact()),
        );
        let new = (decision.verdict != Verdict::Withdrawn).then(|| Arc::new(KeptDecision::new(decision)));
        match (entry, new.clone()) {
            (Entry::Occupied(mut before), Some(new)) => {
                by_number.remove(&before.get().number);
                *before.get_mut() = new;
            }
            (Entry::Occupied(before), None) => {
                by_number.remove(&before.remove().0.number);
            }
            (Entry::Vacant(place), Some(new)) => {
                place.insert(new);
            }
            (Entry::Vacant(_), None) => {}
        }
        by_number.extend(new.map(|new| (new.number, new)));
    }

    /// The verdicts on facts of a relation, or of all relations, in the order they were made.
    pub(crate) fn of<'a>(&'a self, relation: Option<&'a str>) -> impl Iterator<Item = &'a Arc<KeptDecision>> {
        self.by_number
            .values()
            .filter(move |decision| relation.is_none_or(|name| decision.relation() == name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decide(number: u64, tail: &str, verdict: Verdict) -> Decision {
        Decision {
            number,
            relation: "treats".to_owned(),
            head: "aspirin".to_owned(),
            tail: tail.to_owned(),
            verdict,
            score: None,
            confidence: Some(0.5),
            time: "2026-11-18T12:00:00Z".to_owned(),
        }
    }

    #[test]
    fn the_latest_verdict_counts() {
        let mut index = DecisionIndex::default();
        use Verdict::{Accepted, Rejected, Withdrawn};
        for (number, tail, verdict) in [
            (1, "pain", Accepted),
            (2, "fever", Accepted),
            (3, "pain", Rejected),
            (4, "fever", Withdrawn),
            (5, "never seen", Withdrawn),
            (6, "cold", Accepted),
        ] {
            index.add(&decide(number, tail, verdict));
        }
        let left: Vec<_> = index.of(None).map(|left| (left.number, left.tail(), left.verdict)).collect();
        assert_eq!(left, [(3, "pain", Rejected), (6, "cold", Accepted)]);
        assert_eq!(index.of(Some("treats")).count(), 2);
        assert_eq!(index.of(Some("causes")).count(), 0);
        let last = index.of(None).last().unwrap();
        let parts = [last.relation(), last.head(), last.tail(), last.time()];
        assert_eq!(parts, ["treats", "aspirin", "cold", "2026-11-18T12:00:00Z"]);
        assert_eq!((last.score, last.confidence), (None, Some(0.5)));
    }

    /// The fact was kept twice, in seven strings.
    #[test]
    fn a_decision_is_kept_once_in_little_memory() {
        assert!(size_of::<KeptDecision>() <= 88, "{}", size_of::<KeptDecision>());
        let mut index = DecisionIndex::default();
        (1..=100).for_each(|number| index.add(&decide(number, &number.to_string(), Verdict::Accepted)));
        assert_eq!((index.by_fact.len(), index.by_number.len()), (100, 100));
        for (one, other) in index.by_number.values().zip(1..) {
            assert_eq!((one.number, Arc::strong_count(one)), (other, 2));
        }
        let change = |number: u64| decide(number, &(number - 100).to_string(), Verdict::Rejected);
        (101..=200).for_each(|number| index.add(&change(number)));
        assert_eq!((index.by_fact.len(), index.by_number.len()), (100, 100));
        let withdraw = |number: u64| decide(number, &(number - 200).to_string(), Verdict::Withdrawn);
        (201..=300).for_each(|number| index.add(&withdraw(number)));
        assert_eq!((index.by_fact.len(), index.by_number.len()), (0, 0));
    }

    #[test]
    fn facts_whose_names_run_together_are_two() {
        let mut index = DecisionIndex::default();
        for (number, head, tail) in [(1, "ab", "c"), (2, "a", "bc")] {
            index.add(&Decision { head: head.to_owned(), ..decide(number, tail, Verdict::Accepted) });
        }
        assert_eq!(index.of(None).map(|kept| kept.head()).collect::<Vec<_>>(), ["ab", "a"]);
    }
}
