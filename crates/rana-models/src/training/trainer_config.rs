//! [`TrainerConfig`]: the settings of training that every model shares.
//!
//! Points that start with D are those of `docs/open-points.md`, where the paper of RANA is silent. The defaults are
//! RANA's; the presets of other models say theirs.

use rana_fewshot::{CandidateConfig, DataMode, Fold, Sampling, TaskDraw};
use serde::{Deserialize, Serialize};

use super::field_checks::{ConfigError, FieldChecks, require};
use crate::choices::choices;

choices!(
    /// How Adam treats rows that a step does not touch (D32).
    RowUpdates, "treatment of rows", {
        /// It leaves them alone.
        #[default]
        Sparse => "sparse",
        /// As if every row were updated at every step, as public code does: missed updates are replayed when a
        /// row is next needed.
        Replay => "replay",
    }
);

choices!(
    /// What lengths and learning rates are measured in.
    Lengths, "unit of lengths", {
        /// The unit of the vectors.
        #[default]
        Absolute => "absolute",
        /// The mean distance between the vectors of two entities, so that settings suit any vectors.
        Relative => "relative",
    }
);

impl Lengths {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// The settings of training that every model shares.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TrainerConfig {
    /// Pairs in a support.
    pub shots: usize,
    /// Queries per episode. The paper is silent (D26); 3 in all public code of this family.
    pub queries: usize,
    /// Episodes per step. The paper is silent (D25); 1024 in all public code of this family.
    pub batch: usize,
    /// How often each relation is drawn. The paper is silent (D38); uniform in all public code of this family.
    #[serde(skip_serializing_if = "TaskDraw::is_default")]
    pub task_draw: TaskDraw,
    /// How the pairs of an episode are drawn. The paper is silent (D27); public code lets support and
    /// query overlap.
    pub sampling: Sampling,
    /// The data mode (D31).
    pub data_mode: DataMode,
    /// Train without this part of the train tasks and choose the best model by it instead of dev:
    /// cross-validation, where dev is small.
    pub fold: Option<Fold>,
    /// How background relations get candidates, where the data mode makes tasks of them.
    pub candidates: CandidateConfig,
    /// What learning rates and the lengths of the model are measured in. A run is written with absolute ones.
    #[serde(skip_serializing_if = "Lengths::is_default")]
    pub lengths: Lengths,
    /// The size of Adam's steps (section 5: "the initial learning rate is 0.01").
    pub learning_rate: f32,
    /// Warm-up: the learning rate rises linearly from 0 over this many steps. Unset means no warm-up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warmup_steps: Option<u64>,
    /// The last learning rate, as a fraction of `learning_rate`; it falls linearly. The paper is silent (D29); constant in
    /// public code.
    pub final_learning_rate: f32,
    /// The learning rate of table rows, if not the same (D3).
    pub entity_learning_rate: Option<f32>,
    /// Adam's decay of the first moment. The paper is silent (D32); the usual value.
    pub adam_beta1: f32,
    /// Adam's decay of the second moment. As above.
    pub adam_beta2: f32,
    /// The epsilon of Adam's denominator. As above.
    pub adam_epsilon: f32,
    /// Rows that a step does not touch (D32).
    pub adam_rows: RowUpdates,
    /// Entity rows that learn are scaled back to this norm when they get longer. The paper is silent (D33);
    /// none in public code.
    pub max_norm: Option<f32>,
    /// Decoupled weight decay: each step subtracts learning rate × this × weight from every network weight. The paper
    /// is silent.
    pub weight_decay: f32,
    /// Evaluate, choose and keep the mean of the parameters over about this many steps instead of the last ones; training
    /// itself does not change. Unset means the last ones. The paper is silent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_steps: Option<u64>,
    /// The most steps. The paper is silent (D30).
    pub steps: u64,
    /// The number of steps between dev evaluations. The paper is silent (D30).
    pub eval_every: u64,
    /// Stop after this many evaluations without a new best MRR; 0 means never. The paper is silent (D30).
    pub patience: u64,
    /// The same seed gives the same bits with any number of threads.
    pub seed: u64,
}

impl Default for TrainerConfig {
    fn default() -> Self {
        Self {
            shots: 5,
            queries: 3,
            batch: 1024,
            task_draw: TaskDraw::default(),
            sampling: Sampling::default(),
            data_mode: DataMode::default(),
            fold: None,
            candidates: CandidateConfig::default(),
            lengths: Lengths::default(),
            learning_rate: 0.01,
            warmup_steps: None,
            final_learning_rate: 1.0,
            entity_learning_rate: None,
            adam_beta1: 0.9,
            adam_beta2: 0.999,
            adam_epsilon: 1e-8,
            adam_rows: RowUpdates::default(),
            max_norm: None,
            weight_decay: 0.0,
            mean_steps: None,
            steps: 100_000,
            eval_every: 1000,
            patience: 10,
            seed: 0,
        }
    }
}

impl TrainerConfig {
    /// The optional fields, each as a line of TOML that sets it.
    pub(crate) const OPTIONAL: &'static [(&'static str, &'static str)] = &[
        ("fold", "\"1/5\""),
        ("max_norm", "1.0"),
        ("entity_learning_rate", "0.01"),
        ("lengths", "\"relative\""),
        ("warmup_steps", "1000"),
        ("mean_steps", "2000"),
        ("task_draw", "\"square_root\""),
    ];

    /// Checks every field.
    ///
    /// # Errors
    /// At the first field that cannot be used.
    pub fn check(&self) -> Result<(), ConfigError> {
        use FieldChecks as Is;
        self.max_norm.map_or(Ok(()), |value| Is::positive("max_norm", value))?;
        Is::count("shots", self.shots, 1)?;
        Is::count("queries", self.queries, 1)?;
        Is::count("batch", self.batch, 1)?;
        Is::positive("learning_rate", self.learning_rate)?;
        let falls_to = self.final_learning_rate;
        require((0.0..=1.0).contains(&falls_to), "final_learning_rate", falls_to, "between 0 and 1")?;
        self.entity_learning_rate.map_or(Ok(()), |value| Is::positive("entity_learning_rate", value))?;
        Is::share("adam_beta1", self.adam_beta1)?;
        Is::share("adam_beta2", self.adam_beta2)?;
        Is::positive("adam_epsilon", self.adam_epsilon)?;
        Is::at_least_zero("weight_decay", self.weight_decay)?;
        require(self.mean_steps != Some(0), "mean_steps", 0, "at least 1, or left out")?;
        require(self.steps > 0, "steps", self.steps, "at least 1")?;
        require(self.eval_every > 0, "eval_every", self.eval_every, "at least 1")
    }

    /// The same with learning rates and lengths times a factor.
    pub(super) fn scaled(&self, factor: f32) -> Self {
        Self {
            learning_rate: factor * self.learning_rate,
            entity_learning_rate: self.entity_learning_rate.map(|rate| factor * rate),
            max_norm: self.max_norm.map(|norm| factor * norm),
            ..self.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_field_is_named() {
        let base = TrainerConfig::default();
        base.check().unwrap();
        let bad = [
            (TrainerConfig { shots: 0, ..base.clone() }, "shots"),
            (TrainerConfig { learning_rate: -1.0, ..base.clone() }, "learning_rate"),
            (TrainerConfig { adam_beta2: 1.0, ..base.clone() }, "adam_beta2"),
            (TrainerConfig { steps: 0, ..base.clone() }, "steps"),
            (TrainerConfig { max_norm: Some(0.0), ..base.clone() }, "max_norm"),
            (TrainerConfig { mean_steps: Some(0), ..base.clone() }, "mean_steps"),
        ];
        for (config, field) in bad {
            assert_eq!(config.check().unwrap_err().field, field);
        }
    }
}
