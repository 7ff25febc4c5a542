//! [`FewShotModel`]: what turns a support set into scores.

use rana_graph::{EntityId, Pair};

use super::support::{Support, SupportError};
use crate::reasons::Reasons;

/// Something that learns a relation from a few of its pairs.
pub trait FewShotModel: Send + Sync {
    /// Turns the support of a relation into something that scores its tails, and that lives on its own.
    ///
    /// # Errors
    /// If the model was trained on supports, and this one is another. Models that learn from pairs
    /// never fail.
    fn adapt(&self, support: &Support<'_>) -> Result<Box<dyn AdaptedRelation>, SupportError>;
}

/// A relation as a model sees it after its support; higher scores are better.
pub trait AdaptedRelation: Send + Sync {
    /// Scores each candidate as the tail of each head, into `out[head * candidates.len() + candidate]`.
    ///
    /// A score must depend only on its head and its candidate, to the last bit, and not on the other heads and
    /// candidates.
    fn scores(&self, heads: &[EntityId], candidates: &[EntityId], out: &mut [f32]);

    /// The reasons for the score of a pair. `others` are tails that the pair is compared with.
    fn reasons(&self, _pair: Pair, _others: &[EntityId]) -> Reasons {
        Reasons::default()
    }

    /// The memory that it keeps for itself, in bytes, roughly. It may grow while pairs are scored.
    fn kept_bytes(&self) -> usize {
        0
    }
}
