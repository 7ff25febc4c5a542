//! [`Inspection`]: the attention and negatives behind a learned relation, and the parts of a score.

use rana_graph::{Edge, EntityId, Pair};
use serde::Serialize;

use super::config::ScoreSpace;
use super::encoder::{CHUNK, End};
use super::model::RanaModel;
use super::objective::{Objective, Scratch};
use crate::real::{add_scaled, dot};
use rana_fewshot::Support;

/// How RANA learned a relation from a support: attention, negatives, relations of single pairs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Inspection {
    /// Each pair of the support, in order.
    pub support: Vec<InspectedPair>,
    /// The relation before the inner step (R^s, eq. 7).
    pub before: Vec<f32>,
    /// The relation after it (R^q, eq. 14), averaged over draws of negatives if there are several.
    pub after: Vec<f32>,
}

/// A pair of the support.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct InspectedPair {
    /// The pair.
    pub pair: Pair,
    /// Attention over the neighbours of its head.
    pub head: Vec<Attention>,
    /// Attention over the neighbours of its tail.
    pub tail: Vec<Attention>,
    /// Its distance at R^s.
    pub distance: f32,
    /// Its negatives.
    pub negatives: Vec<InspectedNegative>,
    /// The relation from this pair alone (eq. 6).
    pub relation: Vec<f32>,
}

/// The attention to one neighbour.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Attention {
    /// The neighbour and the relation to it.
    pub edge: Edge,
    /// α of eq. 4.
    pub weight: f32,
}

/// A negative of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct InspectedNegative {
    /// The corrupted tail.
    pub entity: EntityId,
    /// β of eq. 10.
    pub weight: f32,
    /// Its distance at R^s.
    pub distance: f32,
}

/// The parts of the score of an answer. All are distances of eq. 11: smaller is better.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ScoreParts {
    /// eq. 12: γ minus the distance.
    pub score: f32,
    /// At R^q, which answers are ranked by.
    pub distance: f32,
    /// The distance at R^s, before the inner step.
    pub before_step: f32,
    /// With the relation of each support pair alone: the smallest is of the pair it resembles most.
    pub by_support: Vec<f32>,
}

impl RanaModel {
    /// Inspects how the model learns a relation from a support. Negatives are those of the first draw.
    ///
    /// # Panics
    /// If the support is empty.
    #[must_use]
    pub fn inspect(&self, of: &Support<'_>) -> Inspection {
        assert!(!of.pairs.is_empty(), "a relation is learned from at least one pair");
        let roles = self.roles();
        let inputs = self.inputs(&roles);
        let adaptation = self.adapt_with(&roles, of, 0);
        let objective = Objective { inputs, chunks: &adaptation.pairs.chunks };
        let before = &adaptation.path[0];
        let task = &adaptation.objective_task;
        let mut scratch = Scratch::default();
        let pairs = adaptation.task.support.iter().zip(&task.support_pairs).zip(&task.support.contrasts);
        let support = pairs
            .map(|(((pair, negatives), &place), contrast)| {
                objective.measure(&task.support.scored[contrast.clone()], before, &mut scratch);
                let attention = |end: End| {
                    let edges = inputs.neighbours.of(end.of(pair), None);
                    let alpha = adaptation.pairs.chunks[place / CHUNK].alpha(place % CHUNK, end);
                    let of = |(&edge, &weight)| Attention { edge, weight };
                    edges.iter().zip(alpha).map(of).collect()
                };
                let negative = |(at, &entity): (usize, &EntityId)| InspectedNegative {
                    entity,
                    weight: scratch.weights[at + 1],
                    distance: scratch.distances[at + 1],
                };
                InspectedPair {
                    pair,
                    head: attention(End::Head),
                    tail: attention(End::Tail),
                    distance: scratch.distances[0],
                    negatives: negatives.iter().enumerate().map(negative).collect(),
                    relation: objective.pair_relation(place, pair),
                }
            })
            .collect();
        let after = self.adapted_relation(&roles, of);
        Inspection { support, before: before.clone(), after }
    }

    /// The parts of the score of an answer, for an inspected support.
    #[must_use]
    pub fn score_parts(&self, inspection: &Inspection, answer: Pair) -> ScoreParts {
        let mut translation = vec![0.0; inspection.after.len()];
        match self.config().score_space {
            ScoreSpace::Raw | ScoreSpace::EncodedSupport => {
                let rows = &self.parameters().rows;
                add_scaled(&mut translation, 1.0, rows.row(answer.head));
                add_scaled(&mut translation, -1.0, rows.row(answer.tail));
            }
            ScoreSpace::Encoded => {
                let support: Vec<Pair> = inspection.support.iter().map(|of| of.pair).collect();
                let chunk = self.encode_answers(&support, &[answer]);
                add_scaled(&mut translation, 1.0, chunk.encoded(0, End::Head));
                add_scaled(&mut translation, -1.0, chunk.encoded(0, End::Tail));
            }
        }
        let distance = |relation: &[f32]| {
            let mut difference = translation.clone();
            add_scaled(&mut difference, 1.0, relation);
            dot(&difference, &difference).sqrt()
        };
        let at_end = distance(&inspection.after);
        ScoreParts {
            score: self.config().gamma - at_end,
            distance: at_end,
            before_step: distance(&inspection.before),
            by_support: inspection.support.iter().map(|pair| distance(&pair.relation)).collect(),
        }
    }
}
