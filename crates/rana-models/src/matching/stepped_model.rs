//! [`Matching`]: a matching network as the trainer sees it.

use std::sync::Arc;

use rana_fewshot::FewShotModel;
use rana_graph::{Graph, Task};

use super::encoded_entities::EncodedEntities;
use super::model::MatchingModel;
use super::neighbourhoods::{Neighbourhoods, Tables};
use super::network::Network;
use super::step::{Inputs, step};
use crate::tape::DropoutKey;
use crate::training::{
    MetaTask, NegativeRule, ParameterLayout, Parameters, StartVectors, StepResult, SteppedModel,
    TrainerConfig, UniformNegatives, WeightBlocks,
};

/// A matching network on a graph.
pub struct Matching<N> {
    network: Arc<N>,
    layout: Arc<ParameterLayout>,
    neighbourhoods: Arc<Neighbourhoods>,
    entities: usize,
    seed: u64,
}

/// A network as the trainer sees it.
pub(crate) fn matching_model<N: Network>(network: N, trainer: &TrainerConfig, graph: &Graph) -> Matching<N> {
    let settings = network.settings();
    let layout = Arc::new(ParameterLayout {
        blocks: network.blocks().clone(),
        buffers: WeightBlocks::default(),
        learns_entities: settings.fine_tunes,
        learns_relations: settings.fine_tunes,
        extra_vectors: 0,
    });
    let sees_graph = trainer.data_mode.uses_background_graph();
    let neighbourhoods = Arc::new(Neighbourhoods::new(graph, settings, sees_graph));
    let (entities, seed) = (graph.entity_count(), trainer.seed);
    Matching { network: Arc::new(network), layout, neighbourhoods, entities, seed }
}

impl<N: Network> SteppedModel for Matching<N> {
    fn layout(&self) -> &Arc<ParameterLayout> {
        &self.layout
    }

    fn initial(&self, start: &StartVectors) -> Parameters {
        let mut weights = self.layout.blocks.initial(self.network.settings().init, self.seed);
        self.network.pair_encoder().start(&mut weights);
        Parameters::new(&self.layout, weights, start)
    }

    fn negatives<'t>(&self, _: &[Task<'t>]) -> Box<dyn NegativeRule + 't> {
        Box::new(UniformNegatives { count: self.network.settings().negatives, entities: self.entities })
    }

    fn step(&self, parameters: &Parameters, tasks: &[MetaTask], number: Option<u64>) -> StepResult<f32> {
        let tables =
            Tables { rows: &parameters.rows, relations: &parameters.relations, dim: parameters.rows.dim() };
        let inputs = Inputs { neighbourhoods: &self.neighbourhoods, weights: &parameters.weights, tables };
        let dropout = number.map(|step| DropoutKey { seed: self.seed, step, tape: 0 });
        step(&*self.network, inputs, tasks, dropout)
    }

    fn freeze(&self, parameters: Arc<Parameters>) -> Arc<dyn FewShotModel> {
        let (network, neighbourhoods) = (Arc::clone(&self.network), Arc::clone(&self.neighbourhoods));
        let entities = EncodedEntities::new(network, Arc::clone(&neighbourhoods), parameters, None);
        Arc::new(MatchingModel { entities: Arc::new(entities), neighbourhoods })
    }
}
