//! [`Cutoff`] and [`Cutoffs`]: how similar to the true tail a negative must be, found once for each tail.

use std::sync::OnceLock;

use rana_graph::{EntityId, Task};

use super::config::PruneSpace;
use super::negatives::NegativeSampler;

/// How many pairs of a tail and a candidate survival may be kept of: 64 MiB.
const MOST_KEPT_BITS: usize = 64 << 23;

/// How similar to the true tail a negative must be.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Cutoff {
    pub(super) least: f32,
    /// A bit for each candidate that is: no row has to be looked at again. Empty if that was not kept.
    pub(super) survivors: Vec<u64>,
}

impl Cutoff {
    /// Everything survives.
    pub(crate) const NONE: Self = Self { least: f32::NEG_INFINITY, survivors: Vec::new() };

    pub(super) fn is_none(&self) -> bool {
        self.least == f32::NEG_INFINITY
    }
}

/// The cutoffs of all tails of some tasks, each found when it is first asked for.
///
/// Pruning on pre-trained rows never changes, so a tail needs to be compared to its candidates once.
#[derive(Debug)]
pub(crate) struct Cutoffs {
    tasks: Vec<TaskTails>,
    cutoffs: Vec<OnceLock<Cutoff>>,
}

/// The tails of one task.
#[derive(Debug)]
struct TaskTails {
    /// Distinct ones, ascending.
    tails: Vec<EntityId>,
    /// Where their cutoffs start.
    first: usize,
    /// Whether there is room to keep which candidates survive.
    keeps_survivors: bool,
}

impl Cutoffs {
    pub(crate) fn new<'t>(tasks: impl Iterator<Item = Task<'t>>) -> Self {
        let (mut first, mut kept_bits) = (0, 0);
        let mut of_task = |task: Task<'_>| {
            let mut tails: Vec<EntityId> = task.facts.iter().map(|pair| pair.tail).collect();
            tails.sort_unstable();
            tails.dedup();
            let bits = tails.len() * task.candidates.len();
            let keeps_survivors = kept_bits + bits <= MOST_KEPT_BITS;
            kept_bits += if keeps_survivors { bits } else { 0 };
            let start = first;
            first += tails.len();
            TaskTails { tails, first: start, keeps_survivors }
        };
        let tasks: Vec<TaskTails> = tasks.map(&mut of_task).collect();
        Self { tasks, cutoffs: (0..first).map(|_| OnceLock::new()).collect() }
    }

    /// Does something with the cutoff of a tail of a task.
    pub(crate) fn with<R>(
        &self,
        sampler: &NegativeSampler<'_>,
        task: usize,
        tail: EntityId,
        candidates: &[EntityId],
        work: impl FnOnce(&Cutoff) -> R,
    ) -> R {
        let TaskTails { tails, first, keeps_survivors } = &self.tasks[task];
        match tails.binary_search(&tail) {
            Ok(at) if sampler.config.prune_space != PruneSpace::Scoring => {
                work(self.cutoffs[first + at].get_or_init(|| match keeps_survivors {
                    true => sampler.cutoff_and_survivors(tail, candidates),
                    false => sampler.cutoff(tail, candidates),
                }))
            }
            _ => work(&sampler.cutoff(tail, candidates)),
        }
    }
}
