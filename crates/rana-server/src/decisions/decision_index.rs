//! [`DecisionIndex`]: the latest verdict on each fact.

use std::collections::{BTreeMap, HashMap};

use super::decision::{Decision, Verdict};

/// The latest verdict on each fact, unless it was withdrawn.
#[derive(Debug, Default)]
pub(crate) struct DecisionIndex {
    by_fact: HashMap<[String; 3], u64>,
    by_number: BTreeMap<u64, Decision>,
}

impl DecisionIndex {
    /// Adds the next decision.
    pub(crate) fn add(&mut self, decision: Decision) {
        let fact = [&decision.relation, &decision.head, &decision.tail].map(String::clone);
        let before = match decision.verdict {
            Verdict::Withdrawn => self.by_fact.remove(&fact),
            _ => self.by_fact.insert(fact, decision.number),
        };
        if let Some(before) = before {
            self.by_number.remove(&before);
        }
        if decision.verdict != Verdict::Withdrawn {
            self.by_number.insert(decision.number, decision);
        }
    }

    /// The verdicts on facts of a relation, or of all relations, in the order they were made.
    pub(crate) fn of<'a>(&'a self, relation: Option<&'a str>) -> impl Iterator<Item = &'a Decision> {
        self.by_number.values().filter(move |decision| relation.is_none_or(|name| decision.relation == name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_verdict_counts() {
        let mut index = DecisionIndex::default();
        let decide = |number: u64, tail: &str, verdict| Decision {
            number,
            relation: "treats".to_owned(),
            head: "aspirin".to_owned(),
            tail: tail.to_owned(),
            verdict,
            score: None,
            confidence: None,
            time: String::new(),
        };
        use Verdict::{Accepted, Rejected, Withdrawn};
        for (number, tail, verdict) in [
            (1, "pain", Accepted),
            (2, "fever", Accepted),
            (3, "pain", Rejected),
            (4, "fever", Withdrawn),
            (5, "never seen", Withdrawn),
            (6, "cold", Accepted),
        ] {
            index.add(decide(number, tail, verdict));
        }
        let left: Vec<_> = index.of(None).map(|left| (left.number, &left.tail[..], left.verdict)).collect();
        assert_eq!(left, [(3, "pain", Rejected), (6, "cold", Accepted)]);
        assert_eq!(index.of(Some("treats")).count(), 2);
        assert_eq!(index.of(Some("causes")).count(), 0);
    }
}
