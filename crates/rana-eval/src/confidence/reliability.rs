//! [`Reliability`]: whether answers are right as often as they are said to be.

use rana_fewshot::{FewShotModel, Support, SupportOrder};
use rana_graph::{Graph, Pair, Split, TaskSet};
use serde::{Deserialize, Serialize};

use super::calibration::{Calibration, Signs};
use super::calibration_examples::TOP;
use super::head_scores::{HeadScores, Tails};
use super::leave_one_out::leave_one_out_rank;
use crate::few_shot_evaluation::FewShotError;

/// Bins of the curve, evenly between 0 and 1.
const BINS: usize = 10;

/// Whether answers are right as often as they are said to be.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reliability {
    /// How many answers were looked at: the best ten of each head.
    pub answers: u64,
    /// The mean distance between what was said and what was so, each answer counting the same (the expected
    /// calibration error).
    pub expected_error: f64,
    /// Answers by confidence; bins without any are left out.
    pub bins: Vec<ReliabilityBin>,
}

/// Answers that are about equally sure.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReliabilityBin {
    /// How many there are.
    pub answers: u64,
    /// How sure they are in the mean.
    pub confidence: f64,
    /// The share of them that is right.
    pub right: f64,
}

impl Reliability {
    /// The reliability of answers with their confidence.
    #[must_use]
    pub fn of(answers: &[(f32, bool)]) -> Self {
        let mut sums = [(0_u64, 0.0, 0.0); BINS];
        for &(confidence, right) in answers {
            let bin = &mut sums[((confidence * BINS as f32) as usize).min(BINS - 1)];
            *bin = (bin.0 + 1, bin.1 + f64::from(confidence), bin.2 + f64::from(right));
        }
        let bins: Vec<ReliabilityBin> = sums
            .iter()
            .filter(|(count, ..)| *count > 0)
            .map(|&(answers, confidence, right)| {
                let count = answers as f64;
                ReliabilityBin { answers, confidence: confidence / count, right: right / count }
            })
            .collect();
        let error: f64 = bins.iter().map(|bin| bin.answers as f64 * (bin.confidence - bin.right).abs()).sum();
        let count = answers.len() as u64;
        Self { answers: count, expected_error: if count == 0 { 0.0 } else { error / count as f64 }, bins }
    }

    /// How far a calibration can be relied on for the tasks of a split, with the first `shots` facts given.
    ///
    /// # Errors
    /// If a task has no fact left for a query, or the model cannot answer for a support.
    pub fn measure(
        calibration: &Calibration,
        model: &dyn FewShotModel,
        graph: &Graph,
        tasks: &TaskSet,
        split: Split,
        shots: usize,
    ) -> Result<Self, FewShotError> {
        let mut answers = Vec::new();
        for task in tasks.of(split) {
            let refused = |source| {
                let relation = graph.relation_name(task.relation).to_owned();
                FewShotError::Support { relation, source }
            };
            let episode = SupportOrder::official(&task).episode(shots)?;
            let support = Support::of_task(&task, &episode.support, task.relation.0.into());
            let signs = Signs { record: leave_one_out_rank(model, &support).map_err(refused)?, shots };
            let relation = model.adapt(&support).map_err(refused)?;
            let mut heads: Vec<_> = episode.query.iter().map(|query| query.head).collect();
            heads.sort_unstable();
            heads.dedup();
            let tails = Tails::new(task.candidates.to_vec());
            for head in heads {
                let scores =
                    HeadScores::of(&*relation, head, &tails).without(Pair::tails_of(&episode.support, head));
                let scale = calibration.scale(&scores, signs);
                let known = tasks.known_tails(head, task.relation);
                answers.extend(scores.best(TOP).into_iter().filter_map(|(tail, score)| {
                    Some((calibration.confidence(score, &scale)?, known.binary_search(&tail).is_ok()))
                }));
            }
        }
        Ok(Self::of(&answers))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_is_the_mean_distance() {
        // Two bins: .25 said and half right, .95 said and all right.
        let answers = [(0.25, true), (0.25, false), (0.95, true), (0.95, true)];
        let reliability = Reliability::of(&answers);
        assert_eq!(reliability.bins.len(), 2);
        assert_eq!((reliability.bins[0].right, reliability.bins[1].right), (0.5, 1.0));
        let expected = 0.5 * 0.25 + 0.5 * 0.05;
        assert!((reliability.expected_error - expected).abs() < 1e-6, "{reliability:?}");
        assert_eq!(Reliability::of(&[]).expected_error, 0.0);
        assert_eq!(Reliability::of(&[(1.0, true)]).bins[0].answers, 1);
    }
}
