//! [`CandidatePolicy`]: what the true tail of a query competes with.

use std::fmt;
use std::num::NonZeroUsize;
use std::str::FromStr;

use rana_graph::{EntityId, Pair, RelationId, keyed_rng};
use rand::seq::index;
use serde::{Serialize, Serializer};

/// What the true tail of a query is ranked among. Known tails are left out under each of them.
///
/// Written `typed`, `all` or `sampled:50`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CandidatePolicy {
    /// The candidates of the task, as in the published protocol.
    #[default]
    Typed,
    /// Every entity of the graph.
    All,
    /// K of the task's candidates, drawn for each query. This is much easier; do not compare it with results under
    /// another policy.
    Sampled(NonZeroUsize),
}

impl fmt::Display for CandidatePolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Typed => f.pad("typed"),
            Self::All => f.pad("all"),
            Self::Sampled(count) => f.pad(&format!("sampled:{count}")),
        }
    }
}

impl FromStr for CandidatePolicy {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let sampled = || text.strip_prefix("sampled:")?.parse().ok().map(Self::Sampled);
        match text {
            "typed" => Ok(Self::Typed),
            "all" => Ok(Self::All),
            _ => sampled().ok_or_else(|| {
                format!(
                    "`{text}` is no candidate policy; say typed, all, or sampled:K with a K of at least 1, such \
                     as sampled:50"
                )
            }),
        }
    }
}

impl Serialize for CandidatePolicy {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Sets these streams of random numbers apart from all others under the same seed.
const PURPOSE: u64 = 0x6e65_6761_7469_7665;

/// Draws up to `count` of `candidates` (each there once) without the true tail and the known ones
/// (in the order of ids).
///
/// What is drawn depends on the seed, the relation and the query alone: every model, every support
/// and every thread meets the same negatives.
pub(crate) fn sample(
    count: NonZeroUsize,
    seed: u64,
    relation: RelationId,
    query: Pair,
    candidates: &[EntityId],
    known: &[EntityId],
) -> Vec<EntityId> {
    let query_key = u64::from(query.head.0) << 32 | u64::from(query.tail.0);
    let mut rng = keyed_rng([seed, PURPOSE, relation.0.into(), query_key]);
    // Extra candidates are drawn, so that enough remain even if all excluded ones are among them. The draw is in
    // random order, so the first ones that remain are a fair sample.
    let spare = known.len() + 1;
    let drawn = count.get().saturating_add(spare).min(candidates.len());
    index::sample(&mut rng, candidates.len(), drawn)
        .into_iter()
        .map(|at| candidates[at])
        .filter(|candidate| *candidate != query.tail && known.binary_search(candidate).is_err())
        .take(count.get())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_read_as_they_are_written() {
        let fifty = CandidatePolicy::Sampled(NonZeroUsize::new(50).unwrap());
        for (policy, name) in
            [(CandidatePolicy::Typed, "typed"), (CandidatePolicy::All, "all"), (fifty, "sampled:50")]
        {
            assert_eq!((policy.to_string().as_str(), name.parse()), (name, Ok(policy)));
            assert_eq!(serde_json::to_value(policy).unwrap(), name);
        }
        for wrong in ["", "type", "sampled", "sampled:", "sampled:0", "sampled:-1", "sampled:x"] {
            assert!(wrong.parse::<CandidatePolicy>().unwrap_err().contains("say typed, all, or sampled:K"));
        }
    }

    #[test]
    fn every_negative_is_drawn_as_often_as_any_other() {
        let candidates: Vec<EntityId> = (0..20).map(EntityId).collect();
        let known: Vec<EntityId> = (0..5).map(EntityId).collect();
        let mut drawn = [0_u32; 20];
        for head in 0..3000 {
            let query = Pair { head: EntityId(head), tail: EntityId(5) };
            let count = NonZeroUsize::new(4).unwrap();
            for entity in sample(count, 7, RelationId::forward(1), query, &candidates, &known) {
                drawn[entity.index()] += 1;
            }
        }
        assert_eq!(drawn[..6], [0; 6]);
        // 3000 · 4 / 14 = 857, with a standard deviation below 25.
        assert!(drawn[6..].iter().all(|times| (757..957).contains(times)), "{drawn:?}");
    }

    proptest! {
        #[test]
        fn samples_hold_no_known_tail_and_as_many_as_there_are(
            count in 1..12_usize, known in prop::collection::btree_set(0..15_u32, 0..8), tail in 0..20_u32,
        ) {
            let candidates: Vec<EntityId> = (0..15).map(EntityId).collect();
            let known: Vec<EntityId> = known.into_iter().map(EntityId).collect();
            let query = Pair { head: EntityId(3), tail: EntityId(tail) };
            let draw = |seed| {
                sample(NonZeroUsize::new(count).unwrap(), seed, RelationId::forward(2), query, &candidates, &known)
            };
            let drawn = draw(1);
            prop_assert_eq!(&drawn, &draw(1));
            let set: BTreeSet<EntityId> = drawn.iter().copied().collect();
            prop_assert!(!set.contains(&query.tail) && known.iter().all(|entity| !set.contains(entity)));
            let left = candidates.iter().filter(|c| **c != query.tail && !known.contains(c)).count();
            prop_assert_eq!((set.len(), drawn.len()), (count.min(left), count.min(left)));
        }
    }
}
