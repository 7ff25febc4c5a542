//! [`Faan`]: FAAN as the trainer sees it.

use std::sync::Arc;

use rana_fewshot::FewShotModel;
use rana_graph::{Graph, Task};

use super::config::FaanConfig;
use super::model::FaanModel;
use super::neighbourhood::Neighbourhood;
use super::network::Network;
use super::pair_batch::Tables;
use super::step::{Inputs, step};
use crate::tape::DropoutKey;
use crate::training::{
    ConfigError, MetaTask, NegativeRule, ParameterLayout, Parameters, StartVectors, StepResult,
    SteppedConfig, SteppedModel, TrainerConfig, UniformNegatives, WeightBlocks,
};

impl SteppedConfig for FaanConfig {
    const NAME: &'static str = "faan";

    type Model = Faan;

    fn check(&self, trainer: &TrainerConfig) -> Result<(), ConfigError> {
        self.check(trainer)
    }

    fn model(&self, trainer: &TrainerConfig, graph: &Graph, dim: usize) -> Faan {
        Faan::new(self, trainer, graph, dim)
    }

    fn work_per_pair(&self) -> f64 {
        (self.layers * (1 + self.negatives)) as f64
    }
}

/// FAAN on a graph.
pub struct Faan {
    network: Arc<Network>,
    neighbourhood: Arc<Neighbourhood>,
    layout: Arc<ParameterLayout>,
    entities: usize,
    seed: u64,
}

impl Faan {
    /// FAAN with a configuration on a graph, for vectors of a dimension.
    #[must_use]
    pub fn new(config: &FaanConfig, trainer: &TrainerConfig, graph: &Graph, dim: usize) -> Self {
        let network = Arc::new(Network::new(config, dim));
        let layout = Arc::new(ParameterLayout {
            blocks: network.blocks.clone(),
            buffers: WeightBlocks::default(),
            learns_entities: config.fine_tune,
            learns_relations: config.fine_tune,
            extra_vectors: 0,
        });
        let sees_graph = trainer.data_mode.uses_background_graph();
        let neighbourhood = Arc::new(Neighbourhood::new(graph, config, sees_graph));
        Self { network, neighbourhood, layout, entities: graph.entity_count(), seed: trainer.seed }
    }
}

impl SteppedModel for Faan {
    fn layout(&self) -> &Arc<ParameterLayout> {
        &self.layout
    }

    fn initial(&self, start: &StartVectors) -> Parameters {
        Parameters::new(&self.layout, self.network.initial(self.seed), start)
    }

    fn negatives<'t>(&self, _: &[Task<'t>]) -> Box<dyn NegativeRule + 't> {
        Box::new(UniformNegatives { count: self.network.config.negatives, entities: self.entities })
    }

    fn step(&self, parameters: &Parameters, tasks: &[MetaTask], number: Option<u64>) -> StepResult<f32> {
        let tables = Tables {
            rows: &parameters.rows,
            relations: &parameters.relations,
            dim: parameters.rows.dim(),
            learn: self.network.config.fine_tune,
        };
        let inputs = Inputs {
            network: &self.network,
            neighbourhood: &self.neighbourhood,
            weights: &parameters.weights,
            tables,
        };
        let dropout = number.map(|step| DropoutKey { seed: self.seed, step, tape: 0 });
        step(inputs, tasks, dropout)
    }

    fn freeze(&self, parameters: Arc<Parameters>) -> Arc<dyn FewShotModel> {
        let (network, neighbourhood) = (Arc::clone(&self.network), Arc::clone(&self.neighbourhood));
        Arc::new(FaanModel { network, neighbourhood, parameters })
    }
}
