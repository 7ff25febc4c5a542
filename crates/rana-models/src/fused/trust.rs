//! [`Trust`]: how much each source counts for a relation, learned across relations.

use serde::{Deserialize, Serialize};

use super::evidence::EvidenceKind;

/// What the weight of a source is made of: a constant, its leave-one-out score, and how small the support is.
pub(super) const TERMS: usize = 3;

/// How much a source counts: `constant + record · ℓ + scarcity / K`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Trust {
    /// Always.
    pub constant: f32,
    /// For its leave-one-out score ℓ: how well it finds each pair of the support by the others.
    pub record: f32,
    /// If the support has only one pair; with K pairs, a K-th of it.
    pub scarcity: f32,
}

impl Trust {
    pub(super) fn of_terms(terms: &[f64]) -> Self {
        Self { constant: terms[0] as f32, record: terms[1] as f32, scarcity: terms[2] as f32 }
    }

    /// How much a source with the leave-one-out score `record` counts for a support of `shots` pairs.
    #[must_use]
    pub fn weight(&self, record: f32, shots: usize) -> f32 {
        let terms = terms(record, shots);
        self.constant * terms[0] + self.record * terms[1] + self.scarcity * terms[2]
    }
}

/// What the numbers of a [`Trust`] are multiplied by.
pub(super) fn terms(record: f32, shots: usize) -> [f32; TERMS] {
    [1.0, record, 1.0 / shots as f32]
}

/// A source and how much it is trusted.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrustedSource {
    /// The source.
    pub evidence: EvidenceKind,
    /// How much it counts.
    #[serde(flatten)]
    pub trust: Trust,
}
