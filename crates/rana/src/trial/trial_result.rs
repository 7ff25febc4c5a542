//! [`TrialResult`]: what a trial measured, as `result.json` keeps it.

use rana_eval::{CardResult, EvaluationCard, Official, RelationCard};
use serde::{Deserialize, Serialize};

use super::trial_identity::TrialIdentity;

/// What is measured of a trained model: dev always, test only on request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Measures {
    /// Whether the test tasks are evaluated.
    pub test: bool,
    /// Resampled supports of each test task: none, or at least 2.
    pub draws: usize,
    /// The largest number of shots that shares its queries.
    pub common_shots: usize,
}

impl Measures {
    /// Dev only, as for all choices.
    pub const DEV: Self = Self { test: false, draws: 0, common_shots: 0 };

    /// Whether these leave nothing to do for others: more is as good as what is asked for.
    #[must_use]
    pub fn cover(self, others: Self) -> bool {
        let draws_cover = others.draws == 0 || others.draws == self.draws;
        !others.test || self.test && draws_cover && others.common_shots == self.common_shots
    }
}

/// What a trial measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrialResult {
    /// What was tried.
    pub identity: TrialIdentity,
    /// What was to be measured.
    pub measures: Measures,
    /// How it went.
    pub outcome: TrialOutcome,
    /// How long it took.
    pub seconds: TrialSeconds,
    /// The most memory that the process had meanwhile, in bytes, where the system says. Of a trial that was resumed: since
    /// the last time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_memory: Option<u64>,
    /// The program that wrote it.
    pub written_by: String,
}

/// How a trial went.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TrialOutcome {
    /// It was trained and measured.
    Measured(Box<Measurement>),
    /// The settings cannot be trained with, for instance because the loss diverges.
    Failed {
        /// Why.
        reason: String,
    },
}

/// What was measured of a trained model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    /// The step of the best model.
    pub best_step: u64,
    /// The MRR it was chosen by: on dev, or on the train tasks that were left out of training.
    pub selection_mrr: f64,
    /// How many steps were done.
    pub steps: u64,
    /// How many numbers the best model has learned: weights and rows. Results of earlier versions do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub learned: Option<usize>,
    /// On the dev tasks, official support.
    pub dev: Official,
    /// On the test tasks, if they were asked for.
    pub test: Option<TestResult>,
}

/// What a card says about a model on the test tasks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TestResult {
    /// Over all tasks.
    #[serde(flatten)]
    pub result: CardResult,
    /// Every task; empty for rows beside a model.
    #[serde(default)]
    pub per_relation: Vec<RelationCard>,
}

/// How long a trial took, pauses left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TrialSeconds {
    /// Making the vectors, if this trial made them in one go.
    pub pretraining: Option<f64>,
    /// Meta-training.
    pub training: f64,
    /// Evaluation.
    pub evaluation: f64,
}

impl TrialSeconds {
    /// All of it.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.pretraining.unwrap_or_default() + self.training + self.evaluation
    }
}

impl TrialResult {
    /// What was measured, unless the trial failed.
    #[must_use]
    pub fn measurement(&self) -> Option<&Measurement> {
        match &self.outcome {
            TrialOutcome::Measured(measurement) => Some(measurement),
            TrialOutcome::Failed { .. } => None,
        }
    }
}

impl From<&CardResult> for TestResult {
    fn from(result: &CardResult) -> Self {
        Self { result: result.clone(), per_relation: Vec::new() }
    }
}

impl From<&EvaluationCard> for TestResult {
    /// What a card says of the model it is about.
    fn from(card: &EvaluationCard) -> Self {
        Self { result: card.result.clone(), per_relation: card.per_relation.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::Measures;

    #[test]
    fn what_was_measured_with_more_need_not_be_measured_with_less() {
        let official = Measures { test: true, draws: 0, common_shots: 8 };
        let resampled = Measures { draws: 20, ..official };
        for (measures, others, covered) in [
            (resampled, official, true),
            (official, resampled, false),
            (resampled, Measures { draws: 10, ..official }, false),
            (resampled, Measures { common_shots: 5, ..official }, false),
            (official, Measures::DEV, true),
            (Measures::DEV, official, false),
        ] {
            assert_eq!(measures.cover(others), covered, "{measures:?} {others:?}");
        }
    }
}
