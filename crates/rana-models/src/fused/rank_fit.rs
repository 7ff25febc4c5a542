//! The second fit of trust: by the ranks themselves, from where the likelihood is highest.
//!
//! The likelihood of the right tails is convex, but much of it is spent on queries that no evidence can answer, whereas a
//! mean reciprocal rank hardly counts them. A rank is made smooth by counting a rival in part where scores are close;
//! that has many maxima, so the fit starts where the likelihood is highest and pays for going far from there.

use rayon::prelude::*;

use super::example::Example;
use super::likelihood_fit::{Likely, solve};

/// How trust is fitted to ranks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RankFit {
    /// By how much a rival's score may differ and still count in part; 0 leaves trust to the likelihood.
    pub(super) softness: f64,
    /// What it costs to leave the likelihood's maximum, in units of its curvature.
    pub(super) pull: f64,
}

const MOST_STEPS: usize = 60;
/// A step that gains less is the last.
const SMALL: f64 = 1e-6;
/// Rivals that are so many times the softness behind do not count.
const FAR: f64 = 30.0;
/// A shorter step gains nothing.
const SHORTEST: f64 = 1e-3;

impl RankFit {
    /// The numbers with the highest mean smooth reciprocal rank near those that are most likely.
    pub(super) fn from(self, start: Likely, examples: &[&Example], scales: &[f32]) -> Vec<f64> {
        let Likely { at: likely, curvature } = start;
        let mut at = likely.clone();
        if self.softness == 0.0 {
            return at;
        }
        let height = |at: &[f64]| self.height(examples, scales, at, &likely, &curvature);
        let (mut here, mut slope) = height(&at);
        let mut length = 1.0;
        'steps: for _ in 0..MOST_STEPS {
            // Uphill, as far in each direction as the likelihood is flat in it.
            let Some(step) = solve(&curvature, &slope) else { break };
            let steep: f64 = step.iter().zip(&slope).map(|(step, slope)| step * slope).sum();
            let before = here;
            loop {
                let there: Vec<f64> = at.iter().zip(&step).map(|(at, step)| at + length * step).collect();
                let (found, found_slope) = height(&there);
                if found > here + 0.1 * length * steep {
                    (at, here, slope) = (there, found, found_slope);
                    length *= 1.5;
                    break;
                }
                length /= 2.0;
                if length < SHORTEST {
                    break 'steps;
                }
            }
            if here - before < SMALL {
                break;
            }
        }
        at
    }

    /// The mean smooth reciprocal rank, each example counting the same, less what it costs to be this far from the
    /// likelihood's maximum; and its slope.
    pub(super) fn height(
        self,
        examples: &[&Example],
        scales: &[f32],
        at: &[f64],
        likely: &[f64],
        curvature: &[f64],
    ) -> (f64, Vec<f64>) {
        let parts: Vec<(f64, Vec<f64>)> =
            examples.par_iter().map(|example| self.of_example(example, scales, at)).collect();
        let share = 1.0 / examples.len() as f64;
        let (mut height, mut slope) = (0.0, vec![0.0; at.len()]);
        // In order, whatever the threads did.
        for (part, part_slope) in parts {
            height += share * part;
            slope.iter_mut().zip(&part_slope).for_each(|(sum, part)| *sum += share * part);
        }
        let way: Vec<f64> = at.iter().zip(likely).map(|(at, likely)| at - likely).collect();
        for (row, slope) in slope.iter_mut().enumerate() {
            let force: f64 = curvature[row * at.len()..].iter().zip(&way).map(|(of, way)| of * way).sum();
            height -= 0.5 * self.pull * way[row] * force;
            *slope -= self.pull * force;
        }
        (height, slope)
    }

    fn of_example(self, example: &Example, scales: &[f32], at: &[f64]) -> (f64, Vec<f64>) {
        let weights = example.weights(scales, at);
        let sources = scales.len();
        let share = 1.0 / example.queries.len() as f64;
        let (mut height, mut slope) = (0.0, vec![0.0; sources]);
        for query in &example.queries {
            let score = |row: &[f32]| {
                f64::from(row.iter().zip(&weights).map(|(value, weight)| value * weight).sum::<f32>())
            };
            let mut rows = query.rows.chunks_exact(sources).zip(&query.stands_for);
            let Some((right, _)) = rows.next() else { continue };
            let right_score = score(right);
            let (mut rank, mut rank_slope) = (1.0, vec![0.0; sources]);
            for (row, &stands_for) in rows {
                let gap = (right_score - score(row)) / self.softness;
                // Most are far behind.
                if gap > FAR {
                    continue;
                }
                let (ahead, count) = (1.0 / (1.0 + gap.exp()), f64::from(stands_for).exp());
                rank += count * ahead;
                let steep = count * ahead * (1.0 - ahead) / self.softness;
                let ends = row.iter().zip(right);
                rank_slope.iter_mut().zip(ends).for_each(|(slope, (rival, right))| {
                    *slope += steep * f64::from(rival - right);
                });
            }
            height += share / rank;
            slope.iter_mut().zip(&rank_slope).for_each(|(sum, of)| *sum -= share / (rank * rank) * of);
        }
        (height, example.by_term(scales, &slope))
    }
}
