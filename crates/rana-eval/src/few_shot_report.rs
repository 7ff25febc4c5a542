//! [`FewShotReport`]: what the ranks of many tasks say together.

use rana_embed::link_prediction::{Metrics, Rank, TieRule};
use rana_graph::Split;
use serde::{Deserialize, Serialize};

/// How well a model completes the tasks of a split.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FewShotReport {
    /// The split.
    pub split: Split,
    /// Support pairs per task.
    pub shots: usize,
    /// How ties were decided.
    pub tie_rule: TieRule,
    /// Over all queries, as published results are.
    pub micro: Metrics,
    /// Over tasks, each counting the same.
    #[serde(rename = "macro")]
    pub macro_average: MacroMetrics,
    /// Each task, in the order of the file.
    pub tasks: Vec<TaskReport>,
}

/// Means over tasks. All are zero if there are no tasks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MacroMetrics {
    /// How many tasks were averaged.
    pub tasks: usize,
    /// The mean reciprocal rank.
    pub mrr: f64,
    /// The share of ranks up to 1.
    #[serde(rename = "hits1")]
    pub hits_at_1: f64,
    /// The share of ranks up to 5.
    #[serde(rename = "hits5")]
    pub hits_at_5: f64,
    /// The share of ranks up to 10.
    #[serde(rename = "hits10")]
    pub hits_at_10: f64,
}

/// How well a model completes one task.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TaskReport {
    /// The relation.
    pub relation: String,
    /// How many candidates its queries are ranked among, known tails included.
    pub candidates: usize,
    /// Over its queries.
    #[serde(flatten)]
    pub metrics: Metrics,
}

impl FewShotReport {
    pub(crate) fn new(
        split: Split,
        shots: usize,
        tie_rule: TieRule,
        tasks: &[(String, usize, Vec<Rank>)],
    ) -> Self {
        let micro = Metrics::of(tasks.iter().flat_map(|(.., ranks)| ranks).copied(), tie_rule);
        let tasks: Vec<TaskReport> = tasks
            .iter()
            .map(|(relation, candidates, ranks)| TaskReport {
                relation: relation.clone(),
                candidates: *candidates,
                metrics: Metrics::of(ranks.iter().copied(), tie_rule),
            })
            .collect();
        let by_task: Vec<Metrics> = tasks.iter().map(|task| task.metrics).collect();
        let macro_average = MacroMetrics::of(&by_task);
        Self { split, shots, tie_rule, micro, macro_average, tasks }
    }
}

impl MacroMetrics {
    pub(crate) fn of(tasks: &[Metrics]) -> Self {
        let mean = |of: fn(&Metrics) -> f64| tasks.iter().map(of).sum::<f64>() / tasks.len().max(1) as f64;
        Self {
            tasks: tasks.len(),
            mrr: mean(|metrics| metrics.mrr),
            hits_at_1: mean(|metrics| metrics.hits_at_1),
            hits_at_5: mean(|metrics| metrics.hits_at_5),
            hits_at_10: mean(|metrics| metrics.hits_at_10),
        }
    }
}
