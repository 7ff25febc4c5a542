//! [`Rana`]: RANA as the trainer sees it.

use std::sync::Arc;

use rana_fewshot::FewShotModel;
use rana_graph::{Graph, Task};

use super::chosen_neighbours::{ChosenNeighbours, NeighbourSettings};
use super::config::{EncoderInit, RanaConfig, RelInit, TrainEntities};
use super::inputs::{Inputs, RowRoles};
use super::layout::Layout;
use super::model::RanaModel;
use super::negatives::PrunedNegatives;
use super::step::step;
use crate::training::{
    ConfigError, MetaTask, NegativeRule, ParameterLayout, Parameters, StartVectors, StepResult,
    SteppedConfig, SteppedModel, TrainerConfig, WeightBlocks,
};

impl SteppedConfig for RanaConfig {
    const NAME: &'static str = "rana";
    const OPTIONAL: &'static [(&'static str, &'static str)] = &[
        ("test_inner_steps", "1"),
        ("hide_own_edges", "true"),
        ("share_negatives", "true"),
        ("enc_init", "\"identity\""),
    ];

    type Model = Rana;

    fn check(&self, trainer: &TrainerConfig) -> Result<(), ConfigError> {
        self.check(trainer)
    }

    fn model(&self, trainer: &TrainerConfig, graph: &Graph, dim: usize) -> Rana {
        Rana::new(self, trainer, graph, dim)
    }

    fn work_per_pair(&self) -> f64 {
        2.0 + self.negatives as f64 / 5.0
    }

    fn scaled(&self, factor: f32) -> Self {
        Self { gamma: factor * self.gamma, eta: factor * self.eta, ..self.clone() }
    }

    fn margin(&self) -> Option<(&'static str, f32)> {
        Some(("gamma", self.gamma))
    }
}

/// RANA on a graph.
pub struct Rana {
    config: RanaConfig,
    trainer: TrainerConfig,
    layout: Layout,
    parameters: Arc<ParameterLayout>,
    graph: Graph,
    neighbours: ChosenNeighbours,
}

impl Rana {
    /// RANA with a configuration on a graph, for vectors of a dimension.
    #[must_use]
    pub fn new(config: &RanaConfig, trainer: &TrainerConfig, graph: &Graph, dim: usize) -> Self {
        let layout = Layout::new(config, dim);
        let parameters = Arc::new(ParameterLayout {
            blocks: layout.blocks.clone(),
            buffers: WeightBlocks::default(),
            learns_entities: config.train_entities != TrainEntities::Frozen,
            learns_relations: config.train_relations,
            extra_vectors: 0,
        });
        let neighbours = ChosenNeighbours::fixed(graph, NeighbourSettings::new(config, trainer));
        let (config, trainer, graph) = (config.clone(), trainer.clone(), graph.clone());
        Self { config, trainer, layout, parameters, graph, neighbours }
    }
}

impl SteppedModel for Rana {
    fn layout(&self) -> &Arc<ParameterLayout> {
        &self.parameters
    }

    fn initial(&self, start: &StartVectors) -> Parameters {
        let mut weights = self.layout.blocks.initial(self.config.init, self.trainer.seed);
        let layout = &self.layout;
        if self.config.enc_init == EncoderInit::Identity {
            layout.aggregate_blocks().for_each(|block| block.of_mut(&mut weights).fill(0.0));
            layout.ends.iter().for_each(|end| end.combine.start_as_identity(&mut weights, 1.0));
        }
        match self.config.rel_init {
            RelInit::Init => {}
            RelInit::Zero => layout.relation_blocks().for_each(|block| block.of_mut(&mut weights).fill(0.0)),
            RelInit::Translation => {
                layout.relation_head.start_as_identity(&mut weights, -1.0);
                layout.relation_tail.start_as_identity(&mut weights, 1.0);
            }
        }
        Parameters::new(&self.parameters, weights, start)
    }

    fn negatives<'t>(&self, tasks: &[Task<'t>]) -> Box<dyn NegativeRule + 't> {
        Box::new(PrunedNegatives::new(&self.config, self.graph.entity_count(), tasks))
    }

    fn step(&self, parameters: &Parameters, tasks: &[MetaTask], number: Option<u64>) -> StepResult<f32> {
        let settings = NeighbourSettings::new(&self.config, &self.trainer);
        let own = number.and_then(|step| self.neighbours.of_step(settings, step, tasks));
        let roles = RowRoles::new(&self.config, &parameters.rows);
        let inputs = Inputs {
            config: &self.config,
            layout: &self.layout,
            weights: &parameters.weights,
            relations: &parameters.relations,
            rows: &roles,
            neighbours: own.as_ref().unwrap_or(&self.neighbours),
            batch: self.trainer.batch,
            seed: self.trainer.seed,
            dropout: number,
        };
        step(inputs, tasks)
    }

    fn freeze(&self, parameters: Arc<Parameters>) -> Arc<dyn FewShotModel> {
        Arc::new(RanaModel::new(&self.config, &self.trainer, &self.graph, parameters))
    }
}
