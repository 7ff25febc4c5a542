//! [`Dealing`]: divides an epoch among threads that never use the same entity.
//!
//! In every epoch the entities are divided into buckets at random. A fact belongs to the pair of buckets of its two
//! ends. Each pair is a job. In one round every bucket is in at most one pair, so the jobs of a round share no
//! entity. After all rounds every pair has been processed.

use std::ops::Range;

use rana_graph::Fact;
use rand::RngExt;
use rand::seq::SliceRandom;

use super::slice::Listed;
use crate::embed_config::EmbedConfig;
use crate::seed::{Purpose, rng};

/// The least facts per job, because a job has fixed costs.
const FACTS_PER_JOB: usize = 4096;
/// The least entities per bucket, because negatives are drawn from it.
const ENTITIES_PER_BUCKET: usize = 512;
/// The most buckets, enough for half as many threads.
const MOST_BUCKETS: usize = 64;

/// The facts of an epoch, ordered by rounds and jobs.
pub(crate) struct Dealing {
    pub(crate) bucket_of: Vec<u8>,
    /// The entities of each bucket, bucket after bucket.
    members: Vec<u32>,
    member_starts: Vec<usize>,
    pub(crate) order: Vec<Listed>,
    jobs: Vec<Job>,
}

/// The facts between two buckets, in both directions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Job {
    round: usize,
    pub(crate) buckets: [u8; 2],
    /// The positions in the order of the facts from the first to the second bucket, and of those back.
    pub(crate) cells: [Range<usize>; 2],
}

impl Dealing {
    /// Divides the facts of an epoch. The result depends only on the seed and the epoch.
    pub(crate) fn new(config: &EmbedConfig, epoch: u32, facts: &[Fact], entities: usize) -> Self {
        let count = bucket_count(facts.len(), entities);
        let mut rng = rng(config.seed, Purpose::Order, [epoch.into(), 0]);
        let bucket_of: Vec<u8> = (0..entities).map(|_| (rng.random::<u32>() % count as u32) as u8).collect();
        let (members, member_starts) =
            group(count, 0..entities as u32, |entity| bucket_of[entity as usize].into());
        let rounds = rounds(count);
        // The position of each cell in the order of rounds and jobs.
        let mut cell_at = vec![0u16; count * count];
        let cells = rounds.iter().flatten().flat_map(|&[first, second]| cells(count, first, second));
        for (at, cell) in (0..).zip(cells) {
            cell_at[cell] = at;
        }
        let cell = |Listed { fact: Fact { head, tail, .. }, .. }: Listed| {
            let cell = usize::from(bucket_of[head.index()]) * count + usize::from(bucket_of[tail.index()]);
            cell_at[cell].into()
        };
        let (mut order, starts) = group(count * count, Listed::all(facts), cell);
        let mut jobs = Vec::with_capacity(count * (count + 1) / 2);
        let mut spans = starts.windows(2).map(|ends| ends[0]..ends[1]);
        for (round, pairs) in rounds.iter().enumerate() {
            for &[first, second] in pairs {
                let there = spans.next().unwrap_or_default();
                let back =
                    if first == second { there.end..there.end } else { spans.next().unwrap_or_default() };
                jobs.push(Job { round, buckets: [first as u8, second as u8], cells: [there, back] });
            }
        }
        for cell in jobs.iter().flat_map(|job| &job.cells) {
            order[cell.clone()].shuffle(&mut rng);
        }
        Self { bucket_of, members, member_starts, order, jobs }
    }

    /// The jobs of the round that begins at a position in the order, and the end of the round.
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

/// The cells of a pair of buckets: both directions, or one if the buckets are the same.
fn cells(count: usize, first: usize, second: usize) -> impl Iterator<Item = usize> {
    let back = (first != second).then_some(second * count + first);
    [Some(first * count + second), back].into_iter().flatten()
}

/// The number of buckets for this many facts and entities: one, or an even number.
fn bucket_count(facts: usize, entities: usize) -> usize {
    // Each pair of buckets is one job, for both directions.
    let by_facts = (2 * facts / FACTS_PER_JOB).isqrt();
    let most = by_facts.min(entities / ENTITIES_PER_BUCKET).min(MOST_BUCKETS);
    if most < 2 { 1 } else { most & !1 }
}

/// Sorts items by group, stably, and gives the start of each group.
fn group<T: Copy>(
    groups: usize,
    items: impl Iterator<Item = T> + Clone,
    of: impl Fn(T) -> usize,
) -> (Vec<T>, Vec<usize>) {
    let mut starts = vec![0; groups + 1];
    // Stored, because finding the group of an item may be slow.
    let of_items: Vec<u16> = items.clone().map(|item| of(item) as u16).collect();
    for &group in &of_items {
        starts[usize::from(group) + 1] += 1;
    }
    for at in 0..groups {
        starts[at + 1] += starts[at];
    }
    let mut next = starts.clone();
    let mut sorted: Vec<T> = items.clone().collect();
    for (item, group) in items.zip(of_items) {
        let place = &mut next[usize::from(group)];
        sorted[*place] = item;
        *place += 1;
    }
    (sorted, starts)
}

/// The rounds of a round-robin tournament, in which every bucket meets every other once, and a last round in which
/// each bucket is paired with itself.
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
