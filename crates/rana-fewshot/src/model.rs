//! [`FewShotModel`]: what turns a support set into scores.

use rana_graph::{EntityId, Pair};

/// Something that learns a relation from a few of its pairs.
pub trait FewShotModel: Sync {
    /// Turns the support of a relation into something that scores its tails.
    fn adapt(&self, support: &[Pair]) -> Box<dyn AdaptedRelation + '_>;
}

/// A relation as a model sees it after its support; higher scores are better.
pub trait AdaptedRelation: Sync {
    /// Scores each candidate as the tail of each head, into `out[head * candidates.len() + candidate]`.
    ///
    /// A score must depend on its head and its candidate only, to the last bit, and not on what else
    /// is scored beside them.
    fn scores(&self, heads: &[EntityId], candidates: &[EntityId], out: &mut [f32]);
}
