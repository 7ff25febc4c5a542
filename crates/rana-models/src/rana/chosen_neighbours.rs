//! [`ChosenNeighbours`]: which background neighbours an entity is seen with (D11).

use std::collections::HashMap;
use std::sync::Arc;

use rana_graph::{Edge, EntityId, Graph, RelationId};
use rand::seq::index;

use super::config::{NeighbourChoice, RanaConfig};
use super::inputs::Neighbourhood;
use crate::seed::{Purpose, rng};
use crate::training::{MetaTask, TrainerConfig};

/// How neighbours are chosen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NeighbourSettings {
    choice: NeighbourChoice,
    limit: usize,
    hides_own_edges: bool,
    seed: u64,
}

impl NeighbourSettings {
    pub(crate) fn new(config: &RanaConfig, trainer: &TrainerConfig) -> Self {
        let sees_graph = trainer.data_mode.uses_background_graph();
        let limit = if sees_graph { config.neighbours } else { 0 };
        Self {
            choice: config.neighbour_choice,
            limit,
            hides_own_edges: config.hide_own_edges,
            seed: trainer.seed,
        }
    }
}

/// The neighbours that entities of a graph are seen with.
#[derive(Clone, Debug)]
pub(crate) struct ChosenNeighbours {
    graph: Graph,
    limit: usize,
    /// The neighbours drawn for entities that have more than needed; without a draw, the first in file order.
    drawn: Arc<HashMap<EntityId, Vec<Edge>>>,
    /// What is left of the neighbours of an entity without the edges of a relation, where it has any.
    without: HashMap<(EntityId, usize), Vec<Edge>>,
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

    /// As a step of training on some tasks sees them, or `None` if that is no different.
    pub(crate) fn of_step(&self, config: NeighbourSettings, step: u64, tasks: &[MetaTask]) -> Option<Self> {
        let is_drawn = config.choice == NeighbourChoice::Random;
        if !is_drawn && !config.hides_own_edges {
            return None;
        }
        let mut this = match is_drawn {
            true => Self::drawn(&self.graph, config, tasks.iter().flat_map(MetaTask::entities), step + 1),
            false => self.clone(),
        };
        if config.hides_own_edges {
            this.hide_edges_of(tasks);
        }
        Some(this)
    }

    fn none_drawn(graph: &Graph, config: NeighbourSettings) -> Self {
        Self {
            graph: graph.clone(),
            limit: config.limit,
            drawn: Arc::new(HashMap::new()),
            without: HashMap::new(),
        }
    }

    fn drawn(
        graph: &Graph,
        config: NeighbourSettings,
        entities: impl Iterator<Item = EntityId>,
        place: u64,
    ) -> Self {
        let mut drawn = HashMap::new();
        for entity in entities.filter(|&entity| graph.degree(entity) > config.limit) {
            let all = graph.neighbours(entity);
            let mut rng = rng(config.seed, Purpose::Neighbours, [place, entity.0.into()]);
            let edges =
                index::sample(&mut rng, all.len(), config.limit).into_iter().map(|at| all[at]).collect();
            drawn.insert(entity, edges);
        }
        Self { drawn: Arc::new(drawn), ..Self::none_drawn(graph, config) }
    }

    /// Hides the edges of each task's own relation from its entities; others take their places.
    fn hide_edges_of(&mut self, tasks: &[MetaTask]) {
        for task in tasks {
            let Some(asked) = task.relation.filter(|&asked| self.graph.is_background(asked)) else {
                continue;
            };
            let hidden = asked.number();
            for entity in task.entities() {
                let all = self.drawn.get(&entity).map_or(self.graph.neighbours(entity), Vec::as_slice);
                if self.limit > 0 && all.iter().any(|edge| edge.relation.number() == hidden) {
                    self.without.entry((entity, hidden)).or_insert_with(|| {
                        let seen = all.iter().filter(|edge| edge.relation.number() != hidden);
                        seen.take(self.limit).copied().collect()
                    });
                }
            }
        }
    }
}

impl Neighbourhood for ChosenNeighbours {
    fn of(&self, entity: EntityId, asked: Option<RelationId>) -> &[Edge] {
        if let Some(asked) = asked.filter(|_| !self.without.is_empty())
            && let Some(seen) = self.without.get(&(entity, asked.number()))
        {
            return seen;
        }
        let all = self.graph.neighbours(entity);
        if all.len() <= self.limit {
            return all;
        }
        self.drawn.get(&entity).map_or(&all[..self.limit], Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use rana_graph::{Duplicates, GraphBuilder, Pair};

    use super::*;
    use crate::training::Contrasts;

    #[test]
    fn edges_of_the_asked_relation_are_hidden_in_training_and_others_take_their_places() {
        let mut builder = GraphBuilder::new(Duplicates::Remove);
        for (head, relation, tail) in
            [("a", "r", "b"), ("a", "s", "c"), ("d", "r", "a"), ("a", "s", "d"), ("a", "t", "b")]
        {
            builder.add_named(head, relation, tail);
        }
        let graph = builder.finish();
        let [a, b] = ["a", "b"].map(|name| graph.entity(name).unwrap());
        let [r, s] = ["r", "s"].map(|name| graph.relation(name));
        let mut support = Contrasts::default();
        support.push(Pair { head: a, tail: b }, [graph.entity("c").unwrap()]);
        let task = MetaTask { relation: r, support, ..MetaTask::default() };
        let of_step = |choice, hide_own_edges| {
            let config = RanaConfig {
                neighbours: 2,
                neighbour_choice: choice,
                hide_own_edges,
                ..RanaConfig::default()
            };
            let settings = NeighbourSettings::new(&config, &TrainerConfig::default());
            let fixed = ChosenNeighbours::fixed(&graph, settings);
            assert_eq!(fixed.of(a, r).len(), 2);
            fixed.of_step(settings, 3, std::slice::from_ref(&task))
        };
        let names = |edges: &[Edge]| -> Vec<String> {
            edges.iter().map(|edge| graph.entity_name(edge.entity).to_owned()).collect()
        };
        let own = of_step(NeighbourChoice::First, true).unwrap();
        assert_eq!(names(own.of(a, r)), ["c", "d"]);
        assert_eq!(names(own.of(b, r)), ["a"], "the edge by t stays");
        // Another relation is asked for, or none that the graph knows.
        assert_eq!(names(own.of(a, s)), ["b", "c"]);
        assert_eq!(names(own.of(a, None)), ["b", "c"]);
        assert!(of_step(NeighbourChoice::First, false).is_none());
        let drawn = of_step(NeighbourChoice::Random, true).unwrap();
        let is_hidden = |edge: &Edge| edge.relation.number() == r.unwrap().number();
        assert!(!drawn.of(a, r).iter().any(is_hidden));
    }
}
