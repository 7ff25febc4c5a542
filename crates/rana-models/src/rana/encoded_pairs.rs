//! [`EncodedPairs`]: the pairs and entities of some tasks, each encoded once.

use rana_graph::{EntityId, Pair};
use rayon::prelude::*;

use super::config::{Ends, RScope, RanaConfig, ScoreSpace};
use super::encoder::{CHUNK, Chunk, End, Projection};
use super::inputs::Inputs;
use super::objective::{ObjectiveTask, Scored, ScoredContrasts, Vector};
use crate::real::{Real, add_scaled};
use crate::training::{Contrasts, MetaTask};

/// A pair and the task it is seen in, where that matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    /// The task whose mean is used as `r`, or whose edges are hidden; 0 if a pair is the same in all tasks.
    task: u32,
    pair: Pair,
}

/// The pairs of some tasks and what the encoder made of them.
pub(super) struct EncodedPairs<T> {
    /// Every encoded pair. The first ones are sorted; behind them are pairs that only bring entities together.
    keys: Vec<Key>,
    sorted: usize,
    /// Where each entity is encoded, by task, if `r` is the task's and encoded entities are scored: its encoding depends on
    /// the task and on nothing else. Empty otherwise.
    entities: Vec<TaskEntities>,
    pub(super) chunks: Vec<Chunk<T>>,
}

impl<T: Real> EncodedPairs<T> {
    pub(super) fn new(inputs: Inputs<'_, T>, projection: &Projection<T>, tasks: &[MetaTask]) -> Self {
        let config = inputs.config;
        let scores_encoded = config.score_space == ScoreSpace::Encoded;
        let by_entity = scores_encoded && config.r_scope == RScope::TaskMean;
        let mut keys: Vec<Key> = Vec::new();
        for (number, task) in tasks.iter().enumerate() {
            let key = |pair| key(config, number, pair);
            keys.extend(task.support.pairs().iter().map(|&pair| key(pair)));
            if scores_encoded && !by_entity {
                keys.extend(scored_pairs(task).map(key));
            }
        }
        keys.sort_unstable();
        keys.dedup();
        let sorted = keys.len();
        let entities = match by_entity {
            true => add_entities(config, tasks, &mut keys),
            false => Vec::new(),
        };
        let chunks = keys
            .par_chunks(CHUNK)
            .enumerate()
            .map(|(number, keys)| {
                let pairs: Vec<Pair> = keys.iter().map(|key| key.pair).collect();
                let mut r = vec![T::ZERO; pairs.len() * inputs.dim()];
                for (key, r) in keys.iter().zip(r.chunks_exact_mut(inputs.dim())) {
                    add_r(inputs, key.pair, tasks[key.task as usize].support.pairs(), r);
                }
                // Only if edges are hidden is the task of a pair sure to be the only one.
                let asked = |key: &Key| tasks[key.task as usize].relation.filter(|_| config.hide_own_edges);
                let asked = keys.iter().map(asked).collect();
                match number * CHUNK < sorted {
                    true => Chunk::encode(inputs, projection, pairs, asked, r),
                    false => Chunk::encode_ends(inputs, projection, pairs, asked, r),
                }
            })
            .collect();
        Self { keys, sorted, entities, chunks }
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.keys.len()
    }

    /// The pairs, each with the task whose mean stood for its `r`.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Pair, usize)> + '_ {
        self.keys.iter().map(|key| (key.pair, key.task as usize))
    }

    /// A task as the objective sees it.
    pub(super) fn objective_task(
        &self,
        inputs: Inputs<'_, T>,
        number: usize,
        task: &MetaTask,
    ) -> ObjectiveTask {
        let config = inputs.config;
        // Every pair that is asked for was put in by `new`.
        let keys = &self.keys[..self.sorted];
        let find = |pair| keys.partition_point(|other| *other < key(config, number, pair));
        let support_pairs: Vec<usize> = task.support.pairs().iter().map(|&pair| find(pair)).collect();
        let raw = |pair: Pair| Scored { pair, head: Vector::Row(pair.head), tail: Vector::Row(pair.tail) };
        let encoded = |pair: Pair| match self.entities.get(number) {
            Some(entities) => Scored {
                pair,
                head: entities.vector(pair, End::Head),
                tail: entities.vector(pair, End::Tail),
            },
            None => {
                let at = find(pair);
                Scored { pair, head: Vector::Encoded(at, End::Head), tail: Vector::Encoded(at, End::Tail) }
            }
        };
        let scored = |contrasts: &Contrasts| match config.score_space {
            ScoreSpace::Encoded => ScoredContrasts::new(contrasts, |_, _, pair| encoded(pair)),
            ScoreSpace::Raw | ScoreSpace::EncodedSupport => {
                ScoredContrasts::new(contrasts, |_, _, pair| raw(pair))
            }
        };
        let mut support = match config.score_space {
            ScoreSpace::EncodedSupport => ScoredContrasts::new(&task.support, |number, at, pair| {
                let own = support_pairs[number];
                let head = Vector::Encoded(own, End::Head);
                match at {
                    0 => Scored { pair, head, tail: Vector::Encoded(own, End::Tail) },
                    _ => Scored { head, ..raw(pair) },
                }
            }),
            ScoreSpace::Raw | ScoreSpace::Encoded => scored(&task.support),
        };
        support.rejected = match config.score_space {
            ScoreSpace::Encoded => task.rejected.iter().map(|&pair| encoded(pair)).collect(),
            ScoreSpace::Raw | ScoreSpace::EncodedSupport => {
                task.rejected.iter().map(|&pair| raw(pair)).collect()
            }
        };
        ObjectiveTask { support, query: scored(&task.query), support_pairs }
    }
}

/// Where the entities of one task are encoded.
struct TaskEntities {
    /// Whether heads and tails are encoded by the same weights, so that one place serves both.
    is_shared: bool,
    /// Sorted by end and entity: which pair it is in, at which end.
    places: Vec<((End, EntityId), (usize, End))>,
}

impl TaskEntities {
    /// The end that an entity is looked for at.
    fn end(is_shared: bool, end: End) -> End {
        if is_shared { End::Head } else { end }
    }

    /// What stands for an end of a pair.
    fn vector(&self, pair: Pair, end: End) -> Vector {
        let wanted = (Self::end(self.is_shared, end), end.of(pair));
        // Every entity that is asked for was put in by `add_entities`.
        let (_, (at, end)) = self.places[self.places.partition_point(|(place, _)| *place < wanted)];
        Vector::Encoded(at, end)
    }
}

/// Adds pairs until every entity that is scored is an end of a pair of its task; where each of them is.
fn add_entities(config: &RanaConfig, tasks: &[MetaTask], keys: &mut Vec<Key>) -> Vec<TaskEntities> {
    let is_shared = config.ends == Ends::Shared;
    let end_of = |end| TaskEntities::end(is_shared, end);
    let sorted = keys.clone();
    tasks
        .iter()
        .enumerate()
        .map(|(number, task)| {
            let task_number = number as u32;
            let start = sorted.partition_point(|key| key.task < task_number);
            let own = sorted[start..].iter().take_while(|key| key.task == task_number);
            // The ends of support pairs, which are encoded anyway.
            let mut places: Vec<_> = own
                .enumerate()
                .flat_map(|(at, key)| {
                    End::BOTH.map(|end| ((end_of(end), end.of(key.pair)), (start + at, end)))
                })
                .collect();
            places.sort_unstable();
            places.dedup_by_key(|(wanted, _)| *wanted);
            let is_there =
                |wanted: &(End, EntityId)| places.binary_search_by_key(wanted, |(of, _)| *of).is_ok();
            let mut missing: Vec<(End, EntityId)> = scored_pairs(task)
                .flat_map(|pair| End::BOTH.map(|end| (end_of(end), end.of(pair))))
                .filter(|wanted| !is_there(wanted))
                .collect();
            missing.sort_unstable();
            missing.dedup();
            let (heads, tails): (Vec<EntityId>, Vec<EntityId>) = match is_shared {
                // Any entity may stand at either end.
                true => {
                    let all: Vec<EntityId> = missing.iter().map(|&(_, entity)| entity).collect();
                    let (heads, tails) = all.split_at(all.len().div_ceil(2));
                    (heads.to_vec(), tails.to_vec())
                }
                false => {
                    let at = |end| missing.iter().filter(move |of| of.0 == end).map(|&(_, entity)| entity);
                    (at(End::Head).collect(), at(End::Tail).collect())
                }
            };
            for at in 0..heads.len().max(tails.len()) {
                let (head, tail) = (heads.get(at).copied(), tails.get(at).copied());
                for (end, entity) in [(End::Head, head), (End::Tail, tail)] {
                    places.extend(entity.map(|entity| ((end_of(end), entity), (keys.len(), end))));
                }
                // Where one end has run out, the other entity stands at both.
                if let Some(entity) = head.or(tail) {
                    let pair = Pair { head: head.unwrap_or(entity), tail: tail.unwrap_or(entity) };
                    keys.push(Key { task: task_number, pair });
                }
            }
            places.sort_unstable();
            TaskEntities { is_shared, places }
        })
        .collect()
}

/// The pairs of a task that are scored.
fn scored_pairs(task: &MetaTask) -> impl Iterator<Item = Pair> + '_ {
    let contrasts = task.support.iter().chain(task.query.iter()).flat_map(|(pair, negatives)| {
        std::iter::once(pair).chain(negatives.iter().map(move |&tail| Pair { tail, ..pair }))
    });
    task.rejected.iter().copied().chain(contrasts)
}

fn key(config: &RanaConfig, number: usize, pair: Pair) -> Key {
    let is_of_task = config.r_scope == RScope::TaskMean || config.hide_own_edges;
    Key { task: if is_of_task { number as u32 } else { 0 }, pair }
}

/// Adds eq. 1 of a pair that is seen with a support.
pub(super) fn add_r<T: Real>(inputs: Inputs<'_, T>, pair: Pair, support: &[Pair], r: &mut [T]) {
    let own = [pair];
    let over = match inputs.config.r_scope {
        RScope::Pair => &own[..],
        RScope::TaskMean => support,
    };
    let share = T::ONE / T::of(over.len() as f64);
    for pair in over {
        add_scaled(r, share, inputs.rows.frozen(pair.tail));
        add_scaled(r, -share, inputs.rows.frozen(pair.head));
    }
}
