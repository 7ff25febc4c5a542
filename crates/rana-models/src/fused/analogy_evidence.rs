//! Evidence by analogy: heads that are alike have the same tail.

use std::collections::HashMap;
use std::sync::Arc;

use rana_fewshot::Support;
use rana_graph::{Edge, EntityId};

use super::evidence::{Evidence, Values};
use super::evidence_kind::EvidenceKind;
use super::reason::Reason;
use crate::combine_by_entity::combine_by_entity;
use crate::paths::VisibleEdges;

/// How alike the head and a head of the support with this very tail are: the cosine between their edges, each counting
/// by its rarity. Of several such heads, the most alike one.
pub(super) fn analogy(edges: &VisibleEdges, entities: usize, support: &Support<'_>) -> Evidence {
    let alike = Arc::new(HeadLikeness::new(edges, entities, support));
    let tails: Vec<EntityId> = support.pairs.iter().map(|pair| pair.tail).collect();
    let heads: Vec<EntityId> = support.pairs.iter().map(|pair| pair.head).collect();
    let own = (Arc::clone(&alike), tails.clone());
    let values = move |head: EntityId, hand: &mut dyn FnMut(EntityId, f32)| {
        let found = tails.iter().copied().zip(alike.to(head)).filter(|(_, share)| *share > 0.0).collect();
        combine_by_entity(found, f32::max, hand);
    };
    let reason = move |head: EntityId, tail: EntityId, _| {
        let (alike, tails) = &own;
        let with_tail =
            alike.to(head).into_iter().enumerate().filter(|&(at, share)| tails[at] == tail && share > 0.0);
        let (at, share) = with_tail.max_by(|one, other| one.1.total_cmp(&other.1))?;
        Some(Reason::LikeExample { example: heads[at], share })
    };
    Evidence { kind: EvidenceKind::Analogy, values: Values::Few(Box::new(values)), reason: Box::new(reason) }
}

/// How alike any entity and each head of a support are.
struct HeadLikeness {
    edges: VisibleEdges,
    entities: f32,
    heads: usize,
    /// For each edge of a head of the support: which heads have it, and how much it counts for each.
    having: HashMap<Edge, Vec<(usize, f32)>>,
}

impl HeadLikeness {
    fn new(edges: &VisibleEdges, entities: usize, support: &Support<'_>) -> Self {
        let mut likeness = Self {
            edges: edges.clone(),
            entities: entities as f32,
            heads: support.pairs.len(),
            having: HashMap::new(),
        };
        for (at, pair) in support.pairs.iter().enumerate() {
            let norm = likeness.norm(pair.head);
            for edge in edges.edges(pair.head) {
                let share = likeness.rarity(edge) / norm;
                likeness.having.entry(edge).or_default().push((at, share));
            }
        }
        likeness
    }

    /// The cosine between an entity and each head of the support.
    fn to(&self, entity: EntityId) -> Vec<f32> {
        let mut alike = vec![0.0; self.heads];
        let norm = self.norm(entity);
        for edge in self.edges.edges(entity) {
            for &(at, share) in self.having.get(&edge).into_iter().flatten() {
                alike[at] += share * self.rarity(edge) / norm;
            }
        }
        alike
    }

    /// The logarithm of entities per entity that has this edge.
    fn rarity(&self, edge: Edge) -> f32 {
        (self.entities / self.edges.by(edge.entity, edge.relation.inverse()).len().max(1) as f32).ln()
    }

    fn norm(&self, entity: EntityId) -> f32 {
        let squares = self.edges.edges(entity).map(|edge| self.rarity(edge).powi(2));
        squares.sum::<f32>().sqrt().max(f32::MIN_POSITIVE)
    }
}
