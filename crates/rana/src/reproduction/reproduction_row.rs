//! [`ReproductionRow`]: one row of a reproduction: our numbers and the published ones.

use rana_eval::{Averages, Spread};
use serde::Serialize;

use super::published::Published;
use super::seed_result::SeedResult;

/// A row of a table, or a point of a figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReproductionRow {
    /// Its name in files.
    pub key: String,
    /// Its name in tables.
    pub label: String,
    /// The kind of row.
    pub kind: RowKind,
    /// Where it is on the axis of a figure.
    pub x: Option<f64>,
    /// The preset and what is changed in it, for models that are trained by steps.
    pub preset: Option<String>,
    /// The changes to the preset, as `KEY=VALUE`.
    pub changes: Vec<String>,
    /// What it is trained on: the data mode of a model that is trained by steps, or the facts of vectors.
    pub data: Option<String>,
    /// The results; `None` if the model is no preset here, or all seeds failed.
    pub ours: Option<Ours>,
    /// Seeds that failed, and why.
    pub failures: Vec<String>,
    /// The published numbers.
    pub published: Option<Published>,
}

/// The kind of row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RowKind {
    /// A model that is trained by steps.
    Trained,
    /// A trained model and the evidence in the graph.
    Fused,
    /// Vectors by their own score.
    Vectors,
    /// Nothing is learned.
    TrainingFree,
    /// A model without a preset for the benchmark.
    NoPreset,
}

/// The results of a row.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ours {
    /// On the test tasks, official support, over all queries; over the seeds.
    pub test: Averages<Spread>,
    /// The mean over tasks of the same MRR, over the seeds.
    pub macro_mrr: Spread,
    /// The MRR on the dev tasks, over the seeds.
    pub dev_mrr: Spread,
    /// The MRR on resampled supports: the mean over seeds and draws, and how far a single draw is from the
    /// mean of its seed (root mean square over the seeds).
    pub resampled_mrr: Option<Spread>,
    /// The MRR on the queries that all numbers of shots share, official support, over the seeds.
    pub common_mrr: Option<Spread>,
    /// The seconds of one seed, over the seeds.
    pub seconds: Spread,
    /// The most numbers that a seed learned, if all of them say.
    pub learned: Option<usize>,
    /// The most memory that a seed needed, in bytes, if all of them say.
    pub peak_memory: Option<u64>,
    /// How many seeds that is; one for what has none.
    pub runs: usize,
    /// Each seed by itself.
    pub per_seed: Vec<SeedResult>,
}

impl Ours {
    /// The results of some seeds together; none without seeds.
    pub(super) fn of(per_seed: Vec<SeedResult>) -> Option<Self> {
        if per_seed.is_empty() {
            return None;
        }
        let spread = |of: fn(&SeedResult) -> f64| Spread::of(per_seed.iter().map(of));
        let resampled: Option<Vec<Spread>> = per_seed.iter().map(|seed| seed.resampled_mrr).collect();
        let common: Option<Vec<f64>> = per_seed.iter().map(|seed| seed.common_mrr).collect();
        let learned: Option<Vec<usize>> = per_seed.iter().map(|seed| seed.learned).collect();
        let peaks: Option<Vec<u64>> = per_seed.iter().map(|seed| seed.peak_memory).collect();
        let tests: Vec<Averages> = per_seed.iter().map(|seed| seed.test).collect();
        Some(Self {
            test: Averages::of(&tests),
            macro_mrr: spread(|seed| seed.macro_mrr),
            dev_mrr: spread(|seed| seed.dev_mrr),
            resampled_mrr: resampled.map(|spreads| Spread {
                mean: spreads.iter().map(|of| of.mean).sum::<f64>() / spreads.len() as f64,
                sd: (spreads.iter().map(|of| of.sd * of.sd).sum::<f64>() / spreads.len() as f64).sqrt(),
            }),
            common_mrr: common.map(|values| Spread::of(values.into_iter())),
            seconds: spread(|seed| seed.seconds),
            learned: learned.and_then(|of| of.into_iter().max()),
            peak_memory: peaks.and_then(|of| of.into_iter().max()),
            runs: per_seed.len(),
            per_seed,
        })
    }
}

impl Ours {
    /// The MRR on each resampled support, on average over the seeds; nothing unless all seeds have it.
    pub(super) fn draw_mrrs(&self) -> Vec<f64> {
        let draws = self.per_seed.iter().map(|seed| seed.draw_mrrs.len()).min().unwrap_or(0);
        let mean = |draw: usize| {
            self.per_seed.iter().map(|seed| seed.draw_mrrs[draw]).sum::<f64>() / self.runs as f64
        };
        (0..draws).map(mean).collect()
    }
}

impl ReproductionRow {
    /// Its name in tables, and the number of its seeds if some failed.
    pub(super) fn full_label(&self) -> String {
        match &self.ours {
            Some(ours) if !self.failures.is_empty() => {
                let seeds = ours.runs + self.failures.len();
                format!("{} ({} of {seeds} seeds)", self.label, ours.runs)
            }
            _ => self.label.clone(),
        }
    }

    /// Why we have no number, if we have none.
    pub(super) fn absence(&self) -> &'static str {
        match (self.kind, self.failures.is_empty()) {
            (_, false) => "failed",
            (RowKind::NoPreset, true) => "no preset here",
            _ => "–",
        }
    }
}
