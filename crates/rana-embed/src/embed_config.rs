//! [`EmbedConfig`]: all settings of a pre-training, checked once.

use serde::{Deserialize, Serialize};

use super::config_error::{ConfigError, at_least_one, positive};
use crate::loss::Loss;
use crate::model::{ModelKind, Norm};
use crate::negatives::Negatives;
use crate::optimiser::Optimiser;
use crate::regulariser::Regulariser;

/// How threads share the parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Updates {
    /// Batch by batch. The gradients of a batch are computed at the same parameters, summed per row in a fixed order,
    /// and applied once. The same seed gives the same bits with any number of threads.
    #[default]
    Deterministic,
    /// In place. Threads update rows after each gradient, without waiting for each other. In every epoch the entities
    /// are divided into buckets, and threads work on pairs of buckets that have no entity in common. Negatives are
    /// drawn from the bucket of the true answer. A relation row is the mean of the threads' copies of it.
    LockFree,
}

rana_graph::named!(Updates, "update mode", { Deterministic => "deterministic", LockFree => "lock-free" });

/// When to validate, and when to stop early.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Validation {
    /// Validate after this many epochs; 0 means never.
    pub every: u32,
    /// Stop after this many validations in a row without a new best; 0 means never.
    pub patience: u32,
    /// How many facts to validate on, drawn by the seed. They are valid facts of the graph if it has some, else
    /// background facts, which are then left out of training.
    pub facts: usize,
}

impl Default for Validation {
    /// Validates every ten epochs on 1,000 facts, and stops after three validations without a new best.
    fn default() -> Self {
        Self { every: 10, patience: 3, facts: 1000 }
    }
}

/// All settings of a pre-training, apart from the facts.
///
/// ```
/// use rana_embed::{EmbedConfig, ModelKind};
/// let config = EmbedConfig { model: ModelKind::Complex, dim: 101, ..EmbedConfig::default() };
/// assert!(config.check().unwrap_err().to_string().starts_with("dim is 101"));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EmbedConfig {
    /// The score function.
    pub model: ModelKind,
    /// The distance of TransE; the other models have no choice.
    pub norm: Norm,
    /// Numbers per entity row; even for models whose rows have two halves.
    pub dim: usize,
    /// Give every relation a second row for its inverse. Queries for heads then use that row.
    pub inverses: bool,
    /// The loss function.
    pub loss: Loss,
    /// The optimiser.
    pub optimiser: Optimiser,
    /// The learning rate.
    pub learning_rate: f32,
    /// The share of the learning rate that is left in the last epoch; it falls linearly.
    pub final_learning_rate: f32,
    /// Passes over the facts.
    pub epochs: u32,
    /// Facts per update, if updates are deterministic.
    pub batch: usize,
    /// How negatives are drawn.
    pub negatives: Negatives,
    /// The regulariser of the rows of true facts.
    pub regulariser: Regulariser,
    /// The largest L2 norm of entity rows; longer rows are scaled back after each update.
    pub max_norm: Option<f32>,
    /// Rows start uniform in ±`init`; chosen by the model if not given.
    pub init: Option<f32>,
    /// How threads share the parameters.
    pub updates: Updates,
    /// When to validate.
    pub validation: Validation,
    /// The same seed gives the same numbers.
    pub seed: u64,
}

impl Default for EmbedConfig {
    /// TransE with self-adversarial negatives, which was the best for the mean translation.
    fn default() -> Self {
        Self {
            model: ModelKind::default(),
            norm: Norm::default(),
            dim: 100,
            inverses: false,
            loss: Loss::default(),
            optimiser: Optimiser::default(),
            learning_rate: 0.1,
            final_learning_rate: 1.0,
            epochs: 60,
            batch: 1024,
            negatives: Negatives::default(),
            regulariser: Regulariser::default(),
            max_norm: None,
            init: None,
            updates: Updates::default(),
            validation: Validation::default(),
            seed: 0,
        }
    }
}

impl EmbedConfig {
    /// The largest `dim`, `batch` and `negatives.count`. Products of them cannot overflow.
    pub const MOST: usize = 1 << 20;

    /// Checks every field.
    ///
    /// # Errors
    /// If a field cannot be used; names the first.
    pub fn check(&self) -> Result<(), ConfigError> {
        at_least_one("dim", self.dim)?;
        if self.model.has_halves() && !self.dim.is_multiple_of(2) {
            return Err(ConfigError::OddDim { dim: self.dim, model: self.model });
        }
        at_least_one("batch", self.batch)?;
        at_least_one("epochs", self.epochs as usize)?;
        self.loss.check()?;
        self.optimiser.check()?;
        self.negatives.check()?;
        self.regulariser.check()?;
        positive("learning_rate", self.learning_rate)?;
        if !(0.0..=1.0).contains(&self.final_learning_rate) {
            return Err(ConfigError::NoShare {
                field: "final_learning_rate",
                value: self.final_learning_rate,
            });
        }
        self.max_norm.map_or(Ok(()), |value| positive("max_norm", value))?;
        self.init.map_or(Ok(()), |value| positive("init", value))
    }
}
