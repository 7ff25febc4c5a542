//! [`Metar`]: MetaR as the trainer sees it.

use std::sync::Arc;

use rana_fewshot::FewShotModel;
use rana_graph::{Graph, Task};

use super::config::MetarConfig;
use super::learner::{Learner, Mode};
use super::model::MetarModel;
use super::step::{Inputs, step};
use crate::training::{
    ConfigError, MetaTask, NegativeRule, ParameterLayout, Parameters, StartVectors, StepResult,
    SteppedConfig, SteppedModel, TrainerConfig, UniformNegatives,
};

impl SteppedConfig for MetarConfig {
    const NAME: &'static str = "metar";
    const OPTIONAL: &'static [(&'static str, &'static str)] = &[("train_mode_steps", "1000")];

    type Model = Metar;

    fn check(&self, trainer: &TrainerConfig) -> Result<(), ConfigError> {
        self.check(trainer)
    }

    fn model(&self, trainer: &TrainerConfig, graph: &Graph, dim: usize) -> Metar {
        Metar::new(self, trainer, graph, dim)
    }

    fn work_per_pair(&self) -> f64 {
        1.0
    }

    fn scaled(&self, factor: f32) -> Self {
        Self { margin: factor * self.margin, beta: factor * self.beta, ..self.clone() }
    }

    fn margin(&self) -> Option<(&'static str, f32)> {
        Some(("margin", self.margin))
    }
}

/// MetaR on a graph.
pub struct Metar {
    config: MetarConfig,
    learner: Arc<Learner>,
    layout: Arc<ParameterLayout>,
    entities: usize,
    seed: u64,
}

impl Metar {
    /// MetaR with a configuration on a graph, for vectors of a dimension.
    #[must_use]
    pub fn new(config: &MetarConfig, trainer: &TrainerConfig, graph: &Graph, dim: usize) -> Self {
        let learner = Arc::new(Learner::new(config, trainer.shots, dim));
        let layout = Arc::new(ParameterLayout {
            blocks: learner.blocks.clone(),
            buffers: learner.buffers.clone(),
            learns_entities: config.train_entities,
            learns_relations: false,
            extra_vectors: 0,
        });
        Self { config: config.clone(), learner, layout, entities: graph.entity_count(), seed: trainer.seed }
    }

    fn uniform(&self) -> UniformNegatives {
        UniformNegatives { count: self.config.negatives, entities: self.entities }
    }
}

impl SteppedModel for Metar {
    fn layout(&self) -> &Arc<ParameterLayout> {
        &self.layout
    }

    fn initial(&self, start: &StartVectors) -> Parameters {
        let weights = self.layout.blocks.initial(self.config.init, self.seed);
        let mut parameters = Parameters::new(&self.layout, weights, start);
        self.learner.start(&mut parameters.weights, &mut parameters.buffers);
        parameters
    }

    fn negatives<'t>(&self, _: &[Task<'t>]) -> Box<dyn NegativeRule + 't> {
        Box::new(self.uniform())
    }

    fn step(&self, parameters: &Parameters, tasks: &[MetaTask], number: Option<u64>) -> StepResult<f32> {
        let mode = match number {
            Some(step) if self.config.is_train_mode(step) => Mode::Train { seed: self.seed, step },
            _ => Mode::Evaluate,
        };
        let inputs = Inputs {
            config: &self.config,
            learner: &self.learner,
            weights: &parameters.weights,
            buffers: &parameters.buffers,
            rows: &parameters.rows,
        };
        step(inputs, tasks, mode)
    }

    fn freeze(&self, parameters: Arc<Parameters>) -> Arc<dyn FewShotModel> {
        Arc::new(MetarModel {
            config: self.config.clone(),
            learner: Arc::clone(&self.learner),
            negatives: self.uniform(),
            seed: self.seed,
            parameters,
        })
    }
}
