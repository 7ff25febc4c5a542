//! [`ChosenNeighbours`]: which background neighbours an entity is seen with (D11).

use std::collections::HashMap;

use rana_graph::{Edge, EntityId, Graph};
use rand::seq::index;

use super::config::{NeighbourChoice, RanaConfig};
use super::inputs::Neighbourhood;
use crate::seed::{Purpose, rng};
use crate::training::TrainerConfig;

/// How neighbours are chosen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NeighbourSettings {
    choice: NeighbourChoice,
    limit: usize,
    seed: u64,
}

impl NeighbourSettings {
    pub(crate) fn new(config: &RanaConfig, trainer: &TrainerConfig) -> Self {
        let sees_graph = trainer.data_mode.uses_background_graph();
        let limit = if sees_graph { config.neighbours } else { 0 };
        Self { choice: config.neighbour_choice, limit, seed: trainer.seed }
    }
}

/// The neighbours that entities of a graph are seen with.
#[derive(Clone, Debug)]
pub(crate) struct ChosenNeighbours {
    graph: Graph,
    limit: usize,
    /// The neighbours drawn for entities that have more than needed; without a draw, the first in file order.
    drawn: HashMap<EntityId, Vec<Edge>>,
}

impl ChosenNeighbours {
    /// As evaluations see them.
    pub(crate) fn fixed(graph: &Graph, config: NeighbourSettings) -> Self {
        match config.choice {
            NeighbourChoice::First => Self::none_drawn(graph, config),
            NeighbourChoice::RandomFixed | NeighbourChoice::Random => {
                Self::drawn(graph, config, graph.entities(), 0)
            }
        }
    }

    /// As a step of training sees those of some entities, or `None` if that is no different.
    pub(crate) fn of_step(
        graph: &Graph,
        config: NeighbourSettings,
        step: u64,
        entities: impl Iterator<Item = EntityId>,
    ) -> Option<Self> {
        (config.choice == NeighbourChoice::Random).then(|| Self::drawn(graph, config, entities, step + 1))
    }

    fn none_drawn(graph: &Graph, config: NeighbourSettings) -> Self {
        Self { graph: graph.clone(), limit: config.limit, drawn: HashMap::new() }
    }

    fn drawn(
        graph: &Graph,
        config: NeighbourSettings,
        entities: impl Iterator<Item = EntityId>,
        place: u64,
    ) -> Self {
        let mut this = Self::none_drawn(graph, config);
        for entity in entities.filter(|&entity| graph.degree(entity) > this.limit) {
            let all = graph.neighbours(entity);
            let mut rng = rng(config.seed, Purpose::Neighbours, [place, entity.0.into()]);
            let edges =
                index::sample(&mut rng, all.len(), this.limit).into_iter().map(|at| all[at]).collect();
            this.drawn.insert(entity, edges);
        }
        this
    }
}

impl Neighbourhood for ChosenNeighbours {
    fn of(&self, entity: EntityId) -> &[Edge] {
        let all = self.graph.neighbours(entity);
        if all.len() <= self.limit {
            return all;
        }
        self.drawn.get(&entity).map_or(&all[..self.limit], Vec::as_slice)
    }
}
