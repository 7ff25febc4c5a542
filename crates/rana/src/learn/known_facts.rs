//! [`KnownFacts`]: every fact that may be learned from.

use rana_graph::{Fact, Lists, RelationId, Split, Store};

/// The facts of a graph and of its train tasks. Facts of dev and test tasks are left to the evaluation.
pub(super) struct KnownFacts {
    /// All facts, those of the graph first.
    pub(super) facts: Vec<Fact>,
    by_relation: Lists<Fact>,
    train_tasks: Vec<RelationId>,
}

impl KnownFacts {
    pub(super) fn new(store: &Store) -> Self {
        let mut facts = store.graph.facts().to_vec();
        let mut train_tasks = Vec::new();
        for task in store.tasks.of(Split::Train) {
            let relation = task.relation;
            facts.extend(task.facts.iter().map(|pair| Fact { head: pair.head, relation, tail: pair.tail }));
            train_tasks.push(relation);
        }
        let numbered = facts.iter().map(|&fact| (fact.relation.number(), fact));
        let by_relation = Lists::group(store.graph.named_relation_count(), numbered);
        Self { facts, by_relation, train_tasks }
    }

    /// The facts of one relation.
    pub(super) fn of(&self, relation: RelationId) -> &[Fact] {
        self.by_relation.get(relation.number())
    }

    /// The relations of the train tasks.
    pub(super) fn train_tasks(&self) -> &[RelationId] {
        &self.train_tasks
    }

    /// All facts but those of some relations.
    pub(super) fn without(&self, relations: &[RelationId]) -> Vec<Fact> {
        self.facts.iter().filter(|fact| !relations.contains(&fact.relation)).copied().collect()
    }
}
