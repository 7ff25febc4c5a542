//! Which relations may hold between two entities: the question `(head, ?, tail)`.
//!
//! Every relation of the graph is considered, and new ones that are given by pairs. [`Predictor::relate`] ranks them by
//! signs that can be compared across relations; what these are worth is learned on relations that were left out
//! ([`RelationConfidence`](rana_eval::confidence::RelationConfidence)).
//!
//! | file | concept |
//! | --- | --- |
//! | `relating.rs` | [`Predictor::relate`]: the question and its answers |
//! | `considered_relation.rs` | one relation, with what its ends look like and how it is scored |
//! | `relation_scorers.rs` | all relations, and the signs of each for a pair |
//! | `end_profile.rs` | what heads or tails of a relation look like |
//!
//! [`Predictor::relate`]: crate::Predictor::relate

mod considered_relation;
mod end_profile;
mod relating;
mod relation_scorers;

pub(crate) use considered_relation::ConsideredRelation;
pub use relating::{NewRelation, RelateRequest, RelatedBy};
pub(crate) use relation_scorers::{RelationScorers, evenly};
