//! [`FewShotModel`]: what turns a support set into scores.

use rana_graph::{EntityId, Pair};

/// All that a model is told of a relation.
#[derive(Clone, Copy, Debug)]
pub struct Support<'a> {
    /// Pairs that it holds for.
    pub pairs: &'a [Pair],
    /// The entities its tails are among; where a model needs negatives, it draws them from here.
    pub candidates: &'a [EntityId],
    /// Chooses what is drawn: the same support and the same seed give the same scores.
    pub seed: u64,
}

/// Something that learns a relation from a few of its pairs.
pub trait FewShotModel: Sync {
    /// Turns the support of a relation into something that scores its tails.
    fn adapt(&self, support: &Support<'_>) -> Box<dyn AdaptedRelation + '_>;
}

/// A relation as a model sees it after its support; higher scores are better.
pub trait AdaptedRelation: Sync {
    /// Scores each candidate as the tail of each head, into `out[head * candidates.len() + candidate]`.
    ///
    /// A score must depend on its head and its candidate only, to the last bit, and not on what else
    /// is scored beside them.
    fn scores(&self, heads: &[EntityId], candidates: &[EntityId], out: &mut [f32]);
}
