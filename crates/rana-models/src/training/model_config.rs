//! [`ModelConfig`]: the configuration of any model.
//!
//! An author of a model implements [`SteppedConfig`], which names types. Everything that handles models alike, such as
//! the registry, needs a trait without types, which is this one.

use std::any::Any;
use std::fmt;

use rana_graph::Graph;

use super::field_checks::ConfigError;
use super::stepped_model::{SteppedConfig, SteppedModel};
use super::trainer_config::TrainerConfig;

/// The configuration of any model. Implemented for every [`SteppedConfig`].
pub trait ModelConfig: erased_serde::Serialize + fmt::Debug + Any + Send + Sync {
    /// The name of the model in the registry.
    fn model_name(&self) -> &'static str;
    /// Checks every field, also together with those of the trainer.
    ///
    /// # Errors
    /// At the first field that cannot be used.
    fn check(&self, trainer: &TrainerConfig) -> Result<(), ConfigError>;
    /// The model on a graph, for vectors of a dimension.
    fn model(&self, trainer: &TrainerConfig, graph: &Graph, dim: usize) -> Box<dyn SteppedModel>;
    /// How much work a pair of an episode is; only ratios count.
    fn work_per_pair(&self) -> f64;
    /// The same with every setting that is a length, in the unit of the vectors, times a factor.
    fn scaled(&self, factor: f32) -> Box<dyn ModelConfig>;
    /// The margin between true and false tails with the name of its setting; none if scores are not distances.
    fn margin(&self) -> Option<(&'static str, f32)>;
    /// The optional fields, each with a value that it could have.
    fn optional(&self) -> &'static [(&'static str, &'static str)];
    /// A copy.
    fn boxed(&self) -> Box<dyn ModelConfig>;
    /// Whether another is the same configuration of the same model.
    fn equals(&self, other: &dyn ModelConfig) -> bool;
}

erased_serde::serialize_trait_object!(ModelConfig);

impl<C: SteppedConfig> ModelConfig for C {
    fn model_name(&self) -> &'static str {
        C::NAME
    }

    fn check(&self, trainer: &TrainerConfig) -> Result<(), ConfigError> {
        SteppedConfig::check(self, trainer)
    }

    fn model(&self, trainer: &TrainerConfig, graph: &Graph, dim: usize) -> Box<dyn SteppedModel> {
        Box::new(SteppedConfig::model(self, trainer, graph, dim))
    }

    fn work_per_pair(&self) -> f64 {
        SteppedConfig::work_per_pair(self)
    }

    fn scaled(&self, factor: f32) -> Box<dyn ModelConfig> {
        Box::new(SteppedConfig::scaled(self, factor))
    }

    fn margin(&self) -> Option<(&'static str, f32)> {
        SteppedConfig::margin(self)
    }

    fn optional(&self) -> &'static [(&'static str, &'static str)] {
        C::OPTIONAL
    }

    fn boxed(&self) -> Box<dyn ModelConfig> {
        Box::new(self.clone())
    }

    fn equals(&self, other: &dyn ModelConfig) -> bool {
        (other as &dyn Any).downcast_ref::<C>() == Some(self)
    }
}
