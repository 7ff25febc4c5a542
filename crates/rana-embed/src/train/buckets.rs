//! [`Dealing`]: how an epoch is dealt out to threads that never touch the same entity.
//!
//! Entities are dealt out to buckets, anew in every epoch, and facts to the pairs of buckets that
//! their ends are in. In one round every bucket is in one pair at most, so the jobs of a round share
//! no entity; after all rounds every pair has had its turn.

use std::ops::Range;

use rana_graph::Fact;
use rand::RngExt;
use rand::seq::SliceRandom;

use super::shard::Listed;
use crate::config::EmbedConfig;
use crate::seed::{Purpose, rng};

/// Facts that a job should have at least: fewer would not be worth its fixed costs.
const FACTS_PER_JOB: usize = 4096;
/// Entities that a bucket should have at least: negatives are drawn from it.
const ENTITIES_PER_BUCKET: usize = 512;
/// More buckets would serve more than so many threads.
const MOST_BUCKETS: usize = 64;

/// The facts of an epoch in the order of rounds and jobs.
pub(crate) struct Dealing {
    pub(crate) bucket_of: Vec<u8>,
    /// The entities of each bucket, one after the other.
    members: Vec<u32>,
    member_starts: Vec<usize>,
    pub(crate) order: Vec<Listed>,
    jobs: Vec<Job>,
}

/// Facts whose heads are in one bucket and whose tails in another, or the other way round.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Job {
    round: usize,
    pub(crate) buckets: [u8; 2],
    /// Where in the order the facts from the first to the second bucket are, and those back.
    pub(crate) cells: [Range<usize>; 2],
}

impl Dealing {
    /// Deals out the facts of an epoch; the seed and the epoch decide alone.
    pub(crate) fn new(config: &EmbedConfig, epoch: u32, facts: &[Fact], entities: usize) -> Self {
        let count = bucket_count(facts.len(), entities);
        let mut rng = rng(config.seed, Purpose::Order, [epoch.into(), 0]);
        let bucket_of: Vec<u8> =
            (0..entities).map(|_| (rng.random::<u32>() as usize % count) as u8).collect();
        let (members, member_starts) =
            group(count, 0..entities as u32, |entity| bucket_of[entity as usize].into());
        let cell = |Listed { fact: Fact { head, tail, .. }, .. }: Listed| {
            usize::from(bucket_of[head.index()]) * count + usize::from(bucket_of[tail.index()])
        };
        let (by_cell, starts) = group(count * count, Listed::all(facts), cell);
        let mut dealing = Self {
            bucket_of,
            members,
            member_starts,
            order: Vec::with_capacity(facts.len()),
            jobs: Vec::new(),
        };
        for (round, pairs) in rounds(count).into_iter().enumerate() {
            for [first, second] in pairs {
                let there = dealing
                    .append(&by_cell[starts[first * count + second]..starts[first * count + second + 1]]);
                let back = match first == second {
                    true => there.end..there.end,
                    false => dealing
                        .append(&by_cell[starts[second * count + first]..starts[second * count + first + 1]]),
                };
                dealing.jobs.push(Job { round, buckets: [first as u8, second as u8], cells: [there, back] });
            }
        }
        for job in &dealing.jobs {
            for cell in &job.cells {
                dealing.order[cell.clone()].shuffle(&mut rng);
            }
        }
        dealing
    }

    fn append(&mut self, facts: &[Listed]) -> Range<usize> {
        let start = self.order.len();
        self.order.extend_from_slice(facts);
        start..self.order.len()
    }

    /// The jobs of the round that begins at a place in the order, and where it ends.
    pub(crate) fn round_at(&self, place: usize) -> (&[Job], usize) {
        let from = self.jobs.partition_point(|job| job.cells[1].end <= place);
        let round = self.jobs.get(from).map_or(0, |job| job.round);
        let to = self.jobs.partition_point(|job| job.round <= round);
        (&self.jobs[from..to], self.jobs[from..to].last().map_or(place, |job| job.cells[1].end))
    }

    /// The entities of a bucket.
    pub(crate) fn members(&self, bucket: u8) -> &[u32] {
        let bucket = usize::from(bucket);
        &self.members[self.member_starts[bucket]..self.member_starts[bucket + 1]]
    }
}

/// How many buckets serve so many facts and entities: one, or an even number.
fn bucket_count(facts: usize, entities: usize) -> usize {
    // Each pair of buckets is one job, in both directions.
    let by_facts = (2 * facts / FACTS_PER_JOB).isqrt();
    let most = by_facts.min(entities / ENTITIES_PER_BUCKET).min(MOST_BUCKETS);
    if most < 2 { 1 } else { most & !1 }
}

/// Sorts items by what group they are in, keeping their order; gives where each group starts.
fn group<T: Copy>(
    groups: usize,
    items: impl Iterator<Item = T> + Clone,
    of: impl Fn(T) -> usize,
) -> (Vec<T>, Vec<usize>) {
    let mut starts = vec![0; groups + 1];
    for item in items.clone() {
        starts[of(item) + 1] += 1;
    }
    for at in 0..groups {
        starts[at + 1] += starts[at];
    }
    let mut next = starts.clone();
    let mut sorted: Vec<T> = items.clone().collect();
    for item in items {
        let place = &mut next[of(item)];
        sorted[*place] = item;
        *place += 1;
    }
    (sorted, starts)
}

/// Rounds in which every bucket meets one other, as players of a tournament do, and a last one in
/// which each is alone.
fn rounds(count: usize) -> Vec<Vec<[usize; 2]>> {
    let others = count - 1;
    let mut rounds: Vec<Vec<[usize; 2]>> = (0..others)
        .map(|round| {
            let seat = |at: usize| if at == others { others } else { (at + round) % others };
            (0..count / 2).map(|at| [seat(at), seat(others - at)]).collect()
        })
        .collect();
    rounds.push((0..count).map(|bucket| [bucket, bucket]).collect());
    rounds
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rana_graph::{EntityId, RelationId};
    use std::collections::BTreeSet;

    #[test]
    fn every_pair_of_buckets_meets_once_and_nobody_is_in_two_places() {
        for count in [1, 2, 4, 6, 8, 32] {
            let rounds = rounds(count);
            let mut met = BTreeSet::new();
            for round in &rounds {
                let mut seen = BTreeSet::new();
                for &[a, b] in round {
                    assert!(seen.insert(a) && (a == b || seen.insert(b)), "{count}: {round:?}");
                    assert!(met.insert([a.min(b), a.max(b)]), "{count}: {a} and {b} met twice");
                }
            }
            assert_eq!(met.len(), count * (count + 1) / 2);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]
        #[test]
        fn every_fact_is_dealt_once_and_to_the_buckets_of_its_ends(
            entities in 1usize..6000,
            facts in 1usize..60_000,
            epoch in 0u32..9,
        ) {
            let mut rng = rng(epoch.into(), Purpose::Negatives, [facts as u64, 0]);
            let mut entity = || EntityId(rng.random_range(0..entities as u32));
            let facts: Vec<Fact> = (0..facts)
                .map(|_| Fact { head: entity(), relation: RelationId::forward(0), tail: entity() })
                .collect();
            let dealing = Dealing::new(&EmbedConfig::default(), epoch, &facts, entities);
            let mut sorted = dealing.order.clone();
            sorted.sort_unstable_by_key(|listed| listed.position);
            prop_assert!(sorted.into_iter().eq(Listed::all(&facts)));
            let mut place = 0;
            while place < facts.len() {
                let (jobs, end) = dealing.round_at(place);
                prop_assert!(end > place);
                for job in jobs {
                    let [first, second] = job.buckets;
                    for (cell, [head, tail]) in job.cells.iter().zip([[first, second], [second, first]]) {
                        for &Listed { fact, .. } in &dealing.order[cell.clone()] {
                            prop_assert_eq!(dealing.bucket_of[fact.head.index()], head);
                            prop_assert_eq!(dealing.bucket_of[fact.tail.index()], tail);
                        }
                    }
                }
                place = end;
            }
            let listed: usize = (0..=u8::MAX)
                .filter(|&bucket| dealing.bucket_of.contains(&bucket))
                .map(|bucket| dealing.members(bucket).len())
                .sum();
            prop_assert_eq!(listed, entities);
        }
    }
}
