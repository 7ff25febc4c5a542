//! [`LeftOut`]: each pair of a support in turn, to be found by the others.

use rana_graph::{EntityId, Pair};

use crate::support::Support;

/// A mean over a few pairs is all that is wanted, and each one costs an adaptation to all others.
const MOST_PAIRS: usize = 8;
/// How many of the others it is found by: with all of a large support, learning would take quadratic time.
const MOST_OTHERS: usize = 32;

/// A pair of a support that is left out of it and used as a query.
pub struct LeftOut {
    /// The pair.
    pub asked: Pair,
    /// The others, at most 32 of them.
    pub left: Vec<Pair>,
    /// The tail of the pair, then other candidates. Other tails of its head in the support are left out.
    pub candidates: Vec<EntityId>,
    /// How many candidates of the support each of these others represents.
    pub stands_for: usize,
}

impl LeftOut {
    /// Leaves out the pairs of a support in turn, at most eight. Each has about `most_candidates` candidates, evenly
    /// spaced among all, so that they are always the same. Empty for a support of one pair, because no pair is left
    /// to find it from.
    #[must_use]
    pub fn each(support: &Support<'_>, most_candidates: usize) -> Vec<Self> {
        let pairs = support.pairs;
        if pairs.len() < 2 {
            return Vec::new();
        }
        let stands_for = support.candidates.len().div_ceil(most_candidates).max(1);
        let every = pairs.len().div_ceil(MOST_PAIRS);
        let of = |(at, &asked): (usize, &Pair)| {
            let others = pairs.iter().enumerate().filter(|&(other, _)| other != at).map(|(_, &pair)| pair);
            let left = others.step_by((pairs.len() - 1).div_ceil(MOST_OTHERS)).collect();
            let is_right = |tail: EntityId| pairs.contains(&Pair { tail, ..asked });
            let rivals =
                support.candidates.iter().copied().step_by(stands_for).filter(|&tail| !is_right(tail));
            let candidates = std::iter::once(asked.tail).chain(rivals).collect();
            Self { asked, left, candidates, stands_for }
        };
        pairs.iter().enumerate().step_by(every).map(of).collect()
    }

    /// The first pair of a support with candidates, nothing left out; none if there is no pair.
    #[must_use]
    pub fn none(support: &Support<'_>, most_candidates: usize) -> Option<Self> {
        let twice = [support.pairs.first().copied()?; 2];
        let mut first =
            Self::each(&Support { pairs: &twice, ..*support }, most_candidates).into_iter().next()?;
        first.left = support.pairs.to_vec();
        Some(first)
    }

    /// The support without the pair.
    #[must_use]
    pub fn support<'a>(&'a self, of: &Support<'a>) -> Support<'a> {
        Support { pairs: &self.left, ..*of }
    }

    /// How many rivals have a higher score than the pair; ties count half, as in an evaluation.
    ///
    /// `scores` are those of the candidates, in their order.
    #[must_use]
    pub fn ahead(mut scores: impl Iterator<Item = f32>) -> f32 {
        let right = scores.next().unwrap_or(0.0);
        scores.map(|score| if score > right { 1.0 } else { 0.5 * f32::from(score == right) }).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_pair_is_asked_for_by_the_others() {
        let pair = |head, tail| Pair { head: EntityId(head), tail: EntityId(tail) };
        let pairs = [pair(0, 10), pair(0, 11), pair(1, 12)];
        let candidates: Vec<EntityId> = (10..20).map(EntityId).collect();
        let support =
            Support { relation: None, pairs: &pairs, candidates: &candidates, rejected: &[], seed: 0 };
        let all = LeftOut::each(&support, 100);
        assert_eq!(all.iter().map(|of| of.asked).collect::<Vec<_>>(), pairs);
        assert_eq!(all[1].support(&support).pairs, [pairs[0], pairs[2]]);
        // The head's other tail is no rival.
        assert_eq!(all[1].candidates[0], EntityId(11));
        assert!(all[1].candidates.len() == 9 && !all[1].candidates.contains(&EntityId(10)));
        assert_eq!(LeftOut::each(&support, 5)[2].stands_for, 2);
        assert!(LeftOut::each(&Support { pairs: &pairs[..1], ..support }, 5).is_empty());
        let many: Vec<Pair> = (0..30).map(|at| pair(at, at)).collect();
        assert_eq!(LeftOut::each(&Support { pairs: &many, ..support }, 5).len(), 8);
        let very_many: Vec<Pair> = (0..1000).map(|at| pair(at, at)).collect();
        for one in LeftOut::each(&Support { pairs: &very_many, ..support }, 5) {
            assert!((28..=32).contains(&one.left.len()) && !one.left.contains(&one.asked));
        }
        assert_eq!(LeftOut::ahead([1.0, 2.0, 1.0, 0.0].into_iter()), 1.5);
    }
}
