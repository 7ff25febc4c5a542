//! Completing many heads at once.

use rana_graph::{EntityId, Observer, Unit};
use rayon::prelude::*;

use super::answer_limits::AnswerLimits;
use super::learned_relation::{Answer, LearnedRelation};

/// Heads that are completed at once: their answers wait for each other.
const TOGETHER: usize = 512;

impl LearnedRelation {
    /// Completes heads on all threads of the current pool, and hands over what `make` makes of the answers of each, in the
    /// order of the heads. No more wait in memory than are made at once.
    ///
    /// `observer` sees the progress and may stop it; then the result is `false`, and the heads that were handed over are the
    /// first ones.
    ///
    /// # Errors
    /// The first one of `take`, which ends the work.
    pub fn complete_each<T: Send, E>(
        &self,
        heads: &[EntityId],
        limits: &AnswerLimits,
        observer: &dyn Observer,
        make: impl Fn(EntityId, Vec<Answer>) -> T + Sync,
        mut take: impl FnMut(T) -> Result<(), E>,
    ) -> Result<bool, E> {
        observer.begin("completing", Some(heads.len() as u64), Unit::Steps);
        let complete = |&head: &EntityId| {
            // A single head of a large graph takes a while.
            (!observer.should_stop()).then(|| make(head, self.complete(head, limits)))
        };
        for together in heads.chunks(TOGETHER) {
            let made: Vec<Option<T>> = together.par_iter().map(complete).collect();
            for one in made {
                let Some(one) = one else { return Ok(false) };
                take(one)?;
            }
            observer.advance(together.len() as u64);
        }
        observer.end();
        Ok(true)
    }
}
