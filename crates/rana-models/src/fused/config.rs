//! [`FusedConfig`]: how evidence is gathered and its trust learned.

use rana_graph::{Graph, TaskSet};
use serde::{Deserialize, Serialize};

use super::evidence_kind::EvidenceKind;
use super::rank_fit::RankFit;
use super::trust::TERMS;
use crate::paths::EdgeIndex;

/// The settings of `rana-fused`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FusedConfig {
    /// The sources of evidence; one that the graph has no data for is left out.
    pub evidence: Vec<EvidenceKind>,
    /// Whether the facts of the train tasks are edges of the graph, also where dev and test tasks are asked for.
    pub train_task_edges: bool,
    /// Into how many parts the train tasks are cut: the examples of a part are gathered with a model and vectors that
    /// were trained without its tasks.
    pub folds: usize,
    /// The sizes of support that are learned from.
    pub shots: Vec<usize>,
    /// Random supports of each task and size.
    pub draws: usize,
    /// Queries of each support.
    pub queries: usize,
    /// The most candidates of a query that no edge, path or name speaks for: of more, so many are drawn, and each counts
    /// for several.
    pub candidates: usize,
    /// Whether the values of vectors are divided by their deviation among the rivals of the support, so that they mean
    /// the same for all relations, and trust may depend on how far the pairs of the support stand out.
    pub scale_by_support: bool,
    /// What is believed of the sources before any example is seen counts as much as so many tasks; 0 for nothing.
    pub prior_tasks: f64,
    /// The least price of trust: large weights need many examples.
    pub ridge: f64,
    /// How many times more it costs to trust a source for its leave-one-out score on a support, which is mostly luck where
    /// there are few pairs.
    pub record_price: f64,
    /// The same for the separation of the support, which is less a matter of luck.
    pub separation_price: f64,
    /// What it costs if a source that compares with the support counts against answers: half the square of its weight,
    /// times this. 0 allows it.
    pub against_price: f64,
    /// After the likelihood, trust is fitted to ranks in which rivals with scores this close count in part; 0 leaves it
    /// to the likelihood.
    pub softness: f64,
    /// What it costs to leave the maximum of the likelihood for better ranks.
    pub pull: f64,
    /// Chooses supports, queries and candidates.
    pub seed: u64,
}

impl Default for FusedConfig {
    /// The settings that the published benchmarks were measured with (`docs/fused.md`).
    fn default() -> Self {
        let is_newer = |kind: &EvidenceKind| {
            matches!(kind, EvidenceKind::MeanTranslation | EvidenceKind::Popularity | EvidenceKind::Analogy)
        };
        Self {
            evidence: EvidenceKind::ALL.iter().copied().filter(|kind| !is_newer(kind)).collect(),
            train_task_edges: true,
            folds: 5,
            shots: vec![1, 3, 5],
            draws: 4,
            queries: 10,
            candidates: 1000,
            scale_by_support: false,
            prior_tasks: 0.0,
            ridge: 1e-3,
            record_price: 25.0,
            separation_price: 1.0,
            against_price: 0.0,
            softness: 0.1,
            pull: 0.01,
            seed: 0,
        }
    }
}

/// A setting that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {message}")]
pub struct FusedConfigError {
    /// The setting.
    pub field: &'static str,
    /// What is wrong with it, and what would be right.
    pub message: String,
}

impl FusedConfig {
    /// Checks every setting.
    ///
    /// # Errors
    /// If one cannot be used.
    pub fn check(&self) -> Result<(), FusedConfigError> {
        let wrong = |field, message: &str| Err(FusedConfigError { field, message: message.to_owned() });
        let mut kinds = self.evidence.clone();
        kinds.sort_unstable();
        kinds.dedup();
        if kinds.is_empty() {
            return wrong("evidence", "there must be at least one source");
        }
        if kinds.len() != self.evidence.len() {
            return wrong("evidence", "a source is named twice");
        }
        if self.folds < 2 {
            return wrong("folds", "there must be at least 2 parts");
        }
        if self.shots.is_empty() || self.shots.contains(&0) {
            return wrong("shots", "say how many pairs a support has, for instance [1, 3, 5]");
        }
        for (field, value) in
            [("draws", self.draws), ("queries", self.queries), ("candidates", self.candidates)]
        {
            if value == 0 {
                return wrong(field, "must be at least 1");
            }
        }
        if !(self.softness.is_finite() && self.softness >= 0.0) {
            return wrong("softness", "must be a positive number, or 0 for the likelihood alone");
        }
        if !(self.prior_tasks.is_finite() && self.prior_tasks >= 0.0) {
            return wrong("prior_tasks", "must be a positive number, or 0 for no prior");
        }
        if !(self.against_price.is_finite() && self.against_price >= 0.0) {
            return wrong("against_price", "must be a positive number, or 0 for no price");
        }
        for (field, value) in [
            ("ridge", self.ridge),
            ("record_price", self.record_price),
            ("separation_price", self.separation_price),
            ("pull", self.pull),
        ] {
            if !(value.is_finite() && value > 0.0) {
                return wrong(field, "must be a positive number");
            }
        }
        Ok(())
    }

    /// The edges that evidence may walk.
    #[must_use]
    pub fn edges(&self, graph: &Graph, tasks: &TaskSet) -> EdgeIndex {
        match self.train_task_edges {
            true => EdgeIndex::with_train_tasks(graph, tasks),
            false => EdgeIndex::background(graph),
        }
    }

    /// How trust is fitted to ranks.
    pub(super) fn rank_fit(&self) -> RankFit {
        RankFit { softness: self.softness, pull: self.pull }
    }

    /// The price of each term of a [`Trust`](super::Trust) that is learned from so many tasks.
    pub(super) fn price(&self, tasks: usize) -> [f64; TERMS] {
        let price = self.ridge.max(self.prior_tasks / tasks.max(1) as f64);
        [price, price * self.record_price, price, price * self.separation_price]
    }
}
