//! [`Isotonic`]: the best rising curve through what happened, by pooling adjacent violators.

use serde::{Deserialize, Serialize};

/// The least answers per step of the curve.
const FEWEST: usize = 100;
/// The most steps of the curve; more would fit noise.
const MOST: usize = 200;

/// A curve that never falls: where a first guess was `at`, the share of right answers was `right`; straight in between.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Isotonic {
    bends: Vec<Bend>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Bend {
    at: f64,
    right: f64,
}

impl Isotonic {
    /// Whether the curve rises and stays between 0 and 1.
    pub(super) fn is_rising_share(&self) -> bool {
        let is_share = self.bends.iter().all(|bend| bend.at.is_finite() && (0.0..=1.0).contains(&bend.right));
        is_share && self.bends.is_sorted_by(|one, next| one.at <= next.at && one.right <= next.right)
    }

    /// Learns the curve from first guesses and what was right.
    pub(super) fn learn(mut guesses: Vec<(f64, bool)>) -> Self {
        guesses.sort_by(|one, other| one.0.total_cmp(&other.0));
        let size = FEWEST.max(guesses.len().div_ceil(MOST));
        // (count, sum of guesses, right ones)
        let mut pooled: Vec<(f64, f64, f64)> = Vec::new();
        for block in guesses.chunks(size) {
            let sum = block.iter().map(|(guess, _)| guess).sum();
            let right = block.iter().filter(|(_, right)| *right).count() as f64;
            pooled.push((block.len() as f64, sum, right));
            while let [.., before, last] = pooled[..]
                && before.2 / before.0 > last.2 / last.0
            {
                pooled.pop();
                pooled.pop();
                pooled.push((before.0 + last.0, before.1 + last.1, before.2 + last.2));
            }
        }
        // One right and one wrong answer more than there were: nothing is certain.
        let bend = |(count, sum, right): (f64, f64, f64)| Bend {
            at: sum / count,
            right: (right + 1.0) / (count + 2.0),
        };
        let mut bends: Vec<Bend> = pooled.into_iter().map(bend).collect();
        let mut highest = 0.0_f64;
        for bend in &mut bends {
            highest = highest.max(bend.right);
            bend.right = highest;
        }
        Self { bends }
    }

    /// The share of right answers to expect behind a first guess.
    pub(super) fn at(&self, guess: f64) -> f64 {
        let after = self.bends.partition_point(|bend| bend.at < guess);
        match (after.checked_sub(1).and_then(|before| self.bends.get(before)), self.bends.get(after)) {
            (Some(low), Some(high)) => {
                let way = (guess - low.at) / (high.at - low.at);
                low.right + way * (high.right - low.right)
            }
            (None, Some(only)) | (Some(only), None) => only.right,
            (None, None) => guess,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_was_said_too_boldly_is_set_right() {
        // Said .9, right half of the time; said .1, never.
        let guesses = (0..1000).map(|at| if at % 2 == 0 { (0.1, false) } else { (0.9, at % 4 == 1) });
        let curve = Isotonic::learn(guesses.collect());
        assert!((curve.at(0.9) - 0.5).abs() < 0.02 && curve.at(0.1) < 0.02, "{curve:?}");
        assert!(curve.at(0.95) <= curve.at(1.0) && curve.at(0.0) <= curve.at(0.1));
    }

    proptest! {
        #[test]
        fn it_never_falls(
            guesses in prop::collection::vec((0.0_f64..1.0, any::<bool>()), 0..800),
            mut asked in prop::collection::vec(0.0_f64..1.0, 2..50),
        ) {
            let curve = Isotonic::learn(guesses);
            asked.sort_by(f64::total_cmp);
            let said: Vec<f64> = asked.iter().map(|&guess| curve.at(guess)).collect();
            prop_assert!(said.is_sorted_by(|one, other| *one <= other + 1e-12), "{said:?}");
            prop_assert!(said.iter().all(|share| (0.0..=1.0).contains(share)));
        }
    }
}
