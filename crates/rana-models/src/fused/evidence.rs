//! [`Evidence`]: one thing that speaks for a tail, with a value and a reason.

use rana_fewshot::AdaptedRelation;
use rana_graph::EntityId;

use super::evidence_kind::EvidenceKind;
use super::reason::Reason;

rana_graph::named!(EvidenceKind, "evidence", {
    Translation => "translation",
    MeanTranslation => "mean-translation",
    Product => "product",
    Rule => "rule",
    Edge => "edge",
    Path => "path",
    Copy => "copy",
    Analogy => "analogy",
    Signature => "signature",
    Type => "type",
    Popularity => "popularity",
    Name => "name",
});

/// What a source says of a relation, once it has seen its support.
pub struct Evidence {
    /// Which source it is.
    pub kind: EvidenceKind,
    /// What it says.
    pub values: Values,
    /// Why, for a head, a tail and their value; none where it says nothing.
    pub reason: Box<dyn Fn(EntityId, EntityId, f32) -> Option<Reason> + Send + Sync>,
}

/// The values of a source, by what they depend on.
pub enum Values {
    /// On the tail alone.
    Tails(Box<dyn Fn(EntityId) -> f32 + Send + Sync>),
    /// On the pair, and they are zero but for a few tails of each head, which are handed over once each.
    Few(Box<FewValues>),
    /// On the pair.
    Pairs(Box<dyn AdaptedRelation>),
}

impl Values {
    /// The values of some tails of a head.
    #[must_use]
    pub fn of(&self, head: EntityId, tails: &[EntityId]) -> Vec<f32> {
        let mut found = vec![0.0; tails.len()];
        match self {
            Self::Tails(value) => found.iter_mut().zip(tails).for_each(|(out, &tail)| *out = value(tail)),
            Self::Few(values) => values(head, &mut |other, value| {
                for (out, _) in found.iter_mut().zip(tails).filter(|(_, tail)| **tail == other) {
                    *out = value;
                }
            }),
            Self::Pairs(relation) => relation.scores(&[head], tails, &mut found),
        }
        found
    }
}

/// Hands over the tails of a head that have a value, and the value.
pub type FewValues = dyn Fn(EntityId, &mut dyn FnMut(EntityId, f32)) + Send + Sync;
