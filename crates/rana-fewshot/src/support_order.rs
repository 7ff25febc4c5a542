//! Supports of an evaluation: which facts of a task are given, and which are asked for.

use std::borrow::Cow;

use rana_graph::{Pair, RelationId, Task};
use rand::seq::SliceRandom;

use crate::episode::Episode;
use crate::episode_error::EpisodeError;
use crate::seed::{Purpose, rng};

/// An order of a task's facts: the first K are the support, the rest the queries.
///
/// One order serves every K, so the support of a smaller K is the beginning of that of a larger.
#[derive(Clone, Debug, PartialEq)]
pub struct SupportOrder<'t> {
    relation: RelationId,
    facts: Cow<'t, [Pair]>,
}

impl<'t> SupportOrder<'t> {
    /// The published protocol: file order.
    #[must_use]
    pub fn official(task: &Task<'t>) -> Self {
        Self { relation: task.relation, facts: Cow::Borrowed(task.facts) }
    }

    /// A random order, fixed by the seed, the relation and the number of the draw alone.
    #[must_use]
    pub fn resampled(task: &Task<'t>, seed: u64, draw: u64) -> Self {
        let mut facts = task.facts.to_vec();
        facts.shuffle(&mut rng(seed, Purpose::Support, [task.relation.0.into(), draw]));
        Self { relation: task.relation, facts: Cow::Owned(facts) }
    }

    /// The first `shots` facts as support, all others as queries.
    ///
    /// # Errors
    /// If `shots` is 0, or if no fact is left for a query.
    pub fn episode(&self, shots: usize) -> Result<Episode, EpisodeError> {
        self.episode_common(shots, shots)
    }

    /// The first `shots` facts as support, and as queries those that are support for no K up to
    /// `most_shots`, so that results for different K answer the same queries.
    ///
    /// A `most_shots` below `shots` counts as `shots`.
    ///
    /// # Errors
    /// If `shots` is 0, or if no fact is left for a query.
    pub fn episode_common(&self, shots: usize, most_shots: usize) -> Result<Episode, EpisodeError> {
        if shots == 0 {
            return Err(EpisodeError::NoShots);
        }
        let most_shots = most_shots.max(shots);
        let too_few =
            EpisodeError::TooFewFacts { relation: self.relation, facts: self.facts.len(), shots: most_shots };
        let query = self.facts.get(most_shots..).filter(|query| !query.is_empty()).ok_or(too_few)?;
        Ok(Episode { relation: self.relation, support: self.facts[..shots].to_vec(), query: query.to_vec() })
    }
}

/// The official evaluation of a task: its first `shots` facts are the support.
///
/// # Errors
/// If `shots` is 0, or if no fact is left for a query.
pub fn first_k(task: &Task<'_>, shots: usize) -> Result<Episode, EpisodeError> {
    SupportOrder::official(task).episode(shots)
}

/// An evaluation of a task on a random support: draw number `draw` under a seed.
///
/// # Errors
/// If `shots` is 0, or if no fact is left for a query.
pub fn resampled(task: &Task<'_>, shots: usize, seed: u64, draw: u64) -> Result<Episode, EpisodeError> {
    SupportOrder::resampled(task, seed, draw).episode(shots)
}
