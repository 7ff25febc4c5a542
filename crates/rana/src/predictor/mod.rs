//! [`Predictor`]: completes a relation from a few pairs of it, with how sure each answer is and why.
//!
//! `run → Opened → Predictor → LearnedRelation → answers`. A relation may be one that no training has seen, or that
//! the graph has no name for.

mod calibration;
mod entity_ref;
mod error;
mod explanation;
mod learned;
mod opened;
mod paths;
mod plausible;
mod request;

pub use calibration::rana_calibration;
pub use entity_ref::EntityRef;
pub use error::PredictorError;
pub use explanation::{AttentionEdge, Explanation, Resembled, SharedPath, SourceShare, Step};
pub use learned::{Answer, LearnedRelation};
pub use opened::{Opened, Predictor};
pub use request::{AnswerLimits, CandidateChoice, RelationRequest};
