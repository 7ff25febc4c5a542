//! [`Baseline`]: a training-free ranking from the support and the graph alone.
//!
//! Baselines have no parameters and see nothing but the support, the background facts and the degrees,
//! so whatever a model reaches should be read beside them.

use std::collections::HashMap;
use std::sync::Arc;

use rana_fewshot::{AdaptedRelation, CandidatePlaces, FewShotModel, Support, SupportError};
use rana_graph::{EntityId, Graph, RelationId};
use serde::Serialize;

use crate::paths::{EdgeIndex, VisibleEdges};

/// What tails are ranked by; where there are several criteria, each decides the ties of those before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BaselineKind {
    /// How many background facts the tail takes part in.
    Popularity,
    /// How often the tail is a tail of the support.
    Copy,
    /// How many background facts join head and tail, in either direction.
    Adjacency,
    /// One-hop rules: how many pairs of the support are joined by a background relation that also
    /// joins head and tail, at best; then copy, adjacency and popularity.
    Rules,
}

rana_graph::named!(BaselineKind, "baseline", {
    Popularity => "popularity",
    Copy => "copy",
    Adjacency => "adjacency",
    Rules => "rules",
});

/// A training-free baseline on a graph.
#[derive(Clone, Debug)]
pub struct Baseline {
    kind: BaselineKind,
    graph: Graph,
    edges: Arc<EdgeIndex>,
    popularity: Arc<[u16]>,
}

/// Scores are whole numbers below 2²⁴, which an `f32` holds exactly: twelve bits of popularity under
/// three counts of four bits, which stop at 15.
const POPULARITY_CLASSES: usize = 1 << 12;
const COUNT: u32 = 1 << 4;

impl Baseline {
    /// The baseline on the background facts of a graph.
    #[must_use]
    pub fn new(kind: BaselineKind, graph: &Graph) -> Self {
        let edges = Arc::new(EdgeIndex::facts(graph));
        Self { kind, graph: graph.clone(), edges, popularity: popularity_classes(graph) }
    }

    /// All baselines on a graph, which share what they know of it.
    #[must_use]
    pub fn all(graph: &Graph) -> Vec<Self> {
        let popularity = popularity_classes(graph);
        let edges = Arc::new(EdgeIndex::facts(graph));
        BaselineKind::ALL
            .iter()
            .map(|&kind| Self {
                kind,
                graph: graph.clone(),
                edges: Arc::clone(&edges),
                popularity: Arc::clone(&popularity),
            })
            .collect()
    }

    /// The kind of baseline.
    #[must_use]
    pub fn kind(&self) -> BaselineKind {
        self.kind
    }
}

/// For each entity how many lower degrees there are; with very many degrees, adjacent degrees share a class.
fn popularity_classes(graph: &Graph) -> Arc<[u16]> {
    let degrees: Vec<usize> = graph.entities().map(|entity| graph.degree(entity)).collect();
    let mut distinct = degrees.clone();
    distinct.sort_unstable();
    distinct.dedup();
    let shared_by = distinct.len().div_ceil(POPULARITY_CLASSES).max(1);
    let class = |degree: &usize| (distinct.partition_point(|other| other < degree) / shared_by) as u16;
    degrees.iter().map(class).collect()
}

impl FewShotModel for Baseline {
    fn adapt(&self, support: &Support<'_>) -> Result<Box<dyn AdaptedRelation>, SupportError> {
        let mut copies: HashMap<EntityId, u32> = HashMap::new();
        let mut rules: HashMap<RelationId, u32> = HashMap::new();
        let edges = VisibleEdges::without(&self.edges, support.relation);
        for pair in support.pairs {
            *copies.entry(pair.tail).or_default() += 1;
            for relation in edges.joining(pair.head, pair.tail) {
                *rules.entry(relation).or_default() += 1;
            }
        }
        Ok(Box::new(Adapted { baseline: self.clone(), copies, rules }))
    }
}

/// The counts of a support.
struct Adapted {
    baseline: Baseline,
    /// How often each entity is a tail of the support.
    copies: HashMap<EntityId, u32>,
    /// How many pairs of the support each background relation joins.
    rules: HashMap<RelationId, u32>,
}

/// How a head is joined to another entity.
#[derive(Clone, Copy, Default)]
struct Joined {
    facts: u32,
    /// The best rule among these facts.
    rule: u32,
}

impl Adapted {
    /// The entities that a head shares a background fact with.
    fn joined(&self, head: EntityId) -> HashMap<EntityId, Joined> {
        let mut joined: HashMap<EntityId, Joined> = HashMap::new();
        for edge in self.baseline.graph.neighbours(head) {
            let joined = joined.entry(edge.entity).or_default();
            joined.facts += 1;
            joined.rule = joined.rule.max(self.rules.get(&edge.relation).copied().unwrap_or(0));
        }
        joined
    }

    /// The score of a candidate that is joined to the head like this.
    fn score(&self, candidate: EntityId, Joined { facts, rule }: Joined) -> f32 {
        let digit = |count: u32| count.min(COUNT - 1);
        let copies = || self.copies.get(&candidate).copied().unwrap_or(0);
        let popularity = || u32::from(self.baseline.popularity[candidate.index()]);
        let score = match self.baseline.kind {
            BaselineKind::Popularity => popularity(),
            BaselineKind::Copy => copies(),
            BaselineKind::Adjacency => facts,
            BaselineKind::Rules => {
                let counts = (digit(rule) * COUNT + digit(copies())) * COUNT + digit(facts);
                counts * POPULARITY_CLASSES as u32 + popularity()
            }
        };
        score as f32
    }
}

impl AdaptedRelation for Adapted {
    fn scores(&self, heads: &[EntityId], candidates: &[EntityId], out: &mut [f32]) {
        // Scores all candidates as if not joined to the head, then scores the few that are joined again, per head.
        let apart: Vec<f32> = candidates.iter().map(|&of| self.score(of, Joined::default())).collect();
        let places = CandidatePlaces::new(candidates);
        for (&head, out) in heads.iter().zip(out.chunks_exact_mut(candidates.len())) {
            out.copy_from_slice(&apart);
            if matches!(self.baseline.kind, BaselineKind::Popularity | BaselineKind::Copy) {
                continue;
            }
            for (entity, joined) in self.joined(head) {
                let score = self.score(entity, joined);
                places.of(candidates, entity).for_each(|place| out[place] = score);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rana_graph::{Duplicates, GraphBuilder, Pair};

    #[test]
    fn each_looks_at_what_it_says() {
        let mut builder = GraphBuilder::new(Duplicates::Remove);
        for (head, relation, tail) in [
            ("anna", "works_at", "acme"),
            ("bert", "works_at", "bolt"),
            ("carl", "works_at", "core"),
            ("carl", "lives_in", "cork"),
            ("cork", "home_of", "carl"),
            ("dora", "likes", "carl"),
        ] {
            builder.add_named(head, relation, tail);
        }
        let graph = builder.finish();
        let id = |name: &str| graph.entity(name).unwrap();
        let pair = |head, tail| Pair { head: id(head), tail: id(tail) };
        // The unseen relation is where people work.
        let support = [pair("anna", "acme"), pair("bert", "bolt"), pair("dora", "acme")];
        let candidates = ["acme", "bolt", "core", "cork", "dora"];
        let ids: Vec<EntityId> = candidates.iter().map(|name| id(name)).collect();
        let scores = |kind: BaselineKind| {
            let baseline = Baseline::new(kind, &graph);
            let mut scores = [0.0; 5];
            baseline
                .adapt(&Support { relation: None, pairs: &support, candidates: &ids, rejected: &[], seed: 0 })
                .unwrap()
                .scores(&[id("carl")], &ids, &mut scores);
            scores
        };
        assert_eq!(scores(BaselineKind::Copy), [2.0, 1.0, 0.0, 0.0, 0.0]);
        assert_eq!(scores(BaselineKind::Adjacency), [0.0, 0.0, 1.0, 2.0, 1.0]);
        // Degrees are 1, 1, 1, 2 and 1.
        assert_eq!(scores(BaselineKind::Popularity), [0.0, 0.0, 0.0, 1.0, 0.0]);
        // The order of the candidates and duplicates make no difference.
        let twice: Vec<EntityId> = ids.iter().rev().chain(&ids).copied().collect();
        for kind in BaselineKind::ALL {
            let baseline = Baseline::new(*kind, &graph);
            let mut both = [0.0; 10];
            let adapted = baseline
                .adapt(&Support { relation: None, pairs: &support, candidates: &ids, rejected: &[], seed: 0 })
                .unwrap();
            adapted.scores(&[id("carl")], &twice, &mut both);
            assert_eq!(both[5..], scores(*kind));
            both[..5].reverse();
            assert_eq!(both[..5], scores(*kind));
        }
        let rules = scores(BaselineKind::Rules);
        let mut order: Vec<usize> = (0..5).collect();
        order.sort_by(|&a, &b| rules[b].total_cmp(&rules[a]));
        let order: Vec<&str> = order.into_iter().map(|at| candidates[at]).collect();
        assert_eq!(order, ["core", "acme", "bolt", "cork", "dora"]);
    }
}
