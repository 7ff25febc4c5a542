//! [`NegativeSampler`] and [`PrunedNegatives`]: candidate pruning and the negatives of a pair (eq. 8).

use std::cmp::Ordering;

use pulp::{Arch, Simd, WithSimd};
use rana_embed::prefetch::fetch;
use rana_graph::{EntityId, Pair, Task};
use rand::seq::index;
use rand::{Rng, RngExt};
use rand_chacha::ChaCha8Rng;

use super::config::{FewSurvivors, Prune, PruneSpace, RanaConfig};
use super::cutoffs::{Cutoff, Cutoffs};
use super::inputs::{EntityRows, RowRoles};
use crate::training::{NegativeChoice, NegativeCounts, NegativeRule, Parameters};
use crate::vector_kernels::Kernels;

/// Draws per negative before all candidates are looked at instead.
const TRIES: usize = 64;

/// Rows to bring into the cache ahead of use.
const AHEAD: usize = 8;

/// Candidates whose survival stands in one number.
const WORD: usize = u64::BITS as usize;

/// The candidates of a pair's negatives.
pub(crate) struct Choice<'a> {
    pub(crate) pair: Pair,
    pub(crate) candidates: &'a [EntityId],
    /// Tails that are true too, ascending.
    pub(crate) known: &'a [EntityId],
    pub(crate) cutoff: &'a Cutoff,
}

impl Choice<'_> {
    fn is_valid(&self, candidate: EntityId) -> bool {
        candidate != self.pair.tail && self.known.binary_search(&candidate).is_err()
    }
}

/// Draws negatives over some rows.
#[derive(Clone, Copy)]
pub(crate) struct NegativeSampler<'a> {
    pub(crate) config: &'a RanaConfig,
    pub(crate) rows: &'a dyn EntityRows<f32>,
    pub(crate) entities: usize,
}

impl NegativeSampler<'_> {
    /// The row that pruning sees.
    fn row(&self, entity: EntityId) -> &[f32] {
        match self.config.prune_space {
            PruneSpace::Frozen | PruneSpace::Cosine => self.rows.pretrained(entity),
            PruneSpace::Scoring => self.rows.scoring(entity),
        }
    }

    /// How similar two entities are, for pruning.
    fn similarity(&self, tail: EntityId, candidate: EntityId) -> f32 {
        let (a, b) = (self.row(tail), self.row(candidate));
        match self.config.prune_space {
            PruneSpace::Frozen | PruneSpace::Scoring => dot(a, b),
            PruneSpace::Cosine => dot(a, b) / (dot(a, a) * dot(b, b)).sqrt().max(f32::MIN_POSITIVE),
        }
    }

    /// How similar to `tail` a candidate must be to survive.
    pub(crate) fn cutoff(&self, tail: EntityId, candidates: &[EntityId]) -> Cutoff {
        Cutoff { survivors: Vec::new(), ..self.cutoff_and_survivors(tail, candidates) }
    }

    /// The same, keeping which candidates do if all had to be compared anyway.
    pub(super) fn cutoff_and_survivors(&self, tail: EntityId, candidates: &[EntityId]) -> Cutoff {
        match self.config.prune {
            Prune::Off => Cutoff::NONE,
            Prune::Threshold(tau) => Cutoff { least: tau, survivors: Vec::new() },
            Prune::Quantile(share) => {
                let kept = (share * candidates.len() as f32).ceil() as usize;
                if kept == 0 || kept >= candidates.len() {
                    return Cutoff::NONE;
                }
                let similarity = |(at, &candidate): (usize, &EntityId)| {
                    if let Some(&next) = candidates.get(at + AHEAD) {
                        fetch(self.row(next));
                    }
                    self.similarity(tail, candidate)
                };
                let similar: Vec<f32> = candidates.iter().enumerate().map(similarity).collect();
                let least = *similar.clone().select_nth_unstable_by(kept - 1, |a, b| b.total_cmp(a)).1;
                let bits = |word: &[f32]| {
                    word.iter().rev().fold(0, |bits, &similar| bits << 1 | u64::from(similar >= least))
                };
                Cutoff { least, survivors: similar.chunks(WORD).map(bits).collect() }
            }
        }
    }

    /// Draws the negatives of a pair without replacement from what survives pruning.
    ///
    /// Rejection is cheap as long as a fair share survives. Where too few do, all candidates are looked
    /// at and the rule for few survivors applies; where none is valid, other entities are drawn.
    pub(crate) fn draw<R: Rng + Clone>(
        &self,
        choice: &Choice<'_>,
        rng: &mut R,
        counts: &mut NegativeCounts,
    ) -> Vec<EntityId> {
        let wanted = self.config.negatives;
        let mut drawn: Vec<EntityId> = Vec::with_capacity(wanted);
        if choice.candidates.len() > wanted {
            let place = |rng: &mut R| rng.random_range(0..choice.candidates.len());
            let Cutoff { least, survivors } = choice.cutoff;
            let survives = |at: usize| match survivors.get(at / WORD) {
                _ if choice.cutoff.is_none() => true,
                Some(word) => word >> (at % WORD) & 1 == 1,
                None => self.similarity(choice.pair.tail, choice.candidates[at]) >= *least,
            };
            if survivors.is_empty() && !choice.cutoff.is_none() {
                // What will be drawn, if about half survives.
                let mut ahead = rng.clone();
                (0..2 * wanted).for_each(|_| fetch(self.row(choice.candidates[place(&mut ahead)])));
            }
            for _ in 0..TRIES * wanted {
                let at = place(rng);
                let candidate = choice.candidates[at];
                if !choice.is_valid(candidate) || drawn.contains(&candidate) {
                    continue;
                }
                counts.seen += 1;
                if !survives(at) {
                    counts.refused += 1;
                    continue;
                }
                drawn.push(candidate);
                if drawn.len() == wanted {
                    return drawn;
                }
            }
        }
        self.draw_from_all(choice, rng)
    }

    /// The same, having looked at every candidate.
    fn draw_from_all(&self, choice: &Choice<'_>, rng: &mut impl Rng) -> Vec<EntityId> {
        let wanted = self.config.negatives;
        let mut valid: Vec<EntityId> =
            choice.candidates.iter().copied().filter(|&candidate| choice.is_valid(candidate)).collect();
        valid.sort_unstable();
        valid.dedup();
        if valid.is_empty() {
            return self.draw_from_entities(choice, rng);
        }
        let similar = |&candidate: &EntityId| self.similarity(choice.pair.tail, candidate);
        let survivors: Vec<EntityId> = match choice.cutoff.least {
            f32::NEG_INFINITY => valid.clone(),
            least => valid.iter().copied().filter(|candidate| similar(candidate) >= least).collect(),
        };
        if survivors.len() >= wanted {
            return index::sample(rng, survivors.len(), wanted).into_iter().map(|at| survivors[at]).collect();
        }
        match self.config.few_survivors {
            FewSurvivors::Repeat if !survivors.is_empty() => {
                (0..wanted).map(|_| survivors[rng.random_range(0..survivors.len())]).collect()
            }
            FewSurvivors::Repeat | FewSurvivors::Nearest => {
                let mut ranked: Vec<(f32, EntityId)> = valid.iter().map(|id| (similar(id), *id)).collect();
                ranked.sort_by(|a, b| match b.0.total_cmp(&a.0) {
                    Ordering::Equal => a.1.cmp(&b.1),
                    other => other,
                });
                ranked.into_iter().take(wanted).map(|(_, id)| id).collect()
            }
        }
    }

    /// A relation without a valid candidate has the whole graph.
    fn draw_from_entities(&self, choice: &Choice<'_>, rng: &mut impl Rng) -> Vec<EntityId> {
        let mut drawn = Vec::new();
        for _ in 0..TRIES * self.config.negatives {
            let entity = EntityId(rng.random_range(0..self.entities as u32));
            if choice.is_valid(entity) && !drawn.contains(&entity) {
                drawn.push(entity);
            }
            if drawn.len() == self.config.negatives {
                break;
            }
        }
        drawn
    }

    /// The first valid survivors in file order; where they are too few, the first valid candidates, and
    /// where there is none, the first entities.
    pub(crate) fn first(&self, choice: &Choice<'_>) -> Vec<EntityId> {
        let survives = |candidate: EntityId| {
            choice.cutoff.is_none() || self.similarity(choice.pair.tail, candidate) >= choice.cutoff.least
        };
        let mut found: Vec<EntityId> = Vec::new();
        let mut take = |from: &mut dyn Iterator<Item = EntityId>| {
            for candidate in from {
                if found.len() == self.config.negatives {
                    break;
                }
                if choice.is_valid(candidate) && !found.contains(&candidate) {
                    found.push(candidate);
                }
            }
            found.len()
        };
        take(&mut choice.candidates.iter().copied().filter(|&candidate| survives(candidate)));
        if take(&mut choice.candidates.iter().copied()) == 0 {
            take(&mut (0..self.entities as u32).map(EntityId));
        }
        found
    }
}

/// Negatives from the candidates that pruning leaves (eq. 8).
pub(super) struct PrunedNegatives {
    config: RanaConfig,
    entities: usize,
    cutoffs: Cutoffs,
}

impl PrunedNegatives {
    /// The negatives of some tasks on a graph with this many entities.
    pub(super) fn new(config: &RanaConfig, entities: usize, tasks: &[Task<'_>]) -> Self {
        Self { config: config.clone(), entities, cutoffs: Cutoffs::new(tasks.iter().copied()) }
    }
}

impl NegativeRule for PrunedNegatives {
    fn draw(
        &self,
        parameters: &Parameters,
        choice: &NegativeChoice<'_>,
        rng: &mut ChaCha8Rng,
        counts: &mut NegativeCounts,
    ) -> Vec<EntityId> {
        let roles = RowRoles::new(&self.config, &parameters.rows);
        let sampler = NegativeSampler { config: &self.config, rows: &roles, entities: self.entities };
        let NegativeChoice { task, pair, candidates, known } = *choice;
        self.cutoffs.with(&sampler, task, pair.tail, candidates, |cutoff| {
            sampler.draw(&Choice { pair, candidates, known, cutoff }, rng, counts)
        })
    }

    fn shares_draws(&self) -> bool {
        self.config.share_negatives
    }

    fn diagnostic(&self, counts: NegativeCounts) -> Option<(&'static str, f64)> {
        Some(("pruned_candidates", counts.refused as f64 / counts.seen.max(1) as f64))
    }
}

/// The inner product of two rows, by what the processor has.
fn dot(a: &[f32], b: &[f32]) -> f32 {
    struct Dot<'a>(&'a [f32], &'a [f32]);
    impl WithSimd for Dot<'_> {
        type Output = f32;

        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) -> f32 {
            f32::dot_by(simd, self.0, self.1)
        }
    }
    Arch::new().dispatch(Dot(a, b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rana_graph::keyed_rng;

    /// Rows on a line: entity n at n.
    struct Line(Vec<f32>);

    impl EntityRows<f32> for Line {
        fn pretrained(&self, entity: EntityId) -> &[f32] {
            self.frozen(entity)
        }
        fn frozen(&self, entity: EntityId) -> &[f32] {
            &self.0[entity.index()..=entity.index()]
        }
        fn scoring(&self, entity: EntityId) -> &[f32] {
            self.frozen(entity)
        }
    }

    fn ids(ids: impl IntoIterator<Item = u32>) -> Vec<EntityId> {
        ids.into_iter().map(EntityId).collect()
    }

    proptest! {
        #[test]
        fn negatives_are_never_true_and_never_pruned_while_enough_survive(
            known in prop::collection::btree_set(0u32..40, 0..30),
            candidates in prop::collection::vec(0u32..40, 1..60),
            tail in 0u32..40,
            wanted in 1usize..8,
            share in 0.05f32..1.0,
            space in prop::sample::select(PruneSpace::ALL.to_vec()),
            seed in 0u64..1000,
        ) {
            let rows = Line((0..40).map(|n| n as f32 / 10.0).collect());
            let config = RanaConfig {
                negatives: wanted,
                prune: Prune::Quantile(share),
                prune_space: space,
                ..RanaConfig::default()
            };
            let sampler = NegativeSampler { config: &config, rows: &rows, entities: 40 };
            let (known, candidates) = (ids(known), ids(candidates));
            let pair = Pair { head: EntityId(0), tail: EntityId(tail) };
            let kept = sampler.cutoff_and_survivors(pair.tail, &candidates);
            let choice = |cutoff| Choice { pair, candidates: &candidates, known: &known, cutoff };
            let mut pruned = NegativeCounts::default();
            let drawn = sampler.draw(&choice(&kept), &mut keyed_rng([seed, 0, 0, 0]), &mut pruned);
            let compared = sampler.cutoff(pair.tail, &candidates);
            let mut pruned_again = NegativeCounts::default();
            let again = sampler.draw(&choice(&compared), &mut keyed_rng([seed, 0, 0, 0]), &mut pruned_again);
            prop_assert_eq!((&drawn, pruned), (&again, pruned_again));
            let cutoff = kept.least;
            prop_assert!(pruned.refused <= pruned.seen);
            let mut distinct = drawn.clone();
            distinct.sort_unstable();
            distinct.dedup();
            prop_assert_eq!(distinct.len(), drawn.len());
            for &negative in &drawn {
                prop_assert!(negative != pair.tail && !known.contains(&negative));
            }
            let mut valid: Vec<EntityId> = candidates
                .iter()
                .copied()
                .filter(|id| *id != pair.tail && !known.contains(id))
                .collect();
            valid.sort_unstable();
            valid.dedup();
            let survivors = valid.iter().filter(|id| sampler.similarity(pair.tail, **id) >= cutoff).count();
            if survivors >= wanted {
                prop_assert_eq!(drawn.len(), wanted);
                prop_assert!(drawn.iter().all(|id| sampler.similarity(pair.tail, *id) >= cutoff));
            }
            if !valid.is_empty() {
                prop_assert_eq!(drawn.len(), wanted.min(valid.len()));
                prop_assert!(drawn.iter().all(|id| valid.contains(id)));
            }
        }
    }

    #[test]
    fn too_few_survivors_are_the_nearest_or_repeated() {
        let rows = Line((0..10).map(|n| n as f32).collect());
        let draw = |few_survivors| {
            let config = RanaConfig {
                negatives: 3,
                prune: Prune::Threshold(15.0),
                few_survivors,
                ..RanaConfig::default()
            };
            let sampler = NegativeSampler { config: &config, rows: &rows, entities: 10 };
            // At 2, only those from 8 on are similar enough, and 9 is true.
            let candidates = ids(0..10);
            let choice = Choice {
                pair: Pair { head: EntityId(0), tail: EntityId(2) },
                candidates: &candidates,
                known: &[EntityId(9)],
                cutoff: &sampler.cutoff(EntityId(2), &candidates),
            };
            sampler.draw(&choice, &mut keyed_rng([1, 0, 0, 0]), &mut NegativeCounts::default())
        };
        assert_eq!(draw(FewSurvivors::Nearest), ids([8, 7, 6]));
        assert_eq!(draw(FewSurvivors::Repeat), ids([8, 8, 8]));
    }

    #[test]
    fn a_quantile_keeps_its_share() {
        let rows = Line((0..10).map(|n| n as f32).collect());
        let config = RanaConfig { prune: Prune::Quantile(0.3), ..RanaConfig::default() };
        let sampler = NegativeSampler { config: &config, rows: &rows, entities: 10 };
        let cutoff = sampler.cutoff(EntityId(2), &ids(0..10));
        assert_eq!(cutoff.least, 14.0);
        let choice = Choice {
            pair: Pair { head: EntityId(0), tail: EntityId(2) },
            candidates: &ids(0..10),
            known: &[EntityId(7)],
            cutoff: &cutoff,
        };
        // Only 8 and 9 survive; the others come in their order.
        assert_eq!(sampler.first(&choice), ids([8, 9, 0, 1, 3]));
    }
}
