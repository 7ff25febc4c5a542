//! [`TrainingData`]: the facts a model is trained on.

use std::borrow::Cow;

use rana_graph::{Fact, Graph};
use rand::seq::SliceRandom;

use super::error::TrainError;
use crate::fixed_rows::FixedRows;
use crate::seed::{Purpose, rng};

/// What a model is trained on: the facts of a graph, others over its entities, and rows that are known already.
#[derive(Clone, Debug)]
pub struct TrainingData<'g> {
    graph: &'g Graph,
    facts: Cow<'g, [Fact]>,
    /// The number of facts of the graph itself, which come first.
    background: usize,
    relation_count: usize,
    fixed: FixedRows,
}

impl<'g> TrainingData<'g> {
    /// The background facts of a graph.
    #[must_use]
    pub fn new(graph: &'g Graph) -> Self {
        let facts = Cow::Borrowed(graph.facts());
        Self {
            graph,
            background: facts.len(),
            facts,
            relation_count: graph.relation_count(),
            fixed: FixedRows::default(),
        }
    }

    /// Some facts over the entities and relations of a graph, such as a part of its own.
    ///
    /// # Errors
    /// If a fact names an entity or a relation out of range, or an inverse relation.
    pub fn of_facts(graph: &'g Graph, facts: &[Fact]) -> Result<Self, TrainError> {
        let none = Self { facts: Cow::Borrowed(&[]), background: 0, relation_count: 0, ..Self::new(graph) };
        let all = none.with_facts(facts, graph.named_relation_count())?;
        Ok(Self { background: all.facts.len(), ..all })
    }

    /// Adds facts of the graph's entities, such as those of tasks; `relation_count` counts all
    /// relations that get a row, those of the background included.
    ///
    /// # Errors
    /// If an entity or a relation of a fact is out of range, or the relation is an inverse.
    pub fn with_facts(mut self, facts: &[Fact], relation_count: usize) -> Result<Self, TrainError> {
        let entities = self.graph.entity_count();
        let relation_count = relation_count.max(self.relation_count);
        let is_good = |fact: &Fact| {
            fact.head.index().max(fact.tail.index()) < entities
                && fact.relation.number() < relation_count
                && !fact.relation.is_inverse()
        };
        if let Some(&fact) = facts.iter().find(|fact| !is_good(fact)) {
            return Err(TrainError::FactOutOfRange { fact, entities, relations: relation_count });
        }
        self.facts.to_mut().extend_from_slice(facts);
        self.relation_count = relation_count;
        Ok(self)
    }

    /// Holds rows fixed that are known already.
    #[must_use]
    pub fn with_fixed_rows(self, fixed: FixedRows) -> Self {
        Self { fixed, ..self }
    }

    /// Removes up to `count` facts of the graph at random for validation.
    ///
    /// Every entity and relation keeps at least one fact. Facts that were added are never removed: a support of five
    /// must stay complete.
    pub fn hold_out(&mut self, count: usize, seed: u64) -> Vec<Fact> {
        let mut entity_facts = vec![0u32; self.graph.entity_count()];
        let mut relation_facts = vec![0u32; self.relation_count];
        for fact in self.facts.iter() {
            entity_facts[fact.head.index()] += 1;
            entity_facts[fact.tail.index()] += 1;
            relation_facts[fact.relation.number()] += 1;
        }
        let mut order: Vec<u32> = (0..self.facts.len() as u32).collect();
        order.shuffle(&mut rng(seed, Purpose::HoldOut, [0, 0]));
        let mut is_held = vec![false; self.facts.len()];
        let mut held = Vec::new();
        for at in order {
            if held.len() == count {
                break;
            }
            let fact = self.facts[at as usize];
            let (head, tail, relation) = (fact.head.index(), fact.tail.index(), fact.relation.number());
            let needed = if head == tail { 3 } else { 2 };
            let has_others =
                entity_facts[head] >= needed && entity_facts[tail] >= needed && relation_facts[relation] >= 2;
            if has_others && (at as usize) < self.background {
                entity_facts[head] -= 1;
                entity_facts[tail] -= 1;
                relation_facts[relation] -= 1;
                is_held[at as usize] = true;
                held.push(fact);
            }
        }
        self.background -= held.len();
        let mut at = 0;
        self.facts.to_mut().retain(|_| {
            at += 1;
            !is_held[at - 1]
        });
        held
    }

    /// The graph of these facts.
    #[must_use]
    pub fn graph(&self) -> &'g Graph {
        self.graph
    }

    /// All facts, in a fixed order.
    #[must_use]
    pub fn facts(&self) -> &[Fact] {
        &self.facts
    }

    /// The number of relations that get a row, without inverses.
    #[must_use]
    pub fn relation_count(&self) -> usize {
        self.relation_count
    }

    /// The rows that do not learn.
    #[must_use]
    pub fn fixed_rows(&self) -> &FixedRows {
        &self.fixed
    }

    /// A number that tells these facts and fixed rows from others.
    #[must_use]
    pub fn fingerprint(&self) -> u64 {
        xxhash_rust::xxh3::xxh3_64(bytemuck::cast_slice(&self.facts)) ^ self.fixed.fingerprint()
    }
}
