//! [`RanaDiagnostics`]: numbers that describe a training step.

use crate::real::{Real, dot};
use crate::training::Diagnostics;

/// A negative whose loss is flatter than this in its distance no longer teaches anything.
const FLAT: f64 = 1e-4;

/// Numbers that describe the tasks of a batch, on average.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct RanaDiagnostics {
    /// The mean distance of true queries.
    positive_distance: f64,
    /// The mean distance of their negatives.
    negative_distance: f64,
    /// The mean norm of the relation before the inner step (R^s).
    support_relation_norm: f64,
    /// The mean norm of the relation after it (R^q).
    query_relation_norm: f64,
    /// The mean entropy of α over the neighbours of support entities, as a share of its most.
    alpha_entropy: f64,
    /// The mean entropy of β over negatives, as a share of its most.
    beta_entropy: f64,
    /// The share of negatives whose loss hardly depends on their distance any more (slope below 10⁻⁴).
    flat_negatives: f64,
}

/// Sums over the queries of one task.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TaskDiagnostics {
    queries: f64,
    negatives: f64,
    positive_distance: f64,
    negative_distance: f64,
    support_norm: f64,
    query_norm: f64,
    beta_entropy: f64,
    flat_negatives: f64,
}

impl TaskDiagnostics {
    #[inline(always)]
    pub(super) fn add_relation<T: Real>(&mut self, support: &[T], query: &[T]) {
        self.support_norm += dot(support, support).wide().sqrt();
        self.query_norm += dot(query, query).wide().sqrt();
    }

    /// Adds a contrast: its pair first in every slice, then its negatives.
    #[inline(always)]
    pub(super) fn add_contrast<T: Real>(&mut self, distances: &[T], weights: &[T], slopes: &[T]) {
        self.queries += 1.0;
        self.positive_distance += distances[0].wide();
        self.negatives += (distances.len() - 1) as f64;
        for at in 1..distances.len() {
            self.negative_distance += distances[at].wide();
            let slope = slopes[at].wide() / weights[at].wide().max(f64::MIN_POSITIVE);
            self.flat_negatives += f64::from(u8::from(slope.abs() < FLAT));
        }
        self.beta_entropy += relative_entropy(&weights[1..]);
    }
}

/// The entropy of weights as a share of that of equal ones; one if there is no choice.
#[inline(always)]
pub(super) fn relative_entropy<T: Real>(weights: &[T]) -> f64 {
    let total: f64 = weights.iter().map(|weight| weight.wide()).sum();
    let used = weights.iter().filter(|weight| weight.wide() > 0.0).count();
    if used < 2 {
        return 1.0;
    }
    let entropy: f64 = weights
        .iter()
        .map(|weight| weight.wide() / total)
        .filter(|&share| share > 0.0)
        .map(|share| -share * share.ln())
        .sum();
    entropy / (weights.len() as f64).ln()
}

impl RanaDiagnostics {
    /// The same by name, in the order of the log.
    pub(super) fn named(&self) -> Diagnostics {
        vec![
            ("positive_distance", self.positive_distance),
            ("negative_distance", self.negative_distance),
            ("support_relation_norm", self.support_relation_norm),
            ("query_relation_norm", self.query_relation_norm),
            ("alpha_entropy", self.alpha_entropy),
            ("beta_entropy", self.beta_entropy),
            ("flat_negatives", self.flat_negatives),
        ]
    }

    /// The means over tasks, in their order.
    pub(super) fn of<'a>(tasks: impl Iterator<Item = &'a TaskDiagnostics>, alpha_entropy: f64) -> Self {
        let (mut sum, mut count) = (TaskDiagnostics::default(), 0.0);
        for task in tasks {
            count += 1.0;
            sum.queries += task.queries;
            sum.negatives += task.negatives;
            sum.positive_distance += task.positive_distance;
            sum.negative_distance += task.negative_distance;
            sum.support_norm += task.support_norm;
            sum.query_norm += task.query_norm;
            sum.beta_entropy += task.beta_entropy;
            sum.flat_negatives += task.flat_negatives;
        }
        let mean = |sum: f64, count: f64| if count > 0.0 { sum / count } else { 0.0 };
        Self {
            positive_distance: mean(sum.positive_distance, sum.queries),
            negative_distance: mean(sum.negative_distance, sum.negatives),
            support_relation_norm: mean(sum.support_norm, count),
            query_relation_norm: mean(sum.query_norm, count),
            alpha_entropy,
            beta_entropy: mean(sum.beta_entropy, sum.queries),
            flat_negatives: mean(sum.flat_negatives, sum.negatives),
        }
    }
}
