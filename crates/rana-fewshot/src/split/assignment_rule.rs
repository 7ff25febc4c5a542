//! [`Assignment`]: how relations are assigned to train, dev and test, by a ratio or by names.

use std::collections::HashMap;

use rana_graph::Split;
use serde::{Deserialize, Serialize};

use super::error::SplitError;

/// How relations are assigned to train, dev and test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Assignment {
    /// Every few-shot relation, shuffled and dealt out in proportion.
    Ratio(Ratio),
    /// These relations, however many facts they have.
    Names(RelationNames),
}

impl Default for Assignment {
    fn default() -> Self {
        Self::Ratio(Ratio::default())
    }
}

/// The proportions of the splits; only their ratio matters.
///
/// From three relations on, every split with a proportion above zero gets at least one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ratio {
    /// The proportion of train tasks.
    pub train: f64,
    /// The proportion of dev tasks.
    pub dev: f64,
    /// The proportion of test tasks.
    pub test: f64,
}

impl Default for Ratio {
    /// 51 : 5 : 11, as in NELL-One.
    fn default() -> Self {
        Self { train: 51.0, dev: 5.0, test: 11.0 }
    }
}

impl Ratio {
    /// The proportion of a split.
    #[must_use]
    pub const fn of(&self, split: Split) -> f64 {
        match split {
            Split::Train => self.train,
            Split::Dev => self.dev,
            Split::Test => self.test,
        }
    }

    pub(super) fn sum(&self) -> f64 {
        self.train + self.dev + self.test
    }

    pub(super) fn check(&self) -> Result<(), SplitError> {
        for split in Split::ALL {
            let value = self.of(split);
            if !value.is_finite() || value < 0.0 {
                return Err(SplitError::BadRatio { split, value });
            }
        }
        match self.sum() {
            sum if sum > 0.0 && sum.is_finite() => Ok(()),
            sum => Err(SplitError::BadRatioSum { sum }),
        }
    }
}

/// The names of the relations of each split.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RelationNames {
    /// Relations that become train tasks.
    pub train: Vec<String>,
    /// Relations that become dev tasks.
    pub dev: Vec<String>,
    /// Relations that become test tasks.
    pub test: Vec<String>,
}

impl RelationNames {
    /// The names of a split.
    #[must_use]
    pub fn of(&self, split: Split) -> &[String] {
        match split {
            Split::Train => &self.train,
            Split::Dev => &self.dev,
            Split::Test => &self.test,
        }
    }

    /// All names with their split, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Split, &str)> {
        Split::ALL.into_iter().flat_map(|split| self.of(split).iter().map(move |name| (split, name.as_str())))
    }

    pub(super) fn check(&self) -> Result<(), SplitError> {
        let mut seen = HashMap::new();
        for (split, name) in self.iter() {
            if let Some(first) = seen.insert(name, split) {
                return Err(SplitError::NamedTwice { name: name.to_owned(), first, second: split });
            }
        }
        if seen.is_empty() { Err(SplitError::NoNames) } else { Ok(()) }
    }
}
