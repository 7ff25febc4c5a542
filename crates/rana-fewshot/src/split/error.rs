//! [`SplitError`]: why a graph cannot be split.

use rana_graph::Split;

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
