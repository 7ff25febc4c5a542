//! [`TrainerConfig`]: the settings of training that every model shares.
//!
//! Points that start with D are those of `docs/open-points.md`, where the paper of RANA is silent. The defaults are
//! RANA's; the presets of other models say theirs.

use std::fmt;

use rana_fewshot::{CandidateConfig, DataMode, Fold, Sampling};
use serde::{Deserialize, Serialize};

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
    /// The number of first steps in which it rises linearly from nothing; none if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warmup_steps: Option<u64>,
    /// The share of itself to which it falls linearly. The paper is silent (D29); constant in public code.
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
    /// The share of network weights that decays per step, times the learning rate. The paper is silent.
    pub weight_decay: f32,
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
            steps: 100_000,
            eval_every: 1000,
            patience: 10,
            seed: 0,
        }
    }
}

/// A field of a configuration that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field} is {value}; it must be {expected}")]
pub struct ConfigError {
    /// The field, as files name it.
    pub field: &'static str,
    /// Its value.
    pub value: String,
    /// The values it may have.
    pub expected: &'static str,
}

/// Fails with the field unless a condition holds.
///
/// # Errors
/// If it does not hold.
pub fn require(
    holds: bool,
    field: &'static str,
    value: impl fmt::Display,
    expected: &'static str,
) -> Result<(), ConfigError> {
    if holds { Ok(()) } else { Err(ConfigError { field, value: value.to_string(), expected }) }
}

/// The usual checks of a field.
pub(crate) struct FieldChecks;

impl FieldChecks {
    /// A count between `least` (0 or 1) and 2²⁰.
    pub(crate) fn count(field: &'static str, value: usize, least: usize) -> Result<(), ConfigError> {
        let expected = if least == 0 { "at most 1048576" } else { "between 1 and 1048576" };
        require((least..=1 << 20).contains(&value), field, value, expected)
    }

    pub(crate) fn positive(field: &'static str, value: f32) -> Result<(), ConfigError> {
        require(value > 0.0 && value.is_finite(), field, value, "a finite number above 0")
    }

    pub(crate) fn at_least_zero(field: &'static str, value: f32) -> Result<(), ConfigError> {
        require(value >= 0.0 && value.is_finite(), field, value, "a finite number of at least 0")
    }

    pub(crate) fn finite(field: &'static str, value: f32) -> Result<(), ConfigError> {
        require(value.is_finite(), field, value, "a finite number")
    }

    /// A share that may be nothing but not all.
    pub(crate) fn share(field: &'static str, value: f32) -> Result<(), ConfigError> {
        require((0.0..1.0).contains(&value), field, value, "at least 0 and below 1")
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

    /// The learning rate of the weights at a step, counted from 0.
    #[must_use]
    pub fn learning_rate_at(&self, step: u64) -> f32 {
        self.learning_rate * self.decay_at(step)
    }

    /// The learning rate of table rows at a step, counted from 0.
    #[must_use]
    pub fn entity_learning_rate_at(&self, step: u64) -> f32 {
        self.entity_learning_rate.unwrap_or(self.learning_rate) * self.decay_at(step)
    }

    fn decay_at(&self, step: u64) -> f32 {
        let warmup = self.warmup_steps.unwrap_or(0);
        if step < warmup {
            return ((step + 1) as f64 / warmup as f64) as f32;
        }
        let done = (step - warmup) as f64 / self.steps.saturating_sub(warmup).max(1) as f64;
        (1.0 - done * f64::from(1.0 - self.final_learning_rate)) as f32
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
        ];
        for (config, field) in bad {
            assert_eq!(config.check().unwrap_err().field, field);
        }
    }

    #[test]
    fn the_learning_rate_falls_linearly() {
        let config = TrainerConfig { final_learning_rate: 0.5, steps: 10, ..TrainerConfig::default() };
        assert_eq!(config.learning_rate_at(0), 0.01);
        assert_eq!(config.learning_rate_at(5), 0.0075);
        // It rises first if asked to, and then falls over what is left.
        let config = TrainerConfig { warmup_steps: Some(4), steps: 14, ..config };
        assert_eq!([0, 1, 3].map(|step| config.learning_rate_at(step)), [0.0025, 0.005, 0.01]);
        assert_eq!([4, 9].map(|step| config.learning_rate_at(step)), [0.01, 0.0075]);
        // A training that is shorter than that only rises.
        let config = TrainerConfig { steps: 2, ..config };
        assert_eq!([0, 1].map(|step| config.learning_rate_at(step)), [0.0025, 0.005]);
    }
}
