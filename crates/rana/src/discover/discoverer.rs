//! [`Discoverer`]: the new facts of a relation by its rules.

use std::cell::Cell;
use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use rana_graph::{EntityId, Graph, Pair, RelationId, Split, Store};
use rana_models::paths::{EdgeIndex, VisibleEdges};

use super::rule::{Rule, RuleBody};
use super::rule_miner::RuleMiner;
use crate::predictor::Predictor;

/// How much is looked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DiscoverLimits {
    /// At most so many new facts of each relation.
    pub top: usize,
    /// None that is less sure.
    pub min_confidence: f32,
    /// At most so many pairs are looked at for each relation.
    pub work: usize,
}

impl Default for DiscoverLimits {
    fn default() -> Self {
        Self { top: 10_000, min_confidence: 0.1, work: 3_000_000 }
    }
}

/// A new fact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Discovered {
    /// Head and tail.
    pub pair: Pair,
    /// The share of known facts among the pairs that the best rule leads to.
    pub confidence: f32,
    /// The same of the next best rules, which decide between equal ones.
    pub next: [f32; 2],
    /// The best rule.
    pub rule: Rule,
}

impl Discovered {
    /// The order of a list: the surest first, and always the same.
    #[must_use]
    pub fn order(&self, other: &Self) -> Ordering {
        let strength = |of: &Self| [of.confidence, of.next[0], of.next[1]];
        let by_strength = falling(strength(self), strength(other));
        let ids = |of: &Self| (of.pair.head, of.pair.tail);
        by_strength.then(ids(self).cmp(&ids(other)))
    }
}

/// The order of lists of numbers, the largest first.
pub(super) fn falling(one: [f32; 3], other: [f32; 3]) -> Ordering {
    let by_number = one.iter().zip(&other).map(|(one, other)| other.total_cmp(one));
    by_number.fold(Ordering::Equal, Ordering::then)
}

/// Finds new facts of the relations of a graph.
pub struct Discoverer {
    graph: Graph,
    edges: VisibleEdges,
    facts: rana_graph::Lists<Pair>,
}

impl Discoverer {
    /// A discoverer of a predictor's graph.
    #[must_use]
    pub fn new(predictor: &Predictor) -> Self {
        let edges = match &predictor.run().opened.edges {
            Some(edges) => Arc::clone(edges),
            None => Arc::new(EdgeIndex::background(predictor.graph())),
        };
        Self::with(predictor.store(), &edges)
    }

    /// A discoverer of a graph that nothing was learned from.
    #[must_use]
    pub fn of_store(store: &Store) -> Self {
        Self::with(store, &Arc::new(EdgeIndex::with_train_tasks(&store.graph, &store.tasks)))
    }

    fn with(store: &Store, edges: &Arc<EdgeIndex>) -> Self {
        let graph = store.graph.clone();
        let of_graph = graph
            .facts()
            .iter()
            .map(|fact| (fact.relation.number(), Pair { head: fact.head, tail: fact.tail }));
        let tasks = store.tasks.of(Split::Train);
        let of_tasks =
            tasks.flat_map(|task| task.facts.iter().map(move |&pair| (task.relation.number(), pair)));
        let all: Vec<(usize, Pair)> = of_graph.chain(of_tasks).collect();
        let facts = rana_graph::Lists::group(graph.named_relation_count(), all.iter().copied());
        let edges = VisibleEdges::without(edges, None);
        Self { graph, edges, facts }
    }

    /// The graph.
    #[must_use]
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The relations that have facts, in the order of their ids. What things are is not discovered.
    #[must_use]
    pub fn relations(&self) -> Vec<RelationId> {
        let named = (0..self.graph.named_relation_count() as u32).map(RelationId::forward);
        let types = self.graph.type_relations();
        named.filter(|of| !types.contains(of) && !self.facts.get(of.number()).is_empty()).collect()
    }

    /// Prepares what all relations share.
    pub(super) fn miner(&self) -> RuleMiner<'_> {
        RuleMiner::new(&self.graph, &self.edges)
    }

    /// The best new facts of a relation, the surest first.
    #[must_use]
    pub fn discover(&self, relation: RelationId, limits: &DiscoverLimits) -> Vec<Discovered> {
        self.discover_with(&self.miner(), relation, limits)
    }

    pub(super) fn discover_with(
        &self,
        miner: &RuleMiner<'_>,
        relation: RelationId,
        limits: &DiscoverLimits,
    ) -> Vec<Discovered> {
        let facts = self.facts.get(relation.number());
        let known: HashSet<Pair> = facts.iter().copied().collect();
        let joins_itself = facts.iter().any(|pair| pair.head == pair.tail);
        let rules = miner.rules(relation, facts, limits.min_confidence);
        let mut found: HashMap<Pair, Discovered> = HashMap::new();
        let work = Cell::new(0);
        for rule in rules {
            let confidence = rule.precision();
            let mut take = |head: EntityId, tail: EntityId| {
                work.set(work.get() + 1);
                let pair = Pair { head, tail };
                if known.contains(&pair) || (head == tail && !joins_itself) {
                    return;
                }
                let new = Discovered { pair, confidence, next: [0.0; 2], rule };
                let of = found.entry(pair).or_insert(new);
                // Rules come with the surest first, and each leads to a pair once.
                if of.rule.body != rule.body {
                    let next = of.next.iter_mut().find(|next| **next == 0.0);
                    next.into_iter().for_each(|next| *next = confidence);
                }
            };
            match rule.body {
                RuleBody::HeadHas { tail, .. } => {
                    miner.having_edge(rule.body).iter().for_each(|edge| take(edge.entity, tail));
                }
                RuleBody::TailHas { head, .. } => {
                    miner.having_edge(rule.body).iter().for_each(|edge| take(head, edge.entity));
                }
                RuleBody::One(_) | RuleBody::Two(_) => {
                    for &head in miner.heads(rule.body) {
                        miner.tails(rule.body, head).into_iter().for_each(|tail| take(head, tail));
                        if work.get() >= limits.work {
                            break;
                        }
                    }
                }
            }
            if work.get() >= limits.work {
                break;
            }
        }
        let mut found: Vec<Discovered> = found.into_values().collect();
        found.sort_unstable_by(Discovered::order);
        found.truncate(limits.top);
        found
    }
}
