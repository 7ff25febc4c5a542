//! [`LinkPredictionError`]: why an evaluation fails.

use rana_graph::EntityId;

use super::query::LinkQuery;
use crate::side::Side;

/// Why an evaluation fails.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LinkPredictionError {
    /// A block size is zero.
    #[error("`{field}` is 0; it must be at least 1")]
    EmptyBlock {
        /// The field.
        field: &'static str,
    },
    /// A fact has an entity without a vector.
    #[error(
        "entity {entity} of a fact is not among the {entities} entities of the model: the vectors belong to another graph"
    )]
    UnknownEntity {
        /// The entity's id.
        entity: u32,
        /// How many there are.
        entities: usize,
    },
    /// A fact has a relation without a vector.
    #[error(
        "relation {relation} of a fact is not among the {relations} relations of the model, which was not trained \
         on it: leave its facts out, or train on some of them"
    )]
    UnknownRelation {
        /// The relation's number.
        relation: usize,
        /// How many there are.
        relations: usize,
    },
    /// A score is NaN.
    #[error(
        "the model scores entity {candidate} as the {side} of relation {relation} at entity {anchor} with NaN, which has \
         no rank. Its vectors have diverged: train again with a smaller learning rate"
    )]
    NotANumber {
        /// The side of the query.
        side: Side,
        /// The relation's number.
        relation: usize,
        /// The known entity of the query.
        anchor: u32,
        /// The candidate.
        candidate: u32,
    },
    /// A score depends on the other candidates in its block.
    #[error(
        "the model scores entity {candidate} as the {side} of relation {relation} at entity {anchor} differently on its \
         own and among others. A `LinkScorer` must not: this is a bug in it"
    )]
    Inconsistent {
        /// The side of the query.
        side: Side,
        /// The relation's number.
        relation: usize,
        /// The known entity of the query.
        anchor: u32,
        /// The candidate.
        candidate: u32,
    },
}

impl LinkPredictionError {
    /// The error of a candidate that a query scores with NaN.
    pub(super) fn not_a_number(query: LinkQuery, candidate: EntityId) -> Self {
        let LinkQuery { side, relation, anchor } = query;
        Self::NotANumber { side, relation: relation.number(), anchor: anchor.0, candidate: candidate.0 }
    }

    /// The error of a candidate whose score depends on the others of its block.
    pub(super) fn inconsistent(query: LinkQuery, candidate: EntityId) -> Self {
        let LinkQuery { side, relation, anchor } = query;
        Self::Inconsistent { side, relation: relation.number(), anchor: anchor.0, candidate: candidate.0 }
    }
}
