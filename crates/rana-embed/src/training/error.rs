//! [`TrainError`]: why a training cannot start, or fails.

use rana_graph::Fact;

use crate::config_error::ConfigError;
use crate::link_prediction::LinkPredictionError;

/// Why a training cannot start, or fails.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TrainError {
    /// The settings cannot be used.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// There are no facts.
    #[error("there are no facts to train on")]
    NoFacts,
    /// A fact does not belong to the graph.
    #[error(
        "fact ({}, {}, {}) is out of range: there are {entities} entities and {relations} relations, \
         and facts name relations forwards",
        fact.head.0, fact.relation.0, fact.tail.0
    )]
    FactOutOfRange {
        /// The fact.
        fact: Fact,
        /// How many entities there are.
        entities: usize,
        /// How many relations there are.
        relations: usize,
    },
    /// Rows are to be held fixed where threads update rows in place.
    #[error("rows can only be held fixed with deterministic updates")]
    FixedRowsInPlace,
    /// Rows that are to be held fixed have another width than those of the training.
    #[error("fixed {what} rows have {found} numbers where those of the training have {expected}")]
    FixedRowWidth {
        /// Rows of entities or of relations.
        what: &'static str,
        /// The width that they have.
        found: usize,
        /// The width that they should have.
        expected: usize,
    },
    /// A checkpoint was made from other facts, or with other fixed rows.
    #[error(
        "the checkpoint was made from other facts or with other fixed rows; train from the start, or give those it was made from"
    )]
    OtherFacts,
    /// The validation failed.
    #[error(transparent)]
    Validation(#[from] LinkPredictionError),
    /// The loss is not finite.
    #[error("the loss is not finite in epoch {epoch}; lower learning_rate")]
    Diverged {
        /// The epoch, counted from 1.
        epoch: u32,
    },
}
