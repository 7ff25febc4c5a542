//! [`HeldOut`]: facts held out of a graph to measure what was learned from it.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::fact::Fact;
use crate::graph_builder::Duplicates;
use crate::hash_index::Slots;

/// One of the two lists of held-out facts.
///
/// Held-out facts use the ids of the graph and are not part of it: no neighbourhood contains them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HeldOut {
    /// For early stopping and the choice of settings.
    Valid,
    /// For the final report.
    Test,
}

impl HeldOut {
    /// Both lists in their usual order.
    pub const ALL: [Self; 2] = [Self::Valid, Self::Test];

    /// `valid` or `test`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Valid => "valid",
            Self::Test => "test",
        }
    }

    pub(crate) const fn index(self) -> usize {
        self as usize
    }
}

impl fmt::Display for HeldOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for HeldOut {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|part| part.name() == text)
            .ok_or_else(|| format!("`{text}` is no list of held-out facts; say valid or test"))
    }
}

/// Counts of one list of held-out facts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct HeldOutReport {
    /// Facts kept.
    pub facts: u64,
    /// Facts that repeat another of the list; removed unless duplicates are kept.
    pub duplicates: u64,
    /// Kept facts that the graph contains too, so that they do not measure generalisation.
    pub in_graph: u64,
    /// Entities that did not occur before this list.
    pub new_entities: u64,
    /// Relations that did not occur before this list.
    pub new_relations: u64,
}

/// One list of held-out facts while its graph is built.
#[derive(Debug, Default)]
pub(crate) struct HeldOutBuilder {
    pub(crate) facts: Vec<Fact>,
    seen: Slots,
    pub(crate) duplicates: u64,
    pub(crate) new_entities: u64,
    pub(crate) new_relations: u64,
}

impl HeldOutBuilder {
    /// Adds a fact; `false` if it was a duplicate and duplicates are removed.
    pub(crate) fn add(&mut self, fact: Fact, hash: u32, duplicates: Duplicates) -> bool {
        let Self { facts, seen, .. } = self;
        assert!(facts.len() < u32::MAX as usize, "more than u32::MAX - 1 facts");
        let new = facts.len() as u32;
        if seen.find_or_insert(hash, new, |at| facts[at as usize] == fact).is_some() {
            self.duplicates += 1;
            if duplicates == Duplicates::Remove {
                return false;
            }
        }
        facts.push(fact);
        true
    }
}
