//! Completing many heads at once.

use rana_graph::{EntityId, Observer, Unit};
use rayon::prelude::*;

use super::answer_limits::AnswerLimits;
use super::learned_relation::{Answer, LearnedRelation};

/// Heads that are completed at once: their answers wait for each other.
const TOGETHER: usize = 512;

/// Makes something of each head on all threads of the current pool, and hands it over in the order of the heads. No more wait in
/// memory than are made at once.
///
/// `observer` sees the progress and may stop it; then the result is `false`, and the heads that were handed over are the
/// first ones.
///
/// # Errors
/// The first one of `take`, which ends the work.
pub fn for_each_head<T: Send, E>(
    heads: &[EntityId],
    observer: &dyn Observer,
    make: impl Fn(EntityId) -> T + Sync,
    mut take: impl FnMut(T) -> Result<(), E>,
) -> Result<bool, E> {
    observer.begin("completing", Some(heads.len() as u64), Unit::Steps);
    // A single head of a large graph takes a while.
    let make = |&head: &EntityId| (!observer.should_stop()).then(|| make(head));
    for together in heads.chunks(TOGETHER) {
        let made: Vec<Option<T>> = together.par_iter().map(make).collect();
        for one in made {
            let Some(one) = one else { return Ok(false) };
            take(one)?;
        }
        observer.advance(together.len() as u64);
    }
    observer.end();
    Ok(true)
}

impl LearnedRelation {
    /// Completes heads and hands over what `make` makes of the answers of each, as [`for_each_head`] does.
    ///
    /// # Errors
    /// The first one of `take`, which ends the work.
    pub fn complete_each<T: Send, E>(
        &self,
        heads: &[EntityId],
        limits: &AnswerLimits,
        observer: &dyn Observer,
        make: impl Fn(EntityId, Vec<Answer>) -> T + Sync,
        take: impl FnMut(T) -> Result<(), E>,
    ) -> Result<bool, E> {
        for_each_head(heads, observer, |head| make(head, self.complete(head, limits)), take)
    }
}
