//! [`Hire`]: HiRe as the trainer sees it.

use std::sync::Arc;

use rana_fewshot::FewShotModel;
use rana_graph::{EntityId, Graph, Task};

use super::config::HireConfig;
use super::model::HireModel;
use super::network::Network;
use super::step::{Inputs, step};
use crate::relation_meta::{BackgroundNeighbours, Surroundings};
use crate::seed::{Purpose, rng};
use crate::training::{
    ConfigError, LearnedRows, MetaTask, NegativeRule, ParameterLayout, Parameters, Rows, StartVectors,
    StepResult, SteppedConfig, SteppedModel, TrainerConfig, UniformNegatives, WeightBlocks,
};

impl SteppedConfig for HireConfig {
    const NAME: &'static str = "hire";

    type Model = Hire;

    fn check(&self, trainer: &TrainerConfig) -> Result<(), ConfigError> {
        self.check(trainer)
    }

    fn model(&self, trainer: &TrainerConfig, graph: &Graph, dim: usize) -> Hire {
        Hire::new(self, trainer, graph, dim)
    }

    fn work_per_pair(&self) -> f64 {
        let contexts = if self.context_weight > 0.0 { 1.0 + self.corrupted_contexts as f64 } else { 0.0 };
        1.0 + contexts * self.neighbours as f64 / 5.0
    }
}

/// HiRe on a graph.
#[derive(Clone)]
pub struct Hire {
    pub(super) config: HireConfig,
    pub(super) network: Arc<Network>,
    layout: Arc<ParameterLayout>,
    neighbours: BackgroundNeighbours,
    entities: usize,
    pub(super) seed: u64,
}

impl Hire {
    /// HiRe with a configuration on a graph, for vectors of a dimension.
    #[must_use]
    pub fn new(config: &HireConfig, trainer: &TrainerConfig, graph: &Graph, dim: usize) -> Self {
        let network = Arc::new(Network::new(config, graph.named_relation_count(), dim));
        let layout = Arc::new(ParameterLayout {
            blocks: network.blocks.clone(),
            buffers: WeightBlocks::default(),
            learns_entities: config.train_entities,
            learns_relations: false,
            // The transfer vector of each entity.
            extra_vectors: 1,
        });
        let limit = if trainer.data_mode.uses_background_graph() { config.neighbours } else { 0 };
        Self {
            config: config.clone(),
            network,
            layout,
            neighbours: BackgroundNeighbours::new(graph, limit, config.hides_own_edges),
            entities: graph.entity_count(),
            seed: trainer.seed,
        }
    }

    pub(super) fn uniform(&self) -> UniformNegatives {
        UniformNegatives { count: self.config.negatives, entities: self.entities }
    }

    /// Calls `work` with all that a step reads.
    pub(super) fn with_inputs<R>(
        &self,
        parameters: &Parameters,
        work: impl FnOnce(Inputs<'_, f32>) -> R,
    ) -> R {
        let frozen = StartRows(&parameters.rows);
        let surroundings =
            Surroundings { neighbours: &self.neighbours, rows: &frozen, relations: &parameters.relations };
        work(Inputs {
            config: &self.config,
            network: &self.network,
            weights: &parameters.weights,
            surroundings,
            rows: &parameters.rows,
            seed: self.seed,
        })
    }
}

impl SteppedModel for Hire {
    fn layout(&self) -> &Arc<ParameterLayout> {
        &self.layout
    }

    fn initial(&self, start: &StartVectors) -> Parameters {
        let mut weights = self.layout.blocks.initial(self.config.init, self.seed);
        self.network.start(&mut weights);
        // Those of entities start at zero, so that the first scores are those of plain translations.
        self.network.transfers.start_as_table(&mut weights, &mut rng(self.seed, Purpose::Rows, [2, 0]));
        Parameters::new(&self.layout, weights, start)
    }

    fn negatives<'t>(&self, _: &[Task<'t>]) -> Box<dyn NegativeRule + 't> {
        Box::new(self.uniform())
    }

    fn step(&self, parameters: &Parameters, tasks: &[MetaTask], number: Option<u64>) -> StepResult<f32> {
        self.with_inputs(parameters, |inputs| step(inputs, tasks, number))
    }

    fn draws(&self, parameters: &Parameters, tasks: &[MetaTask], step: u64) -> Vec<(&'static str, Vec<u32>)> {
        if self.config.context_weight == 0.0 {
            return Vec::new();
        }
        self.with_inputs(parameters, |inputs| {
            let supports: Vec<_> = tasks.iter().map(|task| (task.relation, &task.support)).collect();
            let keys = (self.seed, step);
            let relations = self.network.corrupted_relations(inputs.surroundings, &supports, keys);
            vec![("corrupted_relations", relations)]
        })
    }

    fn freeze(&self, parameters: Arc<Parameters>) -> Arc<dyn FewShotModel> {
        Arc::new(HireModel::new(self.clone(), parameters))
    }
}

/// The vectors of entities as training started from them, without transfer vectors.
struct StartRows<'a>(&'a LearnedRows);

impl Rows<f32> for StartRows<'_> {
    fn row(&self, entity: EntityId) -> &[f32] {
        let row = self.0.base(entity);
        &row[..row.len() / 2]
    }
}
