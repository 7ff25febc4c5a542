//! [`Predictor`]: completes a relation from a few pairs of it, with how sure each answer is and why.
//!
//! `run → Predictor → LearnedRelation → answers`. A relation may be one that no training has seen, or that
//! the graph has no name for.
//!
//! | file | concept |
//! | --- | --- |
//! | `predictor.rs`, `error.rs` | a run made ready to complete relations, and why it cannot |
//! | `relation_request.rs`, `answer_limits.rs` | what is known of a relation, and which answers are wanted |
//! | `learned_relation.rs`, `plausible_heads.rs` | a relation after its support, its answers, and the heads to ask for |
//! | `many_heads.rs` | many heads at once |
//! | `explanation.rs` | what speaks for an answer, and what against it |
//! | `by_name.rs`, `name_lookup.rs` | completing by names, and what a name stands for |
//! | `named_entity.rs`, `namesakes.rs` | entities as they are shown, and what tells namesakes apart |

mod answer_limits;
mod by_name;
mod error;
mod explanation;
mod learned_relation;
mod many_heads;
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
pub(crate) use explanation::WORTH_SAYING;
pub use explanation::{AttentionEdge, Explanation, Resembled, SharedPath, SourceShare, Step};
pub use learned_relation::{Answer, LearnedRelation};
pub use many_heads::for_each_head;
pub use name_lookup::{UnknownRelation, relation};
pub use named_entity::NamedEntity;
pub use namesakes::distinctions;
pub use predictor::Predictor;
pub use rana_fewshot::Direction;
pub use relation_request::{CandidateChoice, RelationRequest};
