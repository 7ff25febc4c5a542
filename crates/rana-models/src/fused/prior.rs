//! [`prior`]: how far each source is trusted before any example is seen, and [`prior_strength`]: how hard it is to
//! change that.
//!
//! The numbers are means of what was learned on two graphs, WD50K and FB15k-237
//! (`docs/experiments/2026-11-18-learn.md`). A graph with many relations overrules them; a graph with few relations
//! stays near them, which is better than trusting a handful of examples.

use super::evidence_kind::EvidenceKind;
use super::trust::TERMS;

/// What a source is worth on a graph about which nothing is known: always, by its reciprocal rank on the support, by one
/// over the size of the support, and by the deviations that it tells pairs of the support by.
pub(super) fn prior(kind: EvidenceKind) -> [f64; TERMS] {
    match kind {
        // A model may be trained well or not: what it is worth is learned from examples only.
        EvidenceKind::Translation => [0.0, 0.0, 0.0, 0.0],
        EvidenceKind::MeanTranslation => [0.25, -0.2, 0.35, 0.12],
        EvidenceKind::Product => [0.9, 0.1, 0.25, -0.08],
        EvidenceKind::Rule => [6.0, 3.0, -4.0, -0.45],
        EvidenceKind::Edge => [3.4, 1.5, 0.5, -0.27],
        EvidenceKind::Path => [3.5, -5.5, -1.0, 1.0],
        EvidenceKind::Copy => [9.0, 37.0, -7.0, -6.0],
        EvidenceKind::Signature => [9.0, 4.0, -6.4, -0.8],
        EvidenceKind::Popularity => [-0.8, -4.0, 0.5, 0.8],
        // Those graphs have no types and no labels, and disagree about analogies; these three are guesses.
        EvidenceKind::Analogy => [5.0, 0.0, 0.0, 0.0],
        EvidenceKind::Type => [2.0, 0.0, 0.0, 0.0],
        EvidenceKind::Name => [2.0, 0.0, 0.0, 0.0],
    }
}

/// How many times more examples it takes to overrule the prior of a source whose values have this deviation.
///
/// A source that hardly ever speaks has a small deviation. What it said once or twice by accident must not count more
/// than the prior, so its price is that of a usual deviation.
pub(super) fn prior_strength(kind: EvidenceKind, deviation: f32) -> f64 {
    let usual = match kind {
        EvidenceKind::Translation | EvidenceKind::MeanTranslation | EvidenceKind::Product => 0.0,
        EvidenceKind::Copy | EvidenceKind::Analogy => 0.01,
        EvidenceKind::Rule | EvidenceKind::Path => 0.02,
        EvidenceKind::Edge => 0.03,
        EvidenceKind::Signature | EvidenceKind::Name => 0.1,
        EvidenceKind::Type => 0.3,
        EvidenceKind::Popularity => 1.0,
    };
    (usual / f64::from(deviation)).max(1.0).powi(2)
}
