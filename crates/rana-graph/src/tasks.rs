//! [`TaskSet`]: the data of the few-shot tasks of a graph.
//!
//! Splitting, sampling and training are done in later crates. The data is here because a graph and its
//! tasks are stored together, so that both are replaced at once, and because the benchmark's release
//! format holds both.

use std::collections::HashSet;

use bytemuck::{Pod, Zeroable};

use crate::array::Array;
use crate::fact::{Fact, Pair};
use crate::id::{EntityId, RelationId};
use crate::lists::Lists;
use crate::split::Split;

/// A head and a relation: the key under which the filter lists known tails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Pod, Zeroable)]
#[repr(C)]
pub struct HeadRelation {
    /// The head.
    pub head: EntityId,
    /// The forward relation.
    pub relation: RelationId,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct TaskRecord {
    pub(crate) relation: RelationId,
    pub(crate) split: u32,
}

/// One few-shot relation: its facts and the candidate tails of its queries.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Task<'a> {
    /// The relation, forwards.
    pub relation: RelationId,
    /// The part of the benchmark it belongs to.
    pub split: Split,
    /// Its facts in file order; the first K are the official support of a dev or test task.
    pub facts: &'a [Pair],
    /// The entities among which its queries are ranked, in file order.
    pub candidates: &'a [EntityId],
}

/// The few-shot tasks of a graph, their candidates, and the filter of known tails.
///
/// A clone shares the arrays of the original and takes constant time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TaskSet {
    pub(crate) tasks: Array<TaskRecord>,
    pub(crate) facts: Lists<Pair>,
    /// Relations with candidates, ascending; a superset of the tasks' relations.
    pub(crate) candidate_relations: Array<RelationId>,
    pub(crate) candidates: Lists<EntityId>,
    /// The keys of the filter, ascending; entry `i` belongs to list `i` of `known_tails`.
    pub(crate) filter_keys: Array<HeadRelation>,
    /// The known tails of each key, ascending.
    pub(crate) known_tails: Lists<EntityId>,
}

impl TaskSet {
    /// How many tasks there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tasks.len()
    }

    /// Whether there is no task.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }

    /// The task at `index`: train tasks first, then dev, then test, each in file order.
    ///
    /// # Panics
    /// If `index` is not below [`len`](Self::len).
    #[must_use]
    pub fn get(&self, index: usize) -> Task<'_> {
        let record = self.tasks[index];
        Task {
            relation: record.relation,
            // Opening a store fails on other codes, and the builder never makes them.
            split: Split::from_code(record.split).unwrap_or(Split::Test),
            facts: self.facts.get(index),
            candidates: self.candidates(record.relation).unwrap_or(&[]),
        }
    }

    /// All tasks in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Task<'_>> + '_ {
        (0..self.len()).map(|index| self.get(index))
    }

    /// The tasks of one split, in file order.
    pub fn of(&self, split: Split) -> impl Iterator<Item = Task<'_>> + '_ {
        self.iter().filter(move |task| task.split == split)
    }

    /// The task of a relation.
    #[must_use]
    pub fn task(&self, relation: RelationId) -> Option<Task<'_>> {
        self.iter().find(|task| task.relation == relation)
    }

    /// The candidate tails of a relation, if it has any listed.
    #[must_use]
    pub fn candidates(&self, relation: RelationId) -> Option<&[EntityId]> {
        let at = self.candidate_relations.binary_search(&relation).ok()?;
        Some(self.candidates.get(at))
    }

    /// The relations that have candidates listed, ascending.
    #[must_use]
    pub fn candidate_relations(&self) -> &[RelationId] {
        &self.candidate_relations
    }

    /// The filter: every tail known to answer `(head, relation, ?)`, ascending; empty if none is.
    #[must_use]
    pub fn known_tails(&self, head: EntityId, relation: RelationId) -> &[EntityId] {
        match self.filter_keys.binary_search(&HeadRelation { head, relation }) {
            Ok(at) => self.known_tails.get(at),
            Err(_) => &[],
        }
    }

    /// All keys of the filter, ascending, each with its known tails.
    pub fn filter(&self) -> impl ExactSizeIterator<Item = (HeadRelation, &[EntityId])> + '_ {
        self.filter_keys.iter().copied().zip(self.known_tails.iter())
    }
}

/// Builds a [`TaskSet`].
#[derive(Debug, Default)]
pub struct TaskSetBuilder {
    tasks: Vec<(Split, RelationId, Vec<Pair>)>,
    candidates: Vec<(RelationId, Vec<EntityId>)>,
    known: Vec<(HeadRelation, EntityId)>,
}

impl TaskSetBuilder {
    /// Adds a task with its facts in their order.
    pub fn add_task(&mut self, split: Split, relation: RelationId, facts: Vec<Pair>) {
        self.tasks.push((split, relation, facts));
    }

    /// Sets the candidate tails of a relation.
    pub fn add_candidates(&mut self, relation: RelationId, candidates: Vec<EntityId>) {
        self.candidates.push((relation, candidates));
    }

    /// Adds one known tail to the filter.
    pub fn add_known(&mut self, head: EntityId, relation: RelationId, tail: EntityId) {
        self.known.push((HeadRelation { head, relation }, tail));
    }

    /// Adds every fact of every task so far to the filter.
    pub fn filter_from_tasks(&mut self) {
        for (_, relation, facts) in &self.tasks {
            for pair in facts {
                self.known.push((HeadRelation { head: pair.head, relation: *relation }, pair.tail));
            }
        }
    }

    /// Every fact of every task so far.
    pub(crate) fn facts(&self) -> HashSet<Fact> {
        let of_task = |(_, relation, facts): &(Split, RelationId, Vec<Pair>)| {
            let relation = *relation;
            facts
                .iter()
                .map(move |pair| Fact { head: pair.head, relation, tail: pair.tail })
                .collect::<Vec<_>>()
        };
        self.tasks.iter().flat_map(of_task).collect()
    }

    /// Builds the task set: sorts the tasks by split, and the filter by key.
    #[must_use]
    pub fn finish(self) -> TaskSet {
        let Self { mut tasks, mut candidates, mut known } = self;
        tasks.sort_by_key(|task| task.0);
        candidates.sort_by_key(|entry| entry.0);
        candidates.dedup_by_key(|entry| entry.0);
        known.sort_unstable();
        known.dedup();
        let mut filter_keys = Vec::new();
        let mut offsets = vec![0u64];
        for (at, (key, _)) in known.iter().enumerate() {
            if filter_keys.last() != Some(key) {
                if at > 0 {
                    offsets.push(at as u64);
                }
                filter_keys.push(*key);
            }
        }
        if !filter_keys.is_empty() {
            offsets.push(known.len() as u64);
        }
        TaskSet {
            facts: tasks.iter().map(|task| &task.2[..]).collect(),
            tasks: tasks
                .iter()
                .map(|(split, relation, _)| TaskRecord { relation: *relation, split: *split as u32 })
                .collect::<Vec<_>>()
                .into(),
            candidate_relations: candidates.iter().map(|entry| entry.0).collect::<Vec<_>>().into(),
            candidates: candidates.iter().map(|entry| &entry.1[..]).collect(),
            filter_keys: filter_keys.into(),
            known_tails: Lists {
                offsets: offsets.into(),
                values: known.into_iter().map(|(_, tail)| tail).collect::<Vec<_>>().into(),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_filter_gathers_tails_by_key() {
        let (a, b, c) = (EntityId(0), EntityId(1), EntityId(2));
        let (r, s) = (RelationId::forward(0), RelationId::forward(1));
        let mut builder = TaskSetBuilder::default();
        builder.add_task(Split::Test, s, vec![Pair { head: b, tail: a }]);
        builder.add_task(Split::Train, r, vec![Pair { head: a, tail: c }, Pair { head: a, tail: b }]);
        builder.add_candidates(s, vec![c, a]);
        builder.filter_from_tasks();
        builder.add_known(a, r, b);
        let tasks = builder.finish();
        assert_eq!(tasks.iter().map(|t| t.split).collect::<Vec<_>>(), [Split::Train, Split::Test]);
        assert_eq!(tasks.known_tails(a, r), [b, c]);
        assert_eq!(tasks.known_tails(b, s), [a]);
        assert_eq!(tasks.known_tails(c, s), []);
        assert_eq!(tasks.task(s).unwrap().candidates, [c, a]);
        assert_eq!(tasks.candidates(r), None);
        assert_eq!(tasks.filter().count(), 2);
    }

    #[test]
    fn an_empty_set_answers_nothing() {
        let tasks = TaskSetBuilder::default().finish();
        assert_eq!(tasks.len(), 0);
        assert_eq!(tasks.known_tails(EntityId(0), RelationId(0)), []);
    }
}
