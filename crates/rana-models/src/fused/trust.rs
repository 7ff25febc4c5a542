//! [`Trust`]: how much each source counts for a relation, learned across relations.

use serde::{Deserialize, Serialize};

use super::evidence_kind::EvidenceKind;
use super::support_record::SupportRecord;

/// What the weight of a source is made of: a constant, its record on the support in ranks and in deviations, and how
/// small the support is.
pub(super) const TERMS: usize = 4;

/// How much a source counts: `constant + record · ℓ + scarcity / K + separation · δ`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Trust {
    /// Always.
    pub constant: f32,
    /// For its leave-one-out score ℓ: how well it finds each pair of the support by the others.
    pub record: f32,
    /// If the support has only one pair; with K pairs, a K-th of it.
    pub scarcity: f32,
    /// For each standard deviation δ by which it tells a pair of the support from its rivals.
    #[serde(default)]
    pub separation: f32,
}

impl Trust {
    pub(super) fn of_terms(terms: &[f64]) -> Self {
        let [constant, record, scarcity, separation] = [0, 1, 2, 3].map(|at| terms[at] as f32);
        Self { constant, record, scarcity, separation }
    }

    /// How much a source with this record counts for a support of `shots` pairs.
    fn weight(&self, record: &SupportRecord, shots: usize) -> f32 {
        let terms = terms(record, shots);
        let sum = self.constant * terms[0]
            + self.record * terms[1]
            + self.scarcity * terms[2]
            + self.separation * terms[3];
        sum / record.spread
    }
}

/// What the numbers of a [`Trust`] are multiplied by.
pub(super) fn terms(record: &SupportRecord, shots: usize) -> [f32; TERMS] {
    [1.0, record.reciprocal_rank, 1.0 / shots as f32, record.separation]
}

/// A source and how much it is trusted.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrustedSource {
    /// The source.
    pub evidence: EvidenceKind,
    /// How much it counts.
    #[serde(flatten)]
    pub trust: Trust,
    /// Whether a negative weight counts as none: what an answer has in common with the examples cannot speak against it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub never_against: bool,
}

impl TrustedSource {
    /// How much it counts with this record for a support of `shots` pairs.
    pub(super) fn weight(&self, record: &SupportRecord, shots: usize) -> f32 {
        let weight = self.trust.weight(record, shots);
        if self.never_against { weight.max(0.0) } else { weight }
    }
}
