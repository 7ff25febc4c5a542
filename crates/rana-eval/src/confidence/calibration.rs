//! [`Calibration`]: from scores to chances.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::calibration_examples::{CalibrationExamples, ExampleHead, TEMPERATURES};
use super::head_scores::HeadScores;
use super::isotonic_regression::Isotonic;
use super::logistic_regression::{dot, fit, sigmoid};
use super::reliability::Reliability;

/// How many signs there are, the constant included.
const TERMS: usize = 4;
/// Fewer tasks say nothing about a new relation.
const FEWEST_TASKS: usize = 5;
/// Fewer answers say nothing about a precision.
const FEWEST_ANSWERS: u64 = 20;
/// Parts into which tasks are cut to see how well a calibration fits tasks it was not learned on.
const PARTS: usize = 5;
/// Confidence rises with the score by at least this slope.
const LEAST_SLOPE: f64 = 1e-3;
/// Larger margins count as this one.
const WIDEST_MARGIN: f64 = 30.0;
/// Thresholds at which precision is noted, evenly between 0 and 1.
const THRESHOLDS: usize = 100;

/// Turns the score of an answer into the chance that it is right, without ever changing the order of the answers of a
/// head.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// The factor of scores.
    pub temperature: f64,
    /// What each sign counts: the margin (never negative), the leave-one-out rank, one over the size of the support, a
    /// constant.
    pub weights: [f64; TERMS],
    /// What becomes of the chance that the signs give: a logistic curve has the right order, not the right shape.
    pub curve: Isotonic,
    /// The mean leave-one-out rank of the supports that it was learned on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usual_record: Option<f32>,
    /// How many tasks it was learned on.
    pub tasks: usize,
    /// How many answers.
    pub answers: u64,
    /// Whether the model was trained on tasks that this was learned on: then it is too bold about others.
    #[serde(default)]
    pub seen_in_training: bool,
    /// How well it fits tasks that it was not learned on.
    pub reliability: Reliability,
    /// What to expect above each confidence, on tasks that it was not learned on.
    pub precision: Vec<PrecisionPoint>,
}

/// What to expect of the answers above a confidence.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PrecisionPoint {
    /// The confidence.
    pub confidence: f32,
    /// The share of right ones among the answers above it.
    pub precision: f64,
    /// The standard error of that share for another task: answers of one task are right or wrong together.
    #[serde(default)]
    pub error: f64,
    /// How many answers that is.
    pub answers: u64,
    /// The share of all right answers that is found so.
    pub found: f64,
}

impl PrecisionPoint {
    /// The precision that can be promised for another task: one standard error less than what was measured.
    #[must_use]
    pub fn promised(&self) -> f64 {
        self.precision - self.error
    }
}

/// The signs that confidence is computed from, beside the score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Signs {
    /// How well the model finds each pair of the support by the others; none if there is only one pair.
    pub record: Option<f32>,
    /// How many pairs the support has.
    pub shots: usize,
}

/// What a score of one head is compared with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    log_sum: f64,
    signs: Signs,
}

impl Calibration {
    /// Checks values that were read from a file.
    ///
    /// # Errors
    /// If no calibration can have them; with what is wrong.
    pub fn check(&self) -> Result<(), String> {
        let is_share = |value: f64| (0.0..=1.0).contains(&value);
        let problem = if !(self.temperature.is_finite() && self.temperature > 0.0) {
            "`temperature` must be a positive number"
        } else if !self.weights.iter().all(|weight| weight.is_finite()) {
            "`weights` must be finite numbers"
        } else if !self.curve.is_rising_share() {
            "`curve` must rise from 0 to 1 at most"
        } else if self.usual_record.is_some_and(|record| !is_share(f64::from(record))) {
            "`usual_record` must be between 0 and 1"
        } else if !self.precision.iter().all(|point| {
            [f64::from(point.confidence), point.precision, point.error, point.found].into_iter().all(is_share)
        }) {
            "`precision` must hold shares between 0 and 1"
        } else {
            return Ok(());
        };
        Err(format!("this is no calibration: {problem}"))
    }

    /// Learns from examples; none if they are of too few tasks to say anything about others.
    #[must_use]
    pub fn learn(examples: &CalibrationExamples) -> Option<Self> {
        let mut by_task: BTreeMap<u32, Vec<&ExampleHead>> = BTreeMap::new();
        for head in &examples.heads {
            by_task.entry(head.task).or_default().push(head);
        }
        if by_task.len() < FEWEST_TASKS {
            return None;
        }
        let tasks: Vec<Vec<&ExampleHead>> = by_task.into_values().collect();
        let signs = SignCurve::learn(&tasks.concat());
        let mut unseen: Vec<UnseenAnswer> = Vec::new();
        for part in 0..PARTS {
            let of = |is_asked: bool| {
                let chosen = tasks.iter().enumerate().filter(move |(at, _)| (at % PARTS == part) == is_asked);
                chosen.flat_map(|(_, heads)| heads.iter().copied()).collect::<Vec<_>>()
            };
            let signs = SignCurve::learn(&of(false));
            let answers = |head: &&ExampleHead| {
                signs
                    .confidences(head)
                    .map(|(confidence, is_right)| UnseenAnswer { task: head.task, confidence, is_right })
                    .collect::<Vec<_>>()
            };
            unseen.extend(of(true).iter().flat_map(answers));
        }
        let records = examples.heads.iter().map(|head| f64::from(head.record));
        let usual_record = records.sum::<f64>() / examples.heads.len().max(1) as f64;
        let right: f64 = examples.heads.iter().map(|head| head.right.len() as f64).sum();
        Some(Self {
            temperature: signs.temperature(),
            weights: signs.weights,
            curve: signs.curve,
            usual_record: Some(usual_record as f32),
            tasks: tasks.len(),
            seen_in_training: false,
            answers: examples.heads.iter().map(|head| head.answers.len() as u64).sum(),
            reliability: Reliability::of(
                &unseen.iter().map(|of| (of.confidence, of.is_right)).collect::<Vec<_>>(),
            ),
            precision: precision_curve(&unseen, right),
        })
    }

    /// What the scores of a head are compared with.
    #[must_use]
    pub fn scale(&self, scores: &HeadScores<'_>, signs: Signs) -> Scale {
        Scale { log_sum: scores.log_sum(self.temperature), signs }
    }

    /// The chance that an answer is right; none if the support has too few pairs to say.
    #[must_use]
    pub fn confidence(&self, score: f32, scale: &Scale) -> Option<f32> {
        let record = scale.signs.record?;
        let margin = margin(score, self.temperature, scale.log_sum);
        let guess = sigmoid(dot(&self.weights, &terms(margin, record, scale.signs.shots)));
        Some(self.curve.at(guess) as f32)
    }

    /// The lowest confidence above which at least a share `wanted` of answers is right, less one standard error, if
    /// there is any. Without the error the promise would hold for the tasks that it was measured on and be broken for
    /// half of the others.
    #[must_use]
    pub fn threshold(&self, wanted: f64) -> Option<PrecisionPoint> {
        let enough = |point: &&PrecisionPoint| point.answers >= FEWEST_ANSWERS && point.promised() >= wanted;
        self.precision.iter().find(enough).copied()
    }

    /// The point of the highest precision that can be promised.
    #[must_use]
    pub fn best_precision(&self) -> Option<PrecisionPoint> {
        let known = self.precision.iter().filter(|point| point.answers >= FEWEST_ANSWERS);
        known.max_by(|one, other| one.promised().total_cmp(&other.promised())).copied()
    }
}

/// The logarithm of the odds that an answer would have if one of the candidates had to be right.
fn margin(score: f32, temperature: f64, log_sum: f64) -> f64 {
    // No number at all stands out from nothing.
    if !log_sum.is_finite() || !score.is_finite() {
        return -WIDEST_MARGIN;
    }
    let share = (temperature * f64::from(score) - log_sum).min(0.0);
    let odds = share - (-share.exp_m1()).ln();
    // All mass on one candidate: infinite odds.
    if odds.is_nan() { WIDEST_MARGIN } else { odds.clamp(-WIDEST_MARGIN, WIDEST_MARGIN) }
}

fn terms(margin: f64, record: f32, shots: usize) -> [f64; TERMS] {
    [margin, f64::from(record), 1.0 / shots as f64, 1.0]
}

/// What is learned from examples.
struct SignCurve {
    /// Which of the [`TEMPERATURES`].
    temperature: usize,
    weights: [f64; TERMS],
    curve: Isotonic,
}

impl SignCurve {
    /// The temperature under which right tails are most likely, the weights of signs, and the curve behind them.
    fn learn(heads: &[&ExampleHead]) -> Self {
        let likely = |at: usize| -> f64 {
            let of_head = |head: &&ExampleHead| {
                let share = |&score: &f32| TEMPERATURES[at] * f64::from(score) - head.log_sums[at];
                head.right.iter().map(share).sum::<f64>()
            };
            heads.iter().map(of_head).sum()
        };
        let best = (0..TEMPERATURES.len()).max_by(|&one, &other| likely(one).total_cmp(&likely(other)));
        let temperature = best.unwrap_or(0);
        let straight = Self { temperature, weights: [0.0; TERMS], curve: Isotonic::default() };
        let answers: Vec<([f64; TERMS], bool)> =
            heads.iter().flat_map(|head| straight.answers(head)).collect();
        let mut weights = fit(&answers);
        weights[0] = weights[0].max(LEAST_SLOPE);
        let guesses = answers.iter().map(|(terms, right)| (sigmoid(dot(&weights, terms)), *right));
        Self { temperature, weights, curve: Isotonic::learn(guesses.collect()) }
    }

    fn temperature(&self) -> f64 {
        TEMPERATURES[self.temperature]
    }

    /// The signs of each answer of a head, and whether it is right.
    fn answers(&self, head: &ExampleHead) -> impl Iterator<Item = ([f64; TERMS], bool)> {
        let (temperature, log_sum) = (self.temperature(), head.log_sums[self.temperature]);
        head.answers.iter().map(move |&(score, right)| {
            (terms(margin(score, temperature, log_sum), head.record, head.shots), right)
        })
    }

    /// The confidence of each answer of a head, and whether it is right.
    fn confidences(&self, head: &ExampleHead) -> impl Iterator<Item = (f32, bool)> {
        self.answers(head)
            .map(|(terms, right)| (self.curve.at(sigmoid(dot(&self.weights, &terms))) as f32, right))
    }
}

/// An answer to a task that the calibration was not learned on.
struct UnseenAnswer {
    task: u32,
    confidence: f32,
    is_right: bool,
}

fn precision_curve(answers: &[UnseenAnswer], right: f64) -> Vec<PrecisionPoint> {
    let points = (0..THRESHOLDS).map(|at| {
        let confidence = at as f32 / THRESHOLDS as f32;
        let mut by_task: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
        for answer in answers.iter().filter(|of| of.confidence >= confidence) {
            let (count, found) = by_task.entry(answer.task).or_default();
            *count += 1.0;
            *found += f64::from(answer.is_right);
        }
        let (count, found) = by_task.values().fold((0.0, 0.0), |sum, of| (sum.0 + of.0, sum.1 + of.1));
        let share = |part: f64, of: f64| if of > 0.0 { part / of } else { 0.0 };
        let precision = share(found, count);
        // The error of a ratio whose parts are sums over tasks.
        let squares: f64 = by_task.values().map(|(count, found)| (found - precision * count).powi(2)).sum();
        PrecisionPoint {
            confidence,
            precision,
            error: share(squares.sqrt(), count),
            answers: count as u64,
            found: share(found, right),
        }
    });
    points.collect()
}

#[cfg(test)]
mod tests {
    use super::super::head_scores::Tails;
    use super::*;
    use proptest::prelude::*;
    use rana_fewshot::AdaptedRelation;
    use rana_graph::EntityId;

    struct Listed(Vec<f32>);

    impl AdaptedRelation for Listed {
        fn scores(&self, _: &[EntityId], candidates: &[EntityId], out: &mut [f32]) {
            out.iter_mut().zip(candidates).for_each(|(out, tail)| *out = self.0[tail.index()]);
        }
    }

    fn tails(count: usize) -> Tails {
        Tails::new((0..count as u32).map(EntityId).collect())
    }

    fn head_scores<'c>(tails: &'c Tails, scores: &[f32]) -> HeadScores<'c> {
        HeadScores::of(&Listed(scores.to_vec()), EntityId(0), tails)
    }

    /// Tasks in which the best answer is right if it stands out by more than a bound.
    fn examples(tasks: u32) -> CalibrationExamples {
        let head = |task: u32, number: u32| {
            let lead = (task * 7 + number * 13) % 10;
            let scores: Vec<f32> =
                (0..20).map(|at| if at == 0 { lead as f32 } else { 0.1 * at as f32 }).collect();
            let tails = tails(scores.len());
            let all = head_scores(&tails, &scores);
            let is_right = (lead + number % 3) > 5;
            ExampleHead {
                task,
                record: 0.5,
                shots: 5,
                log_sums: TEMPERATURES.map(|temperature| all.log_sum(temperature)),
                answers: all
                    .best(10)
                    .into_iter()
                    .map(|(tail, score)| (score, is_right && tail.0 == 0))
                    .collect(),
                right: if is_right { all.of_tails(&[EntityId(0)]) } else { Vec::new() },
            }
        };
        let heads = (0..tasks).flat_map(|task| (0..30).map(move |number| head(task, number)));
        CalibrationExamples { heads: heads.collect() }
    }

    #[test]
    fn it_is_sure_where_answers_stand_out_and_says_nothing_of_too_little() {
        assert_eq!(Calibration::learn(&examples(4)), None);
        let learned = Calibration::learn(&examples(10)).unwrap();
        assert_eq!((learned.tasks, learned.answers), (10, 3000));
        assert!(learned.reliability.expected_error < 0.05, "{:?}", learned.reliability);
        let of = |lead: f32, record| {
            let scores: Vec<f32> = (0..20).map(|at| if at == 0 { lead } else { 0.1 * at as f32 }).collect();
            let scale = learned.scale(&head_scores(&tails(20), &scores), Signs { record, shots: 5 });
            learned.confidence(lead, &scale)
        };
        assert!(of(9.0, Some(0.5)).unwrap() > 0.8);
        assert!(of(2.0, Some(0.5)).unwrap() < 0.2);
        assert_eq!(of(9.0, None), None, "one pair leaves nothing to test it by");
        let sure = learned.threshold(0.9).unwrap();
        assert!(sure.confidence > 0.3 && sure.precision >= 0.9 && sure.answers >= FEWEST_ANSWERS, "{sure:?}");
        assert_eq!(learned.threshold(1.01), None);
        assert!(learned.best_precision().unwrap().precision >= sure.precision);
    }

    /// A run of an earlier version has no checksum of its calibration, so an edited one is found by its values.
    #[test]
    fn values_that_no_calibration_has_are_refused() {
        let learned = Calibration::learn(&examples(10)).unwrap();
        assert_eq!(learned.check(), Ok(()));
        let changed = |change: &dyn Fn(&mut Calibration)| {
            let mut other = learned.clone();
            change(&mut other);
            other.check().unwrap_err()
        };
        for temperature in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(changed(&|of| of.temperature = temperature).contains("`temperature`"), "{temperature}");
        }
        assert!(changed(&|of| of.weights[0] = f64::NAN).contains("`weights`"));
        assert!(changed(&|of| of.usual_record = Some(1.5)).contains("`usual_record`"));
        assert!(changed(&|of| of.precision[0].precision = -0.1).contains("`precision`"));
        assert!(changed(&|of| of.precision[0].confidence = f32::NAN).contains("`precision`"));
        let bends = |bends: &[[f64; 2]]| {
            let bends: Vec<_> =
                bends.iter().map(|[at, right]| serde_json::json!({"at": at, "right": right})).collect();
            serde_json::from_value::<Isotonic>(serde_json::json!({"bends": bends})).unwrap()
        };
        for wrong in [&[[0.2, 0.9], [0.8, 0.1]][..], &[[0.2, 1.5]], &[[0.8, 0.1], [0.2, 0.9]]] {
            assert!(changed(&|of| of.curve = bends(wrong)).contains("`curve`"), "{wrong:?}");
        }
    }

    #[test]
    fn a_promise_allows_for_tasks_that_are_unlike_the_others() {
        let answers = |right: &dyn Fn(u32) -> bool| -> Vec<UnseenAnswer> {
            let of = |task: u32| {
                (0..20).map(move |_| UnseenAnswer { task, confidence: 0.9, is_right: right(task) })
            };
            (0..5).flat_map(of).collect()
        };
        // Four of five tasks are all right, the fifth is all wrong.
        let point = precision_curve(&answers(&|task| task > 0), 80.0)[0];
        assert!((point.precision - 0.8).abs() < 1e-12 && point.answers == 100, "{point:?}");
        let expected = (16.0_f64 * 16.0 + 4.0 * 4.0 * 4.0).sqrt() / 100.0;
        assert!((point.error - expected).abs() < 1e-12, "{point:?}");
        let learned = Calibration { precision: vec![point], ..Calibration::learn(&examples(10)).unwrap() };
        assert_eq!(learned.threshold(0.8), None);
        assert_eq!(learned.threshold(0.6), Some(point));
        assert_eq!(precision_curve(&answers(&|_| true), 100.0)[0].error, 0.0);
    }

    proptest! {
        /// Whatever was learned, and whatever the scores are.
        #[test]
        fn no_order_is_changed(
            scores in prop::collection::vec(-40.0_f32..40.0, 1..60),
            temperature in prop::sample::select(TEMPERATURES.to_vec()),
            slope in 0.001_f64..5.0,
            others in prop::array::uniform3(-5.0_f64..5.0),
            record in 0.0_f32..1.0,
        ) {
            let weights = [slope, others[0], others[1], others[2]];
            let learned = Calibration { temperature, weights, ..Calibration::learn(&examples(5)).unwrap() };
            let tails = tails(scores.len());
            let all = head_scores(&tails, &scores);
            let scale = learned.scale(&all, Signs { record: Some(record), shots: 5 });
            let ranked = all.best(scores.len());
            let chances: Vec<f32> =
                ranked.iter().map(|&(_, score)| learned.confidence(score, &scale).unwrap()).collect();
            prop_assert!(chances.iter().all(|chance| (0.0..=1.0).contains(chance)));
            prop_assert!(chances.is_sorted_by(|one, other| one >= other), "{chances:?}");
        }
    }
}
