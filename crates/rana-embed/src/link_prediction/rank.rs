//! [`Rank`] and [`TieRule`]: the position of the right answer among the candidates.

use std::fmt;
use std::str::FromStr;

use rana_graph::Fact;
use serde::{Deserialize, Serialize};

/// The position of the right answer among candidates with the same score.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TieRule {
    /// Before all of them. This is too good for models that give many equal scores.
    Optimistic,
    /// In the middle: the mean of the other two rules.
    #[default]
    Realistic,
    /// After all of them.
    Pessimistic,
}

impl TieRule {
    /// All rules.
    pub const ALL: [Self; 3] = [Self::Optimistic, Self::Realistic, Self::Pessimistic];

    /// `optimistic`, `realistic` or `pessimistic`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Optimistic => "optimistic",
            Self::Realistic => "realistic",
            Self::Pessimistic => "pessimistic",
        }
    }
}

impl fmt::Display for TieRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for TieRule {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|rule| rule.name() == text)
            .ok_or_else(|| format!("`{text}` is not a tie rule; choose optimistic, realistic or pessimistic"))
    }
}

/// The position of the right answer among the candidates of a query.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Rank {
    /// Candidates with a higher score.
    pub better: u64,
    /// Other candidates with the same score.
    pub tied: u64,
}

impl Rank {
    /// The rank under a tie rule, from 1. The realistic rule can give half a rank.
    #[must_use]
    pub fn by(self, rule: TieRule) -> f64 {
        let first = self.better as f64 + 1.0;
        match rule {
            TieRule::Optimistic => first,
            TieRule::Realistic => first + self.tied as f64 / 2.0,
            TieRule::Pessimistic => first + self.tied as f64,
        }
    }
}

/// The ranks of both ends of a fact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FactRanks {
    /// The fact.
    pub fact: Fact,
    /// Its head among all entities, given relation and tail.
    pub head: Rank,
    /// Its tail among all entities, given head and relation.
    pub tail: Rank,
}
