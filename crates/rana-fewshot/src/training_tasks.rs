//! [`TrainingTasks`]: the meta-training tasks under a data mode.

use std::borrow::Cow;

use rana_graph::{EntityId, Graph, Pair, RelationId, Split, Task, TaskSet, TaskSetBuilder};
use rayon::prelude::*;

use crate::candidates::{CandidateBuilder, CandidateConfig};
use crate::data_mode::DataMode;
use crate::fold::{Fold, tasks_without};

/// The meta-training tasks under a data mode: the train tasks, then the background relations
/// where the mode makes tasks of them.
#[derive(Clone, Debug)]
pub struct TrainingTasks<'t> {
    tasks: Cow<'t, TaskSet>,
    train_tasks: usize,
    background: TaskSet,
}

impl<'t> TrainingTasks<'t> {
    /// Gathers the tasks of a mode, without those of a fold; `candidates` says how a background
    /// relation gets its own.
    #[must_use]
    pub fn new(
        graph: &Graph,
        tasks: &'t TaskSet,
        fold: Option<Fold>,
        mode: DataMode,
        candidates: CandidateConfig,
    ) -> Self {
        let tasks = tasks_without(fold, tasks);
        let background = if mode.uses_background_tasks() {
            background_tasks(graph, candidates)
        } else {
            TaskSet::default()
        };
        Self { train_tasks: tasks.of(Split::Train).count(), tasks, background }
    }

    /// The benchmark's tasks: those of a fold have the tasks left out as their dev split.
    #[must_use]
    pub fn benchmark(&self) -> &TaskSet {
        &self.tasks
    }

    /// How many tasks there are to train on.
    #[must_use]
    pub fn len(&self) -> usize {
        self.train_tasks + self.background.len()
    }

    /// Whether there is no task.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The task at `index`: the train tasks in file order, then background relations by number.
    ///
    /// # Panics
    /// If `index` is not below [`len`](Self::len).
    #[must_use]
    pub fn get(&self, index: usize) -> Task<'_> {
        // A task set keeps its train tasks first.
        match index.checked_sub(self.train_tasks) {
            None => self.tasks.get(index),
            Some(index) => self.background.get(index),
        }
    }

    /// All tasks in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Task<'_>> + '_ {
        (0..self.len()).map(|index| self.get(index))
    }

    /// The filter: every tail known to answer `(head, relation, ?)`, ascending; empty if none is.
    ///
    /// For a background task these are the tails of its own facts.
    #[must_use]
    pub fn known_tails(&self, head: EntityId, relation: RelationId) -> &[EntityId] {
        match self.background.known_tails(head, relation) {
            [] => self.tasks.known_tails(head, relation),
            tails => tails,
        }
    }
}

/// Every background relation as a train task, with a filter from its own facts.
fn background_tasks(graph: &Graph, config: CandidateConfig) -> TaskSet {
    let facts = graph.facts_by_relation();
    let candidates = CandidateBuilder::new(graph, config);
    let relations: Vec<RelationId> = graph.relations().collect();
    let tails = |relation: RelationId| facts.get(relation.number()).iter().map(|fact| fact.tail);
    let found: Vec<Vec<EntityId>> =
        relations.par_iter().map(|&relation| candidates.candidates(relation, tails(relation))).collect();
    let mut builder = TaskSetBuilder::default();
    for (relation, candidates) in relations.into_iter().zip(found) {
        let pair = |fact: &rana_graph::Fact| Pair { head: fact.head, tail: fact.tail };
        builder.add_task(Split::Train, relation, facts.get(relation.number()).iter().map(pair).collect());
        builder.add_candidates(relation, candidates);
    }
    builder.filter_from_tasks();
    builder.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rana_graph::{Duplicates, GraphBuilder};

    #[test]
    fn background_relations_become_tasks_behind_the_train_tasks() {
        let mut builder = GraphBuilder::new(Duplicates::Remove);
        builder.add_named("a", "r", "b");
        builder.add_named("a", "r", "c");
        builder.add_named("b", "s", "c");
        builder.add_task_relation("t").unwrap();
        let graph = builder.finish();
        let (a, b, c) = (EntityId(0), EntityId(1), EntityId(2));
        let (r, t) = (graph.relation("r").unwrap(), graph.relation("t").unwrap());
        let mut builder = TaskSetBuilder::default();
        builder.add_task(Split::Test, t, vec![Pair { head: c, tail: a }]);
        builder.add_task(Split::Train, t, vec![Pair { head: b, tail: a }]);
        builder.filter_from_tasks();
        let tasks = builder.finish();

        let alone = TrainingTasks::new(&graph, &tasks, None, DataMode::Pretrain, CandidateConfig::default());
        assert_eq!(alone.iter().map(|task| task.relation).collect::<Vec<_>>(), [t]);
        assert_eq!(alone.known_tails(a, r), []);

        let all = TrainingTasks::new(&graph, &tasks, None, DataMode::InTrain, CandidateConfig::default());
        assert_eq!(all.len(), 3);
        assert_eq!(all.get(1).facts, [Pair { head: a, tail: b }, Pair { head: a, tail: c }]);
        assert_eq!(all.get(1).candidates, [b, c]);
        assert_eq!(all.known_tails(a, r), [b, c]);
        assert_eq!(all.known_tails(b, t), [a]);
        assert!(all.iter().all(|task| task.split == Split::Train));
    }
}
