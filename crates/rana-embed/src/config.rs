//! [`EmbedConfig`]: everything a pre-training depends on, checked once.

use serde::{Deserialize, Serialize};

use crate::loss::Loss;
use crate::model::{ModelKind, Norm};
use crate::negatives::Negatives;
use crate::optimiser::{Optimiser, Regulariser};

/// How threads share the parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Updates {
    /// The gradients of a batch are taken at the parameters before it, summed per row in a fixed
    /// order and applied once: the same seed gives the same bits with any number of threads.
    #[default]
    Deterministic,
    /// Threads update rows where they lie, gradient by gradient, without waiting for each other: in
    /// every epoch entities are dealt out to buckets, and threads work on pairs of buckets that have
    /// no entity in common. Negatives come from the bucket of the true answer, and a relation is the
    /// mean of what the threads made of it.
    LockFree,
}

rana_graph::named!(Updates, "update mode", { Deterministic => "deterministic", LockFree => "lock-free" });

/// When to look at held-out facts, and when to give up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Validation {
    /// Validate after every so many epochs; 0 never does.
    pub every: u32,
    /// Stop after so many validations in a row without a new best; 0 never does.
    pub patience: u32,
    /// How many facts to look at, drawn by the seed: of the graph's own valid facts if it has some,
    /// else background facts that are then held out of training.
    pub facts: usize,
}

impl Default for Validation {
    /// Every ten epochs, at 1,000 facts, stopping at the third time without a gain.
    fn default() -> Self {
        Self { every: 10, patience: 3, facts: 1000 }
    }
}

/// Everything a pre-training depends on, apart from the facts.
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
    /// Give every relation a second row for its inverse, and ask for heads through that row.
    pub inverses: bool,
    /// What training minimises.
    pub loss: Loss,
    /// How gradients become updates.
    pub optimiser: Optimiser,
    /// The size of a step.
    pub learning_rate: f32,
    /// Let the size of a step fall linearly to this share of itself over the epochs.
    pub final_learning_rate: f32,
    /// Passes over the facts.
    pub epochs: u32,
    /// Facts per update, if updates are deterministic.
    pub batch: usize,
    /// What true facts are contrasted with.
    pub negatives: Negatives,
    /// What keeps the rows of true facts small.
    pub regulariser: Regulariser,
    /// Entity rows longer than this (L2) are scaled back to it after each update.
    pub max_norm: Option<f32>,
    /// Half the width of the uniform distribution rows start from; chosen by the model if not given.
    pub init: Option<f32>,
    /// How threads share the parameters.
    pub updates: Updates,
    /// When to look at held-out facts.
    pub validation: Validation,
    /// The same seed gives the same numbers.
    pub seed: u64,
}

impl Default for EmbedConfig {
    /// TransE with self-adversarial negatives, which served the training-free probe best.
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

/// A field of a configuration that cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ConfigError {
    /// A count that must be at least one.
    #[error("{field} is 0; it must be at least 1")]
    Zero {
        /// The field.
        field: &'static str,
    },
    /// The rows of the model have two halves.
    #[error("dim is {dim}, but the rows of {model} have two halves; use an even number")]
    OddDim {
        /// The dimension asked for.
        dim: usize,
        /// The model.
        model: ModelKind,
    },
    /// More than this crate can address.
    #[error("{field} is {value}; it must be at most {most}")]
    TooLarge {
        /// The field.
        field: &'static str,
        /// What it says.
        value: usize,
        /// What is allowed.
        most: usize,
    },
    /// A number that must be above zero.
    #[error("{field} is {value}; it must be a number above 0")]
    NotPositive {
        /// The field.
        field: &'static str,
        /// What it says.
        value: f32,
    },
    /// A number that must not be below zero.
    #[error("{field} is {value}; it must be a number of at least 0")]
    Negative {
        /// The field.
        field: &'static str,
        /// What it says.
        value: f32,
    },
    /// A number that must lie between 0 and 1.
    #[error("{field} is {value}; it must lie between 0 and 1")]
    NoShare {
        /// The field.
        field: &'static str,
        /// What it says.
        value: f32,
    },
}

impl EmbedConfig {
    /// The largest `dim`, `batch` and `negatives.count`: far beyond use, and safe to multiply.
    pub const MOST: usize = 1 << 20;

    /// Checks every field.
    ///
    /// # Errors
    /// At the first field that cannot be used.
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

pub(crate) fn at_least_one(field: &'static str, value: usize) -> Result<(), ConfigError> {
    match value {
        0 => Err(ConfigError::Zero { field }),
        1..=EmbedConfig::MOST => Ok(()),
        _ => Err(ConfigError::TooLarge { field, value, most: EmbedConfig::MOST }),
    }
}

pub(crate) fn positive(field: &'static str, value: f32) -> Result<(), ConfigError> {
    if value > 0.0 && value.is_finite() { Ok(()) } else { Err(ConfigError::NotPositive { field, value }) }
}

pub(crate) fn not_negative(field: &'static str, value: f32) -> Result<(), ConfigError> {
    if value >= 0.0 && value.is_finite() { Ok(()) } else { Err(ConfigError::Negative { field, value }) }
}
