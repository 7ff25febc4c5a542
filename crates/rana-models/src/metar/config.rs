//! [`MetarConfig`]: every choice of MetaR, those of its paper and those of its public code.
//!
//! Equations carry the numbers of the paper (Chen et al., EMNLP 2019). Where the public code departs from the paper,
//! the field says so; the default is the paper, and the presets for benchmarks say what they take from the code.

use serde::{Deserialize, Serialize};

use crate::choices::choices;
use crate::relation_meta::{LossSettings, SupportNegatives, SupportReduction};
use crate::training::{ConfigError, FieldChecks, Init, TrainerConfig, require};

choices!(
    /// How the layers of the relation-meta learner are normalised.
    Normalisation, "normalisation", {
        /// Not at all: the paper has plain fully connected layers.
        #[default]
        None => "none",
        /// By a batch norm with one channel per place in the support, as the public code does: mean and variance are
        /// taken over the batch and over all features of a place.
        BatchPerShot => "batch_per_shot",
    }
);

/// Every choice of MetaR; those of its training are in [`TrainerConfig`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MetarConfig {
    // The relation-meta learner, eqs. 1 and 2.
    /// The sizes of the two hidden layers. The paper is silent; 500 and 200 for vectors of 100 numbers in the code.
    pub hidden: [usize; 2],
    /// How layers are normalised.
    pub normalisation: Normalisation,
    /// The share of hidden components that is dropped in training. The paper mentions no dropout; 0.5 in the code.
    pub dropout: f32,
    /// The number of steps with dropout and batch statistics; after it the learner stays in evaluation mode.
    /// The public code never returns to training mode after its first evaluation (step 1,000).
    pub train_mode_steps: Option<u64>,
    /// How weights start.
    pub init: Init,

    // The score and its losses, eqs. 3, 4, 7 and 8.
    /// γ, the margin between a true pair and its negative.
    pub margin: f32,
    /// Negatives per pair; the paper and the code have one.
    #[serde(rename = "J")]
    pub negatives: usize,
    /// Which negatives the support has in evaluation.
    pub test_negatives: SupportNegatives,

    // The inner step, eqs. 5 and 6.
    /// Whether there is an inner step; without one the relation of the query is that of the support.
    pub inner_step: bool,
    /// β, the size of the inner step. The paper says 1 in its ablations and 5 in its code.
    pub beta: f32,
    /// How the support loss is summed up.
    pub inner_reduction: SupportReduction,
    /// Whether the support loss is minimised too. The paper minimises the query loss; the public code adds the support
    /// loss, because it clears gradients too early.
    pub outer_includes_support: bool,

    // Tables.
    /// Whether entity rows learn; one table serves the learner and the score.
    pub train_entities: bool,
}

impl Default for MetarConfig {
    /// The paper.
    fn default() -> Self {
        Self {
            hidden: [500, 200],
            normalisation: Normalisation::default(),
            dropout: 0.0,
            train_mode_steps: None,
            init: Init::default(),
            margin: 1.0,
            negatives: 1,
            test_negatives: SupportNegatives::default(),
            inner_step: true,
            beta: 5.0,
            inner_reduction: SupportReduction::default(),
            outer_includes_support: false,
            train_entities: true,
        }
    }
}

impl MetarConfig {
    /// Checks every field, also together with those of the trainer.
    ///
    /// # Errors
    /// At the first field that cannot be used.
    pub fn check(&self, trainer: &TrainerConfig) -> Result<(), ConfigError> {
        use FieldChecks as Is;
        for size in self.hidden {
            Is::count("hidden", size, 1)?;
        }
        Is::share("dropout", self.dropout)?;
        Is::positive("margin", self.margin)?;
        Is::count("J", self.negatives, 1)?;
        Is::at_least_zero("beta", self.beta)?;
        require(
            self.train_entities || trainer.max_norm.is_none(),
            "max_norm",
            trainer.max_norm.unwrap_or_default(),
            "left out if train_entities is false",
        )?;
        require(
            self.train_entities || trainer.entity_learning_rate.is_none(),
            "entity_learning_rate",
            trainer.entity_learning_rate.unwrap_or_default(),
            "left out if train_entities is false",
        )
    }

    /// Whether a step of training is in training mode.
    pub(super) fn is_train_mode(&self, step: u64) -> bool {
        self.train_mode_steps.is_none_or(|steps| step < steps)
    }

    /// The settings of the losses.
    pub(super) fn losses(&self) -> LossSettings {
        LossSettings {
            margin: self.margin,
            beta: self.inner_step.then_some(self.beta),
            reduction: self.inner_reduction,
            includes_support: self.outer_includes_support,
            learns_rows: self.train_entities,
        }
    }
}
