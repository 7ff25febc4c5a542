//! [`EndProfile`]: what the heads or the tails of a relation look like.

use std::collections::HashMap;

use rana_graph::{EntityId, Graph, RelationId, TypeId};
use rana_models::paths::VisibleEdges;

/// What an entity may have in common with others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Feature {
    Relation(RelationId),
    Type(TypeId),
}

/// A type says about as much as a relation that one entity in twenty has.
const TYPE_WEIGHT: f32 = 3.0;

/// The mean of the features of some entities: the relations that they have, rare ones counting more, and their types.
#[derive(Clone, Debug)]
pub(super) struct EndProfile {
    mean: HashMap<Feature, f32>,
}

impl EndProfile {
    /// The profile of some entities.
    pub(super) fn of(
        graph: &Graph,
        edges: &VisibleEdges,
        entities: impl ExactSizeIterator<Item = EntityId>,
    ) -> Self {
        let share = 1.0 / entities.len().max(1) as f32;
        let mut mean = HashMap::new();
        for entity in entities {
            let scale = share / norm(graph, edges, entity);
            for (feature, weight) in features(graph, edges, entity) {
                *mean.entry(feature).or_default() += scale * weight;
            }
        }
        Self { mean }
    }

    /// How much an entity is like them: the mean cosine similarity, from 0 to 1.
    pub(super) fn likeness(&self, graph: &Graph, edges: &VisibleEdges, entity: EntityId) -> f32 {
        let product = |(feature, weight)| weight * self.mean.get(&feature).copied().unwrap_or(0.0);
        let sum: f32 = features(graph, edges, entity).map(product).sum();
        (sum / norm(graph, edges, entity)).clamp(0.0, 1.0)
    }
}

fn features<'a>(
    graph: &'a Graph,
    edges: &'a VisibleEdges,
    entity: EntityId,
) -> impl Iterator<Item = (Feature, f32)> + 'a {
    let relations =
        edges.relations(entity).map(|relation| (Feature::Relation(relation), edges.rarity(relation)));
    let types = graph.types(entity).iter().map(|&of| (Feature::Type(of), TYPE_WEIGHT));
    relations.chain(types)
}

fn norm(graph: &Graph, edges: &VisibleEdges, entity: EntityId) -> f32 {
    let squares: f32 = features(graph, edges, entity).map(|(_, weight)| weight * weight).sum();
    squares.sqrt().max(f32::MIN_POSITIVE)
}
