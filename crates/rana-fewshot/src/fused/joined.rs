//! Evidence in what joins head and tail: edges and paths that the support has too.

use std::collections::HashMap;

use rana_graph::{EntityId, Pair, RelationId};

use super::edges::Sight;
use super::evidence::{Evidence, EvidenceKind, Reason, Values};
use crate::model::Support;

/// One-hop rules: the largest share of the support that one relation joins which also joins the pair.
pub(super) fn rule<'a>(sight: Sight<'a>, support: &Support<'_>) -> Evidence<'a> {
    let of = support.pairs.len();
    let mut hits: HashMap<RelationId, usize> = HashMap::new();
    for pair in support.pairs {
        for relation in sight.joining(pair.head, pair.tail) {
            *hits.entry(relation).or_default() += 1;
        }
    }
    let rules: Vec<(RelationId, usize)> = sorted(hits);
    let known = rules.clone();
    let values = move |head: EntityId, hand: &mut dyn FnMut(EntityId, f32)| {
        let mut found = Vec::new();
        for &(relation, hits) in &rules {
            found.extend(sight.by(head, relation).iter().map(|edge| (edge.entity, hits as f32 / of as f32)));
        }
        each_once(found, f32::max, hand);
    };
    let reason = move |head: EntityId, tail: EntityId, _| {
        let joins = |&&(relation, _): &&(RelationId, usize)| {
            sight.by(head, relation).iter().any(|edge| edge.entity == tail)
        };
        let best = known.iter().filter(joins).max_by_key(|(_, hits)| *hits);
        best.map(|&(relation, supports)| Reason::Joined { by: vec![relation], supports, of })
    };
    Evidence { kind: EvidenceKind::Rule, values: Values::Few(Box::new(values)), reason: Box::new(reason) }
}

/// The logarithm of the number of edges between the pair.
pub(super) fn edge(sight: Sight<'_>) -> Evidence<'_> {
    let values = move |head: EntityId, hand: &mut dyn FnMut(EntityId, f32)| {
        let found: Vec<(EntityId, f32)> = sight.edges(head).map(|edge| (edge.entity, 1.0)).collect();
        each_once(found, |one, other| one + other, &mut |tail, count| hand(tail, count.ln_1p()));
    };
    let reason = move |head, tail, _| sight.joining(head, tail).next().map(|by| Reason::Edge { by });
    Evidence { kind: EvidenceKind::Edge, values: Values::Few(Box::new(values)), reason: Box::new(reason) }
}

/// Hands over each tail once, with its values combined.
pub(super) fn each_once(
    mut found: Vec<(EntityId, f32)>,
    combine: impl Fn(f32, f32) -> f32,
    hand: &mut dyn FnMut(EntityId, f32),
) {
    // Stable, so that values are always combined in the same order.
    found.sort_by_key(|&(tail, _)| tail);
    for same in found.chunk_by(|one, other| one.0 == other.0) {
        let value = same.iter().map(|&(_, value)| value).reduce(&combine).unwrap_or(0.0);
        hand(same[0].0, value);
    }
}

/// A map as a list in the order of its keys, which does not change from run to run.
fn sorted<K: Ord, V>(map: HashMap<K, V>) -> Vec<(K, V)> {
    let mut list: Vec<(K, V)> = map.into_iter().collect();
    list.sort_unstable_by(|one, other| one.0.cmp(&other.0));
    list
}

/// Two relations, one behind the other.
type TwoHops = [RelationId; 2];

/// How many kinds of paths are followed, the most trusted first.
const MOST_PATHS: usize = 40;
/// Beyond so many edges the first hop is cut off, and the second not taken.
const MOST_FIRST: usize = 200;
const MOST_SECOND: usize = 2000;
/// Edges of an entity that are looked at for paths between the pairs of a support.
const MOST_EDGES: usize = 1000;
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
pub(super) fn path<'a>(sight: Sight<'a>, support: &Support<'_>) -> Evidence<'a> {
    let of = support.pairs.len();
    let mut hits: HashMap<TwoHops, usize> = HashMap::new();
    for &pair in support.pairs {
        for by in paths_between(sight, pair) {
            *hits.entry(by).or_default() += 1;
        }
    }
    let mut rules: Vec<PathRule> = sorted(hits)
        .into_iter()
        .map(|(by, supports)| {
            let reached: usize = support.pairs.iter().map(|pair| walk(sight, pair.head, by).len()).sum();
            PathRule { by, supports, precision: supports as f32 / (reached + 1) as f32 }
        })
        .collect();
    let trust = |rule: &PathRule| rule.supports as f32 / of as f32 + rule.precision;
    rules.sort_by(|one, other| trust(other).total_cmp(&trust(one)));
    rules.truncate(MOST_PATHS);
    let known = rules.clone();
    let values = move |head: EntityId, hand: &mut dyn FnMut(EntityId, f32)| {
        let mut found = Vec::new();
        for rule in &rules {
            let doubt = 1.0 - PATH_TRUST * rule.precision;
            found.extend(walk(sight, head, rule.by).into_iter().map(|tail| (tail, doubt)));
        }
        each_once(found, |one, other| one * other, &mut |tail, doubt| hand(tail, 1.0 - doubt));
    };
    let reason = move |head: EntityId, tail: EntityId, _| {
        let rule = known.iter().find(|rule| walk(sight, head, rule.by).binary_search(&tail).is_ok());
        rule.map(|rule| Reason::Joined { by: rule.by.to_vec(), supports: rule.supports, of })
    };
    Evidence { kind: EvidenceKind::Path, values: Values::Few(Box::new(values)), reason: Box::new(reason) }
}

/// The kinds of paths between a pair, over a third entity, each once.
fn paths_between(sight: Sight<'_>, pair: Pair) -> Vec<TwoHops> {
    let mut into: Vec<(EntityId, RelationId)> =
        sight.edges(pair.tail).take(MOST_EDGES).map(|edge| (edge.entity, edge.relation.inverse())).collect();
    into.sort_unstable();
    let mut found = Vec::new();
    for first in sight.edges(pair.head).take(MOST_EDGES) {
        if first.entity == pair.tail || first.entity == pair.head {
            continue;
        }
        let start = into.partition_point(|&(middle, _)| middle < first.entity);
        let second = into[start..].iter().take_while(|&&(middle, _)| middle == first.entity);
        found.extend(second.map(|&(_, second)| [first.relation, second]));
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// The entities that two relations lead to, ascending.
fn walk(sight: Sight<'_>, head: EntityId, [first, second]: TwoHops) -> Vec<EntityId> {
    let mut reached = Vec::new();
    for middle in sight.by(head, first).iter().take(MOST_FIRST).map(|edge| edge.entity) {
        let edges = sight.by(middle, second);
        if middle != head && edges.len() <= MOST_SECOND {
            reached.extend(edges.iter().map(|edge| edge.entity).filter(|&tail| tail != head));
        }
    }
    reached.sort_unstable();
    reached.dedup();
    reached
}
