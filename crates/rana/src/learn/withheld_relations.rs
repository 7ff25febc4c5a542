//! [`WithheldRelations`]: the relations that learning is measured on.
//!
//! A relation is withheld by training vectors without its facts and by hiding its edges. It then stands for a relation
//! that a user asks about: the model knows five of its facts and is asked for others. Relations are withheld together,
//! in groups, so that one training of vectors serves all of a group. A small graph has several groups. If a graph has very
//! few relations, each is withheld on its own.

use rana_fewshot::{CandidateBuilder, CandidateConfig, Direction, SupportOrder};
use rana_graph::{EntityId, Fact, Pair, RelationId, Split, Store, Task, TaskSet, TaskSetBuilder};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::known_facts::KnownFacts;
use super::measuring::SHOTS;

/// A relation needs so many facts: five to learn from and some to ask for.
const FEWEST_FACTS: usize = 8;
/// More relations add little to what is learned.
const MOST_RELATIONS: usize = 60;
/// The share of all facts that may be withheld together: more would leave another graph.
const TOGETHER: f64 = 0.2;
/// The share of all facts that one of them may have.
const ONE: f64 = 0.05;
/// If the first group has fewer relations, there are others: what is learned from few relations is rough.
const ENOUGH: usize = 30;
/// The most groups, and the most facts that vectors are trained on for all of them together: each group takes a training.
const MOST_GROUPS: usize = 5;
const MOST_FACTS: usize = 400_000;
/// If fewer can be withheld in groups, each is withheld on its own.
const FEW: usize = 5;
/// How many are withheld on their own, and the share of all facts that such a relation may have.
const MOST_ALONE: usize = 5;
const ONE_ALONE: f64 = 0.6;

/// Relations whose facts are withheld, in groups that are withheld together.
pub(super) struct WithheldRelations {
    /// The groups.
    pub(super) groups: Vec<Vec<RelationId>>,
    tasks: TaskSet,
    everyone: Vec<EntityId>,
    seed: u64,
}

impl WithheldRelations {
    /// Chooses relations by a seed: train tasks first, then other relations.
    pub(super) fn choose(store: &Store, known: &KnownFacts, seed: u64) -> Self {
        let graph = &store.graph;
        let types = graph.type_relations();
        let mut others: Vec<RelationId> =
            graph.relations().filter(|relation| !types.contains(relation)).collect();
        let mut first = known.train_tasks().to_vec();
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        first.shuffle(&mut rng);
        others.shuffle(&mut rng);
        let all: Vec<RelationId> = first
            .into_iter()
            .chain(others)
            .filter(|&relation| known.of(relation).len() >= FEWEST_FACTS)
            .collect();
        let groups = groups(&all, |relation| known.of(relation).len(), known.facts.len());
        Self::of(store, known, groups, Direction::Tails, seed)
    }

    /// The same relations, to ask for heads: turned around, so that their heads are tails.
    pub(super) fn turned(&self, store: &Store, known: &KnownFacts) -> Self {
        Self::of(store, known, self.groups.clone(), Direction::Heads, self.seed)
    }

    fn of(
        store: &Store,
        known: &KnownFacts,
        groups: Vec<Vec<RelationId>>,
        direction: Direction,
        seed: u64,
    ) -> Self {
        let graph = &store.graph;
        let everyone = graph.entities().collect();
        let is_benchmark = is_benchmark(store);
        let candidates = CandidateBuilder::new(graph, CandidateConfig::default());
        let mut builder = TaskSetBuilder::default();
        for &relation in groups.iter().flatten() {
            let pair = |fact: &Fact| direction.turn(Pair { head: fact.head, tail: fact.tail });
            let pairs = known.of(relation).iter().map(pair);
            let relation = direction.turn_relation(relation);
            let pairs: Vec<Pair> = pairs.collect();
            if is_benchmark {
                let of_task = store.tasks.candidates(relation).map(<[EntityId]>::to_vec);
                let tails = || pairs.iter().map(|pair| pair.tail);
                let own = of_task.unwrap_or_else(|| candidates.candidates(relation, tails()));
                builder.add_candidates(relation, own);
            }
            builder.add_task(Split::Train, relation, pairs);
        }
        builder.filter_from_tasks();
        Self { groups, tasks: builder.finish(), everyone, seed }
    }

    /// The filter of known tails.
    pub(super) fn tasks(&self) -> &TaskSet {
        &self.tasks
    }

    /// How many relations there are.
    pub(super) fn len(&self) -> usize {
        self.tasks.len()
    }

    /// Every relation as a task, with the number of its group. Tails are looked for among all entities, or in a
    /// benchmark among the candidates of the task.
    pub(super) fn list(&self) -> Vec<(usize, Task<'_>)> {
        let is_in =
            |group: &Vec<RelationId>, of: RelationId| group.iter().any(|other| other.number() == of.number());
        let group = |relation| self.groups.iter().position(|group| is_in(group, relation)).unwrap_or(0);
        self.tasks.iter().map(|task| (group(task.relation), self.widened(task))).collect()
    }

    /// Five pairs of a relation, by which it is known when others are asked for, and the others; none if it has too few.
    pub(super) fn episode(&self, relation: RelationId) -> Option<(Vec<Pair>, Vec<Pair>)> {
        let episode =
            SupportOrder::resampled(&self.tasks.task(relation)?, self.seed, u64::MAX).episode(SHOTS);
        episode.ok().map(|episode| (episode.support, episode.query))
    }

    fn widened<'a>(&'a self, task: Task<'a>) -> Task<'a> {
        if task.candidates.is_empty() { Task { candidates: &self.everyone, ..task } } else { task }
    }
}

/// Groups of relations, given in the order of preference, that are withheld together.
fn groups(all: &[RelationId], facts: impl Fn(RelationId) -> usize, total: usize) -> Vec<Vec<RelationId>> {
    let share = |of: f64| (of * total as f64) as usize;
    let most_groups = (MOST_FACTS / total.max(1)).clamp(1, MOST_GROUPS);
    let mut rest = all.to_vec();
    let mut groups: Vec<Vec<RelationId>> = Vec::new();
    while groups.iter().map(Vec::len).sum::<usize>() < ENOUGH && groups.len() < most_groups {
        let (mut room, mut together) = (share(TOGETHER), Vec::new());
        rest.retain(|&relation| {
            let size = facts(relation);
            let is_taken = together.len() < MOST_RELATIONS && size <= room.min(share(ONE));
            if is_taken {
                room -= size;
                together.push(relation);
            }
            !is_taken
        });
        if together.is_empty() {
            break;
        }
        groups.push(together);
    }
    if groups.iter().map(Vec::len).sum::<usize>() >= FEW {
        return groups;
    }
    let mut alone: Vec<RelationId> =
        all.iter().copied().filter(|&relation| facts(relation) <= share(ONE_ALONE)).collect();
    alone.sort_by_key(|&relation| facts(relation));
    alone.truncate(MOST_ALONE);
    alone.into_iter().map(|relation| vec![relation]).collect()
}

/// Whether a graph has tasks of a benchmark, with candidates of their own.
pub(super) fn is_benchmark(store: &Store) -> bool {
    store.tasks.of(Split::Train).next().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(of: &[usize]) -> Vec<Vec<usize>> {
        let all: Vec<RelationId> = (0..of.len() as u32).map(RelationId::forward).collect();
        let size = |relation: RelationId| of[relation.number()];
        let groups = groups(&all, size, of.iter().sum());
        groups.into_iter().map(|group| group.into_iter().map(size).collect()).collect()
    }

    #[test]
    fn many_relations_are_withheld_together_and_leave_most_facts() {
        // One that is too large stays.
        assert_eq!(sizes(&[&[500][..], &[10; 100]].concat()), [vec![10; 30]]);
        assert_eq!(sizes(&[&[50_000][..], &[10; 100]].concat())[0].len(), MOST_RELATIONS);
    }

    #[test]
    fn a_small_graph_has_several_groups_and_each_relation_is_in_one() {
        assert_eq!(sizes(&[20; 100]), [vec![20; 20], vec![20; 20]]);
        // All but the two that are too large.
        assert_eq!(sizes(&[&[100, 200][..], &[10; 12]].concat()), [[10; 8].to_vec(), [10; 4].to_vec()]);
        // Training on a large graph takes its time, so there is one group.
        assert_eq!(sizes(&[10_000; 30]), [vec![10_000; 6]]);
    }

    #[test]
    fn few_relations_are_withheld_one_by_one() {
        assert_eq!(sizes(&[40, 30, 50]), [vec![30], vec![40], vec![50]]);
        // One that is nearly the whole graph cannot be withheld.
        assert_eq!(sizes(&[10, 90]), [vec![10]]);
        assert!(sizes(&[100]).is_empty() && sizes(&[]).is_empty());
    }
}
