//! [`Predictor`]: completes a relation from a few pairs of it, with how sure each answer is and why.
//!
//! `run → Predictor → LearnedRelation → answers`. A relation may be one that no training has seen, or that
//! the graph has no name for.

mod answer_limits;
mod by_name;
mod error;
mod explanation;
mod learned_relation;
mod name_lookup;
mod named_entity;
mod namesakes;
mod plausible_heads;
#[allow(clippy::module_inception)]
mod predictor;
mod relation_request;
#[cfg(test)]
mod tests;

pub use answer_limits::AnswerLimits;
pub use by_name::NamedAnswer;
pub use error::{PrecisionError, PredictorError};
pub use explanation::{AttentionEdge, Explanation, Resembled, SharedPath, SourceShare, Step};
pub use learned_relation::{Answer, LearnedRelation};
pub use name_lookup::{UnknownRelation, relation};
pub use named_entity::NamedEntity;
pub use namesakes::distinctions;
pub use predictor::Predictor;
pub use relation_request::{CandidateChoice, RelationRequest};
