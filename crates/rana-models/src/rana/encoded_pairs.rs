//! [`EncodedPairs`]: the pairs of some tasks, each encoded once.

use rana_graph::Pair;
use rayon::prelude::*;

use super::config::{RScope, ScoreSpace};
use super::encoder::{CHUNK, Chunk, End, Projection};
use super::inputs::Inputs;
use super::objective::{ObjectiveTask, Scored, ScoredContrasts, Vector};
use crate::real::{Real, add_scaled};
use crate::training::{Contrasts, MetaTask};

/// A pair and the task it is seen in, where that matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    /// The task whose mean is used as `r`; 0 if `r` is the pair's own.
    task: u32,
    pair: Pair,
}

/// The pairs of some tasks and what the encoder made of them.
pub(super) struct EncodedPairs<T> {
    keys: Vec<Key>,
    pub(super) chunks: Vec<Chunk<T>>,
}

impl<T: Real> EncodedPairs<T> {
    pub(super) fn new(inputs: Inputs<'_, T>, projection: &Projection<T>, tasks: &[MetaTask]) -> Self {
        let scope = inputs.config.r_scope;
        let mut keys: Vec<Key> = Vec::new();
        for (number, task) in tasks.iter().enumerate() {
            let key = |pair| key(scope, number, pair);
            keys.extend(task.support.pairs().iter().map(|&pair| key(pair)));
            if inputs.config.score_space == ScoreSpace::Encoded {
                keys.extend(task.rejected.iter().map(|&pair| key(pair)));
                for (pair, negatives) in task.support.iter().chain(task.query.iter()) {
                    keys.push(key(pair));
                    keys.extend(negatives.iter().map(|&tail| key(Pair { tail, ..pair })));
                }
            }
        }
        keys.sort_unstable();
        keys.dedup();
        let chunks = keys
            .par_chunks(CHUNK)
            .map(|keys| {
                let pairs: Vec<Pair> = keys.iter().map(|key| key.pair).collect();
                let mut r = vec![T::ZERO; pairs.len() * inputs.dim()];
                for (key, r) in keys.iter().zip(r.chunks_exact_mut(inputs.dim())) {
                    add_r(inputs, key.pair, tasks[key.task as usize].support.pairs(), r);
                }
                Chunk::encode(inputs, projection, &pairs, &r)
            })
            .collect();
        Self { keys, chunks }
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
        let find = |pair| self.keys.partition_point(|other| *other < key(config.r_scope, number, pair));
        let support_pairs: Vec<usize> = task.support.pairs().iter().map(|&pair| find(pair)).collect();
        let raw = |pair: Pair| Scored { pair, head: Vector::Row(pair.head), tail: Vector::Row(pair.tail) };
        let encoded = |pair: Pair| {
            let at = find(pair);
            Scored { pair, head: Vector::Encoded(at, End::Head), tail: Vector::Encoded(at, End::Tail) }
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

fn key(scope: RScope, number: usize, pair: Pair) -> Key {
    Key { task: if scope == RScope::TaskMean { number as u32 } else { 0 }, pair }
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
