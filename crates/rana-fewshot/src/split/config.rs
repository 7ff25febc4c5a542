//! The settings of a split, and what can be wrong with them.

use std::collections::HashMap;

use rana_graph::Split;
use serde::{Deserialize, Serialize};

use crate::candidates::CandidateRule;

/// The settings of a split as they are written down; [`SplitConfig`] is the checked form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SplitSettings {
    /// A few-shot relation has more facts than this.
    pub more_than: usize,
    /// A few-shot relation has fewer facts than this.
    pub less_than: usize,
    /// How relations are assigned to train, dev and test.
    pub assignment: Assignment,
    /// How the candidate tails of a task are found.
    pub candidates: CandidateRule,
    /// At most this many candidates per task, if given; a task's own tails are always kept.
    pub cap: Option<usize>,
    /// Whether relations that are the inverse of a task relation stay where they are.
    pub keep_inverses: bool,
    /// Another relation is the inverse of a task relation if at least this share of the facts of
    /// each stands reversed under the other.
    pub inverse_share: f64,
    /// The same seed gives the same split.
    pub seed: u64,
}

impl Default for SplitSettings {
    /// The published rule, 50 < facts < 500, and the published proportions of NELL-One.
    fn default() -> Self {
        Self {
            more_than: 50,
            less_than: 500,
            assignment: Assignment::default(),
            candidates: CandidateRule::default(),
            cap: None,
            keep_inverses: false,
            inverse_share: 0.8,
            seed: 0,
        }
    }
}

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

    fn check(&self) -> Result<(), SplitError> {
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

    fn check(&self) -> Result<(), SplitError> {
        let mut seen = HashMap::new();
        for (split, name) in self.iter() {
            if let Some(first) = seen.insert(name, split) {
                return Err(SplitError::NamedTwice { name: name.to_owned(), first, second: split });
            }
        }
        if seen.is_empty() { Err(SplitError::NoNames) } else { Ok(()) }
    }
}

/// Checked settings of a split.
///
/// ```
/// use rana_fewshot::{SplitConfig, SplitSettings};
/// let settings = SplitSettings { more_than: 500, ..SplitSettings::default() };
/// let error = SplitConfig::try_from(settings).unwrap_err();
/// assert!(error.to_string().starts_with("more_than is 500"));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "SplitSettings", into = "SplitSettings")]
pub struct SplitConfig(SplitSettings);

impl SplitConfig {
    /// The settings, all in range.
    #[must_use]
    pub const fn settings(&self) -> &SplitSettings {
        &self.0
    }
}

impl From<SplitConfig> for SplitSettings {
    fn from(config: SplitConfig) -> Self {
        config.0
    }
}

impl TryFrom<SplitSettings> for SplitConfig {
    type Error = SplitError;

    fn try_from(settings: SplitSettings) -> Result<Self, SplitError> {
        let SplitSettings { more_than, less_than, inverse_share, .. } = settings;
        if more_than >= less_than {
            return Err(SplitError::EmptyRange { more_than, less_than });
        }
        if !(inverse_share > 0.0 && inverse_share <= 1.0) {
            return Err(SplitError::BadInverseShare { value: inverse_share });
        }
        match &settings.assignment {
            Assignment::Ratio(ratio) => ratio.check()?,
            Assignment::Names(names) => names.check()?,
        }
        Ok(Self(settings))
    }
}

/// Why a graph cannot be split as asked.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SplitError {
    /// No number of facts can satisfy the rule.
    #[error("more_than is {more_than} and less_than is {less_than}; more_than must be the smaller one")]
    EmptyRange {
        /// The lower bound.
        more_than: usize,
        /// The upper bound.
        less_than: usize,
    },
    /// A share must be above 0 and at most 1.
    #[error("inverse_share is {value}; say a number above 0 and at most 1")]
    BadInverseShare {
        /// What was given.
        value: f64,
    },
    /// A proportion must be a number of at least 0.
    #[error("the ratio of {split} is {value}; say a finite number of at least 0")]
    BadRatio {
        /// The split.
        split: Split,
        /// What was given.
        value: f64,
    },
    /// The proportions must add up to something.
    #[error("the ratios of train, dev and test add up to {sum}; they must add up to a finite number above 0")]
    BadRatioSum {
        /// What they add up to.
        sum: f64,
    },
    /// Names were asked for, and none given.
    #[error("no relation is named for train, dev or test; name at least one, or give ratios")]
    NoNames,
    /// A relation can be a task of one split only.
    #[error("relation `{name}` is named for {first} and again for {second}; name it once")]
    NamedTwice {
        /// The relation.
        name: String,
        /// Where it was named first.
        first: Split,
        /// Where it was named again.
        second: Split,
    },
    /// A named relation is not in the graph.
    #[error("relation `{name}`, named for {split}, is not in the graph; check its spelling")]
    UnknownRelation {
        /// The relation.
        name: String,
        /// Where it was named.
        split: Split,
    },
    /// A named relation has no facts to make a task of.
    #[error("relation `{name}`, named for {split}, has no facts in the background; leave it out")]
    NoFacts {
        /// The relation.
        name: String,
        /// Where it was named.
        split: Split,
    },
    /// A named relation states types, which the graph would keep.
    #[error(
        "relation `{name}`, named for {split}, states types, and the types would give its answers away; \
         leave it out, or import the graph without reading types from it"
    )]
    StatesTypes {
        /// The relation.
        name: String,
        /// Where it was named.
        split: Split,
    },
    /// Two named relations are the inverse of each other.
    #[error(
        "the named relations `{first}` and `{second}` are the inverse of each other, and each would give the \
         other's answers away; name one of them, or keep inverses"
    )]
    NamedTwins {
        /// The one named first.
        first: String,
        /// The other.
        second: String,
    },
    /// The rule matches no relation.
    #[error(
        "none of the {relations} relations has more than {more_than} and less than {less_than} facts; \
         change more_than or less_than, or name the relations"
    )]
    NothingFewShot {
        /// How many relations the background has.
        relations: usize,
        /// The lower bound.
        more_than: usize,
        /// The upper bound.
        less_than: usize,
    },
    /// Candidates are to come from types, but the graph has no types.
    #[error("candidates is `types`, but no entity of the graph has a type; say auto, tails or all")]
    NoTypes,
}
