//! Evidence in the tail alone: what tails of the relation are like.

use std::collections::HashMap;

use rana_fewshot::Support;
use rana_graph::{EntityId, Graph, RelationId};

use super::evidence::{Evidence, Values};
use super::evidence_kind::EvidenceKind;
use super::reason::Reason;
use crate::paths::VisibleEdges;

/// The share of the support with this very tail.
pub(super) fn copy(support: &Support<'_>) -> Evidence {
    let (pairs, of) = (support.pairs.to_vec(), support.pairs.len());
    let share =
        move |tail: EntityId| pairs.iter().filter(|pair| pair.tail == tail).count() as f32 / of as f32;
    Evidence {
        kind: EvidenceKind::Copy,
        values: Values::Tails(Box::new(share)),
        reason: Box::new(move |_, _, share| {
            let supports = (share * of as f32).round() as usize;
            (supports > 0).then_some(Reason::Copied { supports, of })
        }),
    }
}

/// The mean cosine similarity of the tail's relations, weighted by rarity, to those of each support tail.
pub(super) fn signature(edges: &VisibleEdges, support: &Support<'_>) -> Evidence {
    let norm = |edges: &VisibleEdges, of: EntityId| {
        let squares = edges.relations(of).map(|relation| edges.rarity(relation).powi(2));
        squares.sum::<f32>().sqrt().max(f32::MIN_POSITIVE)
    };
    let mut mean: HashMap<RelationId, f32> = HashMap::new();
    for pair in support.pairs {
        let scale = 1.0 / (norm(edges, pair.tail) * support.pairs.len() as f32);
        for relation in edges.relations(pair.tail) {
            *mean.entry(relation).or_default() += scale * edges.rarity(relation);
        }
    }
    let edges = edges.clone();
    let share = move |tail: EntityId| {
        let products = edges
            .relations(tail)
            .map(|relation| edges.rarity(relation) * mean.get(&relation).copied().unwrap_or(0.0));
        products.sum::<f32>() / norm(&edges, tail)
    };
    alike(EvidenceKind::Signature, share, |share| Reason::SameRelations { share })
}

/// The share of support pairs whose tail has a type in common with this tail.
pub(super) fn types(graph: &Graph, support: &Support<'_>) -> Evidence {
    let graph = graph.clone();
    let tails: Vec<EntityId> = support.pairs.iter().map(|pair| pair.tail).collect();
    let share = move |tail: EntityId| {
        let types = graph.types(tail);
        let same = |other: &&EntityId| graph.types(**other).iter().any(|of| types.contains(of));
        tails.iter().filter(same).count() as f32 / tails.len() as f32
    };
    alike(EvidenceKind::Type, share, |share| Reason::SameType { share })
}

/// The logarithm of the number of edges that the tail has.
pub(super) fn popularity(edges: &VisibleEdges) -> Evidence {
    let edges = edges.clone();
    Evidence {
        kind: EvidenceKind::Popularity,
        values: Values::Tails(Box::new(move |tail| (edges.degree(tail) as f32).ln_1p())),
        reason: Box::new(|_, _, value| {
            let facts = value.exp_m1().round() as usize;
            (facts > 0).then_some(Reason::Popular { facts })
        }),
    }
}

/// Evidence that says how alike a tail and those of the support are.
fn alike(
    kind: EvidenceKind,
    share: impl Fn(EntityId) -> f32 + Send + Sync + 'static,
    reason: fn(f32) -> Reason,
) -> Evidence {
    Evidence {
        kind,
        values: Values::Tails(Box::new(share)),
        reason: Box::new(move |_, _, share| (share > 0.0).then(|| reason(share))),
    }
}
