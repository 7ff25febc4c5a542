//! [`UniformNegatives`]: negatives drawn uniformly from the candidates of a task.

use rana_graph::{EntityId, Pair};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::parameters::Parameters;
use super::stepped_model::{NegativeChoice, NegativeCounts, NegativeRule};

/// Draws per negative before the first valid candidates are taken instead.
const TRIES: usize = 64;

/// Draws negatives uniformly from the candidates of a task, known tails left out.
pub(crate) struct UniformNegatives {
    /// How many per pair.
    pub(crate) count: usize,
    /// How many entities there are, for tasks without a valid candidate.
    pub(crate) entities: usize,
}

impl UniformNegatives {
    /// Draws the negatives of a pair.
    pub(crate) fn of_pair(
        &self,
        pair: Pair,
        candidates: &[EntityId],
        known: &[EntityId],
        rng: &mut ChaCha8Rng,
    ) -> Vec<EntityId> {
        let is_valid = |entity: EntityId| entity != pair.tail && known.binary_search(&entity).is_err();
        let mut drawn: Vec<EntityId> = Vec::with_capacity(self.count);
        for _ in 0..TRIES * self.count {
            if drawn.len() == self.count || candidates.is_empty() {
                break;
            }
            let candidate = candidates[rng.random_range(0..candidates.len())];
            if is_valid(candidate) && !drawn.contains(&candidate) {
                drawn.push(candidate);
            }
        }
        if drawn.len() < self.count {
            drawn.extend(
                self.first(pair, candidates, known)
                    .into_iter()
                    .filter(|one| !drawn.contains(one))
                    .collect::<Vec<_>>(),
            );
            drawn.truncate(self.count);
        }
        drawn
    }

    /// The first valid candidates in file order; if there is none, the first valid entities.
    pub(crate) fn first(&self, pair: Pair, candidates: &[EntityId], known: &[EntityId]) -> Vec<EntityId> {
        let is_valid = |entity: &EntityId| *entity != pair.tail && known.binary_search(entity).is_err();
        let found: Vec<EntityId> = candidates.iter().copied().filter(is_valid).take(self.count).collect();
        if !found.is_empty() {
            return found;
        }
        (0..self.entities as u32).map(EntityId).filter(is_valid).take(self.count).collect()
    }
}

impl NegativeRule for UniformNegatives {
    fn draw(
        &self,
        _: &Parameters,
        choice: &NegativeChoice<'_>,
        rng: &mut ChaCha8Rng,
        _: &mut NegativeCounts,
    ) -> Vec<EntityId> {
        self.of_pair(choice.pair, choice.candidates, choice.known, rng)
    }
}
