//! Evidence in what joins head and tail: edges and paths that the support has too.

use std::collections::HashMap;

use rana_fewshot::Support;
use rana_graph::{EntityId, RelationId};

use super::evidence::{Evidence, Values};
use super::evidence_kind::EvidenceKind;
use super::reason::Reason;
use crate::combine_by_entity::combine_by_entity;
use crate::paths::{TwoHops, VisibleEdges};

/// One-hop rules: the largest share of the support that one relation joins which also joins the pair.
pub(super) fn rule(edges: &VisibleEdges, support: &Support<'_>) -> Evidence {
    let of = support.pairs.len();
    let mut hits: HashMap<RelationId, usize> = HashMap::new();
    for pair in support.pairs {
        for relation in edges.joining(pair.head, pair.tail) {
            *hits.entry(relation).or_default() += 1;
        }
    }
    let rules: Vec<(RelationId, usize)> = sorted(hits);
    let known = rules.clone();
    let [all, own] = [edges.clone(), edges.clone()];
    let values = move |head: EntityId, hand: &mut dyn FnMut(EntityId, f32)| {
        let mut found = Vec::new();
        for &(relation, hits) in &rules {
            found.extend(all.by(head, relation).iter().map(|edge| (edge.entity, hits as f32 / of as f32)));
        }
        combine_by_entity(found, f32::max, hand);
    };
    let reason = move |head: EntityId, tail: EntityId, _| {
        let joins = |&&(relation, _): &&(RelationId, usize)| {
            own.by(head, relation).iter().any(|edge| edge.entity == tail)
        };
        let best = known.iter().filter(joins).max_by_key(|(_, hits)| *hits);
        best.map(|&(relation, supports)| Reason::Joined { by: vec![relation], supports, of })
    };
    Evidence { kind: EvidenceKind::Rule, values: Values::Few(Box::new(values)), reason: Box::new(reason) }
}

/// The logarithm of the number of edges between the pair.
pub(super) fn edge(edges: &VisibleEdges) -> Evidence {
    let [all, own] = [edges.clone(), edges.clone()];
    let values = move |head: EntityId, hand: &mut dyn FnMut(EntityId, f32)| {
        let found: Vec<(EntityId, f32)> = all.edges(head).map(|edge| (edge.entity, 1.0)).collect();
        combine_by_entity(found, |one, other| one + other, &mut |tail, count| hand(tail, count.ln_1p()));
    };
    let reason = move |head, tail, _| own.joining(head, tail).next().map(|by| Reason::Edge { by });
    Evidence { kind: EvidenceKind::Edge, values: Values::Few(Box::new(values)), reason: Box::new(reason) }
}

/// A map as a list in the order of its keys, which does not change from run to run.
fn sorted<K: Ord, V>(map: HashMap<K, V>) -> Vec<(K, V)> {
    let mut list: Vec<(K, V)> = map.into_iter().collect();
    list.sort_unstable_by(|one, other| one.0.cmp(&other.0));
    list
}

/// How many kinds of paths are followed, the most trusted first.
const MOST_PATHS: usize = 40;
/// What one path alone can prove.
const PATH_TRUST: f32 = 0.9;

/// A kind of path, and how far it is trusted.
#[derive(Clone, Copy)]
struct PathRule {
    by: TwoHops,
    /// How many pairs of the support it joins.
    supports: usize,
    /// How many of the entities that it leads to from heads of the support are their tails, one doubt included.
    precision: f32,
}

/// Two-hop rules: that at least one of the paths between the pair tells the truth, each with its precision on the
/// support.
pub(super) fn path(edges: &VisibleEdges, support: &Support<'_>) -> Evidence {
    let of = support.pairs.len();
    let mut hits: HashMap<TwoHops, usize> = HashMap::new();
    for &pair in support.pairs {
        for by in edges.two_hops(pair) {
            *hits.entry(by).or_default() += 1;
        }
    }
    let mut rules: Vec<PathRule> = sorted(hits)
        .into_iter()
        .map(|(by, supports)| {
            let reached: usize = support.pairs.iter().map(|pair| edges.reached(pair.head, by).len()).sum();
            PathRule { by, supports, precision: supports as f32 / (reached + 1) as f32 }
        })
        .collect();
    let trust = |rule: &PathRule| rule.supports as f32 / of as f32 + rule.precision;
    rules.sort_by(|one, other| trust(other).total_cmp(&trust(one)));
    rules.truncate(MOST_PATHS);
    let known = rules.clone();
    let [all, own] = [edges.clone(), edges.clone()];
    let values = move |head: EntityId, hand: &mut dyn FnMut(EntityId, f32)| {
        let mut found = Vec::new();
        for rule in &rules {
            let doubt = 1.0 - PATH_TRUST * rule.precision;
            found.extend(all.reached(head, rule.by).into_iter().map(|tail| (tail, doubt)));
        }
        combine_by_entity(found, |one, other| one * other, &mut |tail, doubt| hand(tail, 1.0 - doubt));
    };
    let reason = move |head: EntityId, tail: EntityId, _| {
        let rule = known.iter().find(|rule| own.reached(head, rule.by).binary_search(&tail).is_ok());
        rule.map(|rule| Reason::Joined { by: rule.by.to_vec(), supports: rule.supports, of })
    };
    Evidence { kind: EvidenceKind::Path, values: Values::Few(Box::new(values)), reason: Box::new(reason) }
}
