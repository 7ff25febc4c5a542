//! [`Hire`], HiRe as the trainer sees it, and [`HireModel`], HiRe with fixed parameters.

use std::borrow::Cow;
use std::sync::Arc;

use rana_embed::Norm;
use rana_fewshot::{AdaptedRelation, FewShotModel, Support, SupportError};
use rana_graph::{EntityId, Graph, Task};
use rand::RngExt;

use super::config::HireConfig;
use super::context_learner::Surroundings;
use super::network::Network;
use super::step::{Inputs, step};
use super::transfer_distance::{End, TransferDistance};
use crate::relation_meta::{BackgroundNeighbours, support_contrasts};
use crate::seed::{Purpose, rng};
use crate::training::{
    ConfigError, LearnedRows, MetaTask, NegativeRule, ParameterLayout, Parameters, Rows, StartVectors,
    StepResult, SteppedConfig, SteppedModel, TrainerConfig, UniformNegatives, WeightBlocks,
};
use crate::translation::{EntityTable, Translation};

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
    config: HireConfig,
    network: Arc<Network>,
    layout: Arc<ParameterLayout>,
    neighbours: BackgroundNeighbours,
    entities: usize,
    seed: u64,
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

    fn uniform(&self) -> UniformNegatives {
        UniformNegatives { count: self.config.negatives, entities: self.entities }
    }

    /// Calls `work` with all that a step reads.
    fn with_inputs<R>(&self, parameters: &Parameters, work: impl FnOnce(Inputs<'_, f32>) -> R) -> R {
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
        // As a table of vectors (Glorot and Bengio, 2010). Those of entities start at zero, so that the first scores are
        // those of plain translations.
        let transfers = &self.network.transfers;
        let bound = (6.0 / (transfers.rows + transfers.columns) as f64).sqrt() as f32;
        let mut rng = rng(self.seed, Purpose::Rows, [2, 0]);
        transfers.of_mut(&mut weights).fill_with(|| rng.random_range(-bound..bound));
        Parameters::new(&self.layout, weights, start)
    }

    fn negatives<'t>(&self, _: &[Task<'t>]) -> Box<dyn NegativeRule + 't> {
        Box::new(self.uniform())
    }

    fn step(&self, parameters: &Parameters, tasks: &[MetaTask], number: Option<u64>) -> StepResult<f32> {
        self.with_inputs(parameters, |inputs| step(inputs, tasks, number))
    }

    fn freeze(&self, parameters: Arc<Parameters>) -> Arc<dyn FewShotModel> {
        Arc::new(HireModel { hire: self.clone(), parameters })
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

/// HiRe with fixed parameters.
pub struct HireModel {
    hire: Hire,
    parameters: Arc<Parameters>,
}

impl FewShotModel for HireModel {
    /// # Panics
    /// If the support is empty.
    fn adapt(&self, support: &Support<'_>) -> Result<Box<dyn AdaptedRelation>, SupportError> {
        assert!(!support.pairs.is_empty(), "a relation is learned from at least one pair");
        let Hire { config, network, seed, .. } = &self.hire;
        let contrasts = support_contrasts(support, &self.hire.uniform(), config.test_negatives, *seed);
        let (relation, distance) = self.hire.with_inputs(&self.parameters, |inputs| {
            let (supports, distance) = ([(support.relation, &contrasts)], inputs.distance(false));
            let pass = network.forward(inputs.weights, inputs.rows, &supports, distance, None, false);
            (inputs.objective(&distance).inner_step(&contrasts, &pass.relations, 1), distance)
        });
        let translation = relation[..network.dim].to_vec();
        let rows = ProjectedRows { parameters: Arc::clone(&self.parameters), distance, relation };
        Ok(Box::new(Translation::new(rows, Norm::L2, translation)))
    }
}

/// The rows of entities as a relation projects them.
struct ProjectedRows {
    parameters: Arc<Parameters>,
    distance: TransferDistance,
    relation: Vec<f32>,
}

impl ProjectedRows {
    fn project(&self, entity: EntityId, end: End) -> Cow<'_, [f32]> {
        Cow::Owned(self.distance.project(self.parameters.rows.row(entity), &self.relation, end))
    }
}

impl EntityTable for ProjectedRows {
    fn entity(&self, entity: EntityId) -> Cow<'_, [f32]> {
        self.project(entity, End::Tail)
    }

    fn head(&self, entity: EntityId) -> Cow<'_, [f32]> {
        self.project(entity, End::Head)
    }
}
