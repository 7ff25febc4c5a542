//! [`SteppedModel`]: the interface of models that are trained step by step.

use std::sync::Arc;

use rana_fewshot::FewShotModel;
use rana_graph::{EntityId, Graph, Pair, Task};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::field_checks::ConfigError;
use super::meta_task::MetaTask;
use super::parameters::{ParameterLayout, Parameters};
use super::row_gradients::SummedRows;
use super::start_vectors::StartVectors;
use super::trainer_config::TrainerConfig;

/// A few-shot model that is trained by steps over batches of tasks.
///
/// It knows its configuration and its graph; what it learns is in [`Parameters`], which the trainer keeps, updates and
/// writes to disk.
pub trait SteppedModel: Send + Sync {
    /// The names and shapes of its parameters.
    fn layout(&self) -> &Arc<ParameterLayout>;

    /// The initial parameters.
    fn initial(&self, start: &StartVectors) -> Parameters;

    /// How the negatives of a pair are drawn from the candidates of its task.
    fn negatives<'t>(&self, tasks: &[Task<'t>]) -> Box<dyn NegativeRule + 't>;

    /// The loss of a batch, its gradients and named diagnostics. The same batch gives the same bits with any number
    /// of threads.
    ///
    /// `step` is the number of the training step, counted from 0; `None` outside of training, where nothing is
    /// dropped.
    fn step(&self, parameters: &Parameters, tasks: &[MetaTask], step: Option<u64>) -> StepResult<f32>;

    /// What a training step draws beyond its batch and beyond dropout: ids by name, in the order in which the step reads
    /// them. With it another program can compute the same step.
    fn draws(&self, _: &Parameters, _: &[MetaTask], _step: u64) -> Vec<(&'static str, Vec<u32>)> {
        Vec::new()
    }

    /// The model with fixed parameters.
    fn freeze(&self, parameters: Arc<Parameters>) -> Arc<dyn FewShotModel>;
}

/// The result of a step.
#[derive(Clone, Debug, Default)]
pub struct StepResult<T> {
    /// The loss.
    pub loss: f64,
    /// The gradient of the weights.
    pub weights: Vec<T>,
    /// The buffers after the step; empty if the model has none or leaves them alone.
    pub buffers: Vec<T>,
    /// The gradient of relation rows; empty unless they learn.
    pub relations: Vec<T>,
    /// The gradients of the entity rows that were looked at; empty unless they learn.
    pub rows: SummedRows<T>,
    /// Diagnostics of the batch, by name.
    pub diagnostics: Diagnostics,
}

/// Named numbers that describe a step; the same names at every step of a model.
pub type Diagnostics = Vec<(&'static str, f64)>;

/// A pair whose negatives are drawn.
#[derive(Clone, Copy, Debug)]
pub struct NegativeChoice<'a> {
    /// The number of the task among those that the rule was made for.
    pub task: usize,
    /// The pair.
    pub pair: Pair,
    /// The candidates of its task.
    pub candidates: &'a [EntityId],
    /// Tails that are true too, ascending.
    pub known: &'a [EntityId],
}

/// How many candidates were looked at while negatives were drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NegativeCounts {
    /// Valid candidates that were looked at.
    pub seen: u64,
    /// Those of them that the rule refused.
    pub refused: u64,
}

/// How negatives are drawn.
pub trait NegativeRule: Send + Sync {
    /// The negatives of a pair. The rule may read rows as they are now.
    fn draw(
        &self,
        parameters: &Parameters,
        choice: &NegativeChoice<'_>,
        rng: &mut ChaCha8Rng,
        counts: &mut NegativeCounts,
    ) -> Vec<EntityId>;

    /// Whether the pairs of a support draw from one sequence, and those of the queries of an episode from another: then they
    /// share their negatives, but for those that are true for one of them.
    fn shares_draws(&self) -> bool {
        false
    }

    /// A named number that summarises the counts of a batch for the log, if there is one.
    fn diagnostic(&self, _: NegativeCounts) -> Option<(&'static str, f64)> {
        None
    }
}

/// The configuration of a model that is trained by steps, as its author writes it.
///
/// Everything else, from files to the registry, follows from this trait.
pub trait SteppedConfig:
    Clone + PartialEq + std::fmt::Debug + Serialize + DeserializeOwned + Send + Sync + 'static
{
    /// The name of the model in the registry.
    const NAME: &'static str;

    /// The optional fields, each with a value that it could have, as TOML.
    const OPTIONAL: &'static [(&'static str, &'static str)] = &[];

    /// The model.
    type Model: SteppedModel + 'static;

    /// Checks every field, also together with those of the trainer.
    ///
    /// # Errors
    /// At the first field that cannot be used.
    fn check(&self, trainer: &TrainerConfig) -> Result<(), ConfigError>;

    /// The model on a graph, for vectors of a dimension.
    fn model(&self, trainer: &TrainerConfig, graph: &Graph, dim: usize) -> Self::Model;

    /// How much work a pair of an episode is, for the time left; only ratios count.
    fn work_per_pair(&self) -> f64;

    /// The same with every setting that is a length, in the unit of the vectors, times a factor.
    #[must_use]
    fn scaled(&self, _factor: f32) -> Self {
        self.clone()
    }

    /// The margin between true and false tails with the name of its setting; none if scores are not distances.
    fn margin(&self) -> Option<(&'static str, f32)> {
        None
    }
}
