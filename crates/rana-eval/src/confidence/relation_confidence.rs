//! [`RelationConfidence`]: how sure it is that a relation holds between two given entities.
//!
//! Scores of different relations cannot be compared. Signs can: how far the tail stands out among others for the head,
//! the head among others for the tail, and how much both are like the ends of known facts. What they are worth together
//! is learned on facts of relations that were left out, among all relations.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::isotonic_regression::Isotonic;
use super::logistic_regression::{dot, fit, sigmoid};
use super::reliability::Reliability;

/// How many numbers the signs are turned into, the constant included.
const TERMS: usize = 6;
/// Fewer relations say nothing about others.
const FEWEST_RELATIONS: usize = 5;
/// Parts into which relations are cut to see how well it fits relations it was not learned on.
const PARTS: usize = 5;
/// Odds rise with each sign by at least this slope.
const LEAST_SLOPE: f64 = 1e-3;

/// What speaks for a relation between two entities.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RelationSigns {
    /// How far the tail stands out among other tails of the head, as a logarithm of odds.
    pub tail_margin: f64,
    /// How far the head stands out among other heads of the tail.
    pub head_margin: f64,
    /// How much the head is like heads of known facts, from 0 to 1.
    pub head_likeness: f32,
    /// How much the tail is like tails of known facts, from 0 to 1.
    pub tail_likeness: f32,
}

impl RelationSigns {
    /// How well both ends fit the relation, from 0 to 1.
    #[must_use]
    pub fn likeness(&self) -> f32 {
        self.head_likeness * self.tail_likeness
    }

    fn terms(&self) -> [f64; TERMS] {
        let [head, tail] = [self.head_likeness, self.tail_likeness].map(f64::from);
        [self.tail_margin, self.head_margin, head, tail, head * tail, 1.0]
    }
}

/// A relation that was considered for a pair of entities.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RelationExample {
    /// The relation that holds between them: examples of one stand and fall together.
    pub task: u32,
    /// What speaks for the considered relation.
    pub signs: RelationSigns,
    /// Whether it is the one that holds.
    pub is_right: bool,
}

/// Turns signs into the chance that a relation holds between two entities, given that some relation does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RelationConfidence {
    /// What each sign counts: the margins of tail and head, the likeness of head and tail, both at once, a constant.
    weights: [f64; TERMS],
    /// What becomes of the chance that the signs give.
    curve: Isotonic,
    /// How many relations it was learned on.
    pub relations: usize,
    /// How well it fits relations that it was not learned on.
    pub reliability: Reliability,
}

impl RelationConfidence {
    /// Learns from examples; none if they are of too few relations.
    #[must_use]
    pub fn learn(examples: &[RelationExample]) -> Option<Self> {
        let mut by_task: BTreeMap<u32, Vec<RelationExample>> = BTreeMap::new();
        for example in examples {
            by_task.entry(example.task).or_default().push(*example);
        }
        if by_task.len() < FEWEST_RELATIONS {
            return None;
        }
        let tasks: Vec<Vec<RelationExample>> = by_task.into_values().collect();
        let mut unseen = Vec::new();
        for part in 0..PARTS {
            let of = |is_asked: bool| {
                let chosen = tasks.iter().enumerate().filter(|(at, _)| (at % PARTS == part) == is_asked);
                chosen.flat_map(|(_, of)| of.iter().copied()).collect::<Vec<_>>()
            };
            let (weights, curve) = learned(&of(false));
            let guess = |of: &RelationExample| {
                (curve.at(sigmoid(dot(&weights, &of.signs.terms()))) as f32, of.is_right)
            };
            unseen.extend(of(true).iter().map(guess));
        }
        let (weights, curve) = learned(&tasks.concat());
        Some(Self { weights, curve, relations: tasks.len(), reliability: Reliability::of(&unseen) })
    }

    /// The logarithm of the odds, by which relations are ranked.
    #[must_use]
    pub fn odds(&self, signs: &RelationSigns) -> f64 {
        dot(&self.weights, &signs.terms())
    }

    /// The chance that the relation holds, given that some relation does. It never changes the order of the odds.
    #[must_use]
    pub fn confidence(&self, signs: &RelationSigns) -> f32 {
        self.curve.at(sigmoid(self.odds(signs))) as f32
    }

    /// Checks values that were read from a file.
    ///
    /// # Errors
    /// If it cannot have them; with what is wrong.
    pub fn check(&self) -> Result<(), String> {
        let problem = if !self.weights.iter().all(|weight| weight.is_finite()) {
            "`weights` must be finite numbers"
        } else if !self.curve.is_rising_share() {
            "`curve` must rise from 0 to 1 at most"
        } else {
            return Ok(());
        };
        Err(format!("this is no confidence in relations: {problem}"))
    }
}

/// The weights of signs, and the curve behind them.
fn learned(examples: &[RelationExample]) -> ([f64; TERMS], Isotonic) {
    let answers: Vec<([f64; TERMS], bool)> =
        examples.iter().map(|of| (of.signs.terms(), of.is_right)).collect();
    let mut weights = fit(&answers);
    // More of a margin never makes a relation less likely.
    weights[..2].iter_mut().for_each(|weight| *weight = weight.max(LEAST_SLOPE));
    let guesses = answers.iter().map(|(terms, right)| (sigmoid(dot(&weights, terms)), *right));
    (weights, Isotonic::learn(guesses.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A relation is right if its margins and its likeness are large together.
    fn examples(tasks: u32) -> Vec<RelationExample> {
        let of = |task: u32, at: u32| {
            let number = f64::from((task * 31 + at * 17) % 20);
            let likeness = ((task + at * 7) % 10) as f32 / 10.0;
            let signs = RelationSigns {
                tail_margin: number - 12.0,
                head_margin: number / 2.0 - 5.0,
                head_likeness: likeness,
                tail_likeness: 0.5,
            };
            let is_right = number + 10.0 * f64::from(likeness) + f64::from(at % 3) > 20.0;
            RelationExample { task, signs, is_right }
        };
        (0..tasks).flat_map(|task| (0..40).map(move |at| of(task, at))).collect()
    }

    #[test]
    fn more_of_each_sign_is_surer_and_few_relations_say_nothing() {
        assert_eq!(RelationConfidence::learn(&examples(4)), None);
        let learned = RelationConfidence::learn(&examples(10)).unwrap();
        learned.check().unwrap();
        let low =
            RelationSigns { tail_margin: -9.0, head_margin: -5.0, head_likeness: 0.1, tail_likeness: 0.5 };
        let high = RelationSigns { tail_margin: 7.0, head_margin: 4.0, head_likeness: 0.9, ..low };
        assert!(learned.confidence(&high) > 0.8 && learned.confidence(&low) < 0.2, "{learned:?}");
        assert!(learned.odds(&high) > learned.odds(&low));
        assert!(learned.reliability.expected_error < 0.15, "{:?}", learned.reliability);
        let broken = RelationConfidence { weights: [f64::NAN; TERMS], ..learned };
        assert!(broken.check().unwrap_err().contains("weights"));
    }

    #[test]
    fn it_is_the_same_after_it_was_written_and_read() {
        let learned = RelationConfidence::learn(&examples(6)).unwrap();
        let text = serde_json::to_string(&learned).unwrap();
        assert_eq!(serde_json::from_str::<RelationConfidence>(&text).unwrap(), learned);
    }
}
