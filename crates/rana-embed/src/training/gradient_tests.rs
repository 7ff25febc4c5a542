//! Checks the gradients of whole trainings against finite differences of the defined loss.

use rana_graph::{Duplicates, EntityId, Fact, Graph, GraphBuilder, RelationId};

use super::gradient_shard::{Scratch, Shard};
use super::row_access::{Frozen, FrozenTables};
use super::row_gradients::RowGradients;
use super::row_listing::Listing;
use super::slice::{Listed, Plan, Slice};
use crate::embed_config::EmbedConfig;
use crate::fixed_rows::FixedRows;
use crate::loss::Loss;
use crate::model::{ModelKind, Norm};
use crate::negative_sampler::Sampler;
use crate::negatives::Negatives;
use crate::parameters::Parameters;
use crate::regulariser::Regulariser;
use crate::side::Side;

const ENTITIES: u32 = 7;

fn graph() -> Graph {
    let mut builder = GraphBuilder::new(Duplicates::Remove);
    for entity in 0..ENTITIES {
        builder.intern_entity(&entity.to_string());
    }
    for (head, relation, tail) in [(0, "r", 1), (1, "r", 2), (2, "s", 3), (4, "s", 0), (5, "r", 6)] {
        builder.add_named(&head.to_string(), relation, &tail.to_string());
    }
    builder.finish()
}

/// The score of a fact as the papers define it.
fn score(config: &EmbedConfig, head: &[f64], relation: &[f64], tail: &[f64]) -> f64 {
    let half = head.len() / 2;
    let product =
        |a: &[f64], b: &[f64], c: &[f64]| a.iter().zip(b).zip(c).map(|((a, b), c)| a * b * c).sum::<f64>();
    match config.model {
        ModelKind::TransE => {
            let differences = head.iter().zip(relation).zip(tail).map(|((h, r), t)| h + r - t);
            match config.norm {
                Norm::L1 => -differences.map(f64::abs).sum::<f64>(),
                Norm::L2 => -differences.map(|d| d * d).sum::<f64>().sqrt(),
            }
        }
        ModelKind::DistMult => product(head, relation, tail),
        ModelKind::Complex => {
            let ((h, hi), (r, ri), (t, ti)) =
                (head.split_at(half), relation.split_at(half), tail.split_at(half));
            product(h, r, t) + product(hi, r, ti) + product(h, ri, ti) - product(hi, ri, t)
        }
        ModelKind::Simple => {
            let ((h_head, h_tail), (t_head, t_tail)) = (head.split_at(half), tail.split_at(half));
            0.5 * (product(h_head, &relation[..half], t_tail) + product(t_head, &relation[half..], h_tail))
        }
        ModelKind::RotatE => -(0..half)
            .map(|k| {
                let (sin, cos) = relation[k].sin_cos();
                let (re, im) = (head[k] * cos - head[half + k] * sin, head[k] * sin + head[half + k] * cos);
                (re - tail[k]).hypot(im - tail[half + k])
            })
            .sum::<f64>(),
    }
}

/// The loss of a shard by its definition, over all parameters in one vector.
struct Reference<'a> {
    config: &'a EmbedConfig,
    facts: &'a [Fact],
    negatives: &'a [u32],
    side: Side,
}

impl Reference<'_> {
    fn rows<'p>(&self, parameters: &'p [f64], anchor: u32, relation: u32, answer: u32) -> [&'p [f64]; 3] {
        let dim = self.config.dim;
        let width = self.config.model.relation_width(dim);
        let entity = |row: u32| &parameters[row as usize * dim..(row as usize + 1) * dim];
        let start = ENTITIES as usize * dim + relation as usize * width;
        let relation = &parameters[start..start + width];
        // With inverses, a query for the head is a query for the tail of the inverse relation.
        if self.side == Side::Head && !self.config.inverses {
            [entity(answer), relation, entity(anchor)]
        } else {
            [entity(anchor), relation, entity(answer)]
        }
    }

    /// The score of each fact, and of its negatives that are not left out.
    fn scores(&self, parameters: &[f64]) -> Vec<(f64, Vec<f64>)> {
        let query = |at: usize| {
            let fact = self.facts[at];
            let (anchor, answer) = match self.side {
                Side::Head => (fact.tail.0, fact.head.0),
                Side::Tail => (fact.head.0, fact.tail.0),
            };
            let row = match (self.config.inverses, self.side) {
                (true, Side::Head) => fact.relation.inverse().0,
                (true, Side::Tail) => fact.relation.0,
                (false, _) => fact.relation.number() as u32,
            };
            (anchor, row, answer)
        };
        let score = |anchor, row, answer| {
            let [head, relation, tail] = self.rows(parameters, anchor, row, answer);
            score(self.config, head, relation, tail)
        };
        let count = self.config.negatives.count;
        (0..self.facts.len())
            .map(|at| {
                let (anchor, row, answer) = query(at);
                let chunk = at / self.config.negatives.shared_by;
                let drawn = &self.negatives[chunk * count..(chunk + 1) * count];
                let is_known =
                    |entity: u32| (0..self.facts.len()).any(|other| query(other) == (anchor, row, entity));
                let counted = drawn.iter().filter(|&&entity| !is_known(entity));
                (score(anchor, row, answer), counted.map(|&entity| score(anchor, row, entity)).collect())
            })
            .collect()
    }

    fn weights(&self, parameters: &[f64]) -> Vec<Vec<f64>> {
        let temperature = match self.config.loss {
            Loss::SelfAdversarial { temperature, .. } => f64::from(temperature),
            _ => 0.0,
        };
        self.scores(parameters)
            .iter()
            .map(|(_, negatives)| {
                let exps: Vec<f64> = negatives.iter().map(|n| (temperature * n).exp()).collect();
                let sum: f64 = exps.iter().sum();
                exps.iter().map(|exp| exp / sum).collect()
            })
            .collect()
    }

    fn loss(&self, parameters: &[f64], weights: &[Vec<f64>]) -> f64 {
        let softplus = |x: f64| x.exp().ln_1p();
        let of_fact = |(positive, negatives): &(f64, Vec<f64>), weights: &Vec<f64>| {
            let weighted =
                |f: &dyn Fn(f64) -> f64| weights.iter().zip(negatives).map(|(w, &n)| w * f(n)).sum::<f64>();
            match self.config.loss {
                Loss::Margin { margin } => weighted(&|n| (f64::from(margin) - positive + n).max(0.0)),
                Loss::Logistic { gamma } | Loss::SelfAdversarial { gamma, .. } => {
                    let gamma = f64::from(gamma);
                    0.5 * (softplus(-gamma - positive) + weighted(&|n| softplus(gamma + n)))
                }
                Loss::Softmax => {
                    (positive.exp() + negatives.iter().map(|n| n.exp()).sum::<f64>()).ln() - positive
                }
            }
        };
        let losses =
            self.scores(parameters).iter().zip(weights).map(|(scores, w)| of_fact(scores, w)).sum::<f64>();
        losses + self.penalty(parameters)
    }

    fn penalty(&self, parameters: &[f64]) -> f64 {
        let Regulariser::N3 { weight } = self.config.regulariser else { return 0.0 };
        let size = |row: &[f64], is_complex: bool| {
            let half = row.len() / 2;
            match is_complex {
                true => (0..half).map(|k| row[k].hypot(row[half + k]).powi(3)).sum::<f64>(),
                false => row.iter().map(|x| x.abs().powi(3)).sum::<f64>(),
            }
        };
        let is_complex = matches!(self.config.model, ModelKind::Complex | ModelKind::RotatE);
        let of_fact = |fact: &Fact| {
            let row = match (self.config.inverses, self.side) {
                (true, Side::Head) => fact.relation.inverse().0,
                (true, Side::Tail) => fact.relation.0,
                (false, _) => fact.relation.number() as u32,
            };
            let [head, relation, tail] = self.rows(parameters, fact.head.0, row, fact.tail.0);
            let relation = match self.config.model {
                ModelKind::RotatE => 0.0,
                _ => size(relation, is_complex),
            };
            size(head, is_complex) + relation + size(tail, is_complex)
        };
        f64::from(weight) * self.facts.iter().map(of_fact).sum::<f64>()
    }
}

fn check(config: &EmbedConfig, side: Side) {
    let graph = graph();
    let facts = graph.facts();
    let parameters = Parameters::random(config, ENTITIES as usize, 2);
    let sampler = Sampler::new(config.negatives, &graph, facts, 2);
    let plan = Plan { config, facts, fixed: &FixedRows::default(), entities: ENTITIES as usize, sampler };
    let order: Vec<Listed> = Listed::all(facts).collect();
    let width = parameters.relation_width();
    let slice = Slice { epoch: 0, place: 0, side, facts: &order, among: None };
    let (mut shard, mut listing) = (Shard::default(), Listing::default());
    listing.fill(&plan, slice);
    shard.compute(
        &plan,
        slice,
        &listing,
        &mut Scratch::default(),
        &mut FrozenTables {
            entities: Frozen { values: &parameters.entities, width: config.dim },
            relations: Frozen { values: &parameters.relations, width },
        },
    );
    let mut gradient = vec![0.0; parameters.entities.len() + parameters.relations.len()];
    let mut collect = |of: &RowGradients, start: usize, width: usize| {
        for (&row, values) in of.rows.iter().zip(of.gradients.chunks_exact(width)) {
            if row != RowGradients::NONE {
                for (k, value) in values.iter().enumerate() {
                    gradient[start + row as usize * width + k] += f64::from(*value);
                }
            }
        }
    };
    collect(&shard.entities, 0, config.dim);
    collect(&shard.relations, parameters.entities.len(), width);

    let chunks = facts.len().div_ceil(config.negatives.shared_by);
    let negatives = drawn_again(&plan, side, &order, chunks);
    let reference = Reference { config, facts, negatives: &negatives, side };
    let mut values: Vec<f64> =
        parameters.entities.iter().chain(&parameters.relations).map(|&value| value.into()).collect();
    let weights = reference.weights(&values);
    let expected = reference.loss(&values, &weights) - reference.penalty(&values);
    assert!(
        (shard.loss - expected).abs() < 1e-4 * expected,
        "{config:?}: loss {} for {expected}",
        shard.loss
    );
    for at in 0..values.len() {
        let start = values[at];
        let mut moved = |by: f64| {
            values[at] = start + by;
            reference.loss(&values, &weights)
        };
        let slope = (moved(1e-6) - moved(-1e-6)) / 2e-6;
        values[at] = start;
        assert!(
            (gradient[at] - slope).abs() < 1e-3 * slope.abs().max(0.1),
            "{config:?} {side:?} at {at}: {} for {slope}",
            gradient[at]
        );
    }
}

/// The negatives of a shard that holds all facts.
fn drawn_again(plan: &Plan<'_>, side: Side, order: &[Listed], chunks: usize) -> Vec<u32> {
    let mut rng = crate::seed::rng(plan.config.seed, crate::seed::Purpose::Negatives, [0, side as u64]);
    let mut drawn = vec![0; chunks * plan.config.negatives.count];
    plan.sampler.draw(&mut rng, side, order, None, &mut drawn);
    drawn
}

#[test]
fn gradients_of_every_model_and_loss_agree_with_finite_differences() {
    let losses = [
        Loss::Margin { margin: 4.0 },
        Loss::Logistic { gamma: 1.0 },
        Loss::SelfAdversarial { gamma: 2.0, temperature: 0.8 },
        Loss::Softmax,
    ];
    for &model in ModelKind::ALL {
        for &norm in if model == ModelKind::TransE { Norm::ALL } else { &[Norm::L1] } {
            for loss in losses {
                for (shared_by, inverses, side, regulariser) in [
                    (1, false, Side::Tail, Regulariser::None),
                    (1, true, Side::Head, Regulariser::N3 { weight: 0.1 }),
                    (2, false, Side::Head, Regulariser::N3 { weight: 0.1 }),
                    (16, true, Side::Tail, Regulariser::N3 { weight: 0.1 }),
                ] {
                    let negatives = Negatives { count: 9, shared_by, ..Negatives::default() };
                    let config = EmbedConfig {
                        model,
                        norm,
                        dim: 22,
                        inverses,
                        loss,
                        negatives,
                        regulariser,
                        init: Some(0.6),
                        ..EmbedConfig::default()
                    };
                    check(&config, side);
                }
            }
        }
    }
}

#[test]
fn scores_are_those_of_the_papers_from_either_end() {
    for &model in ModelKind::ALL {
        let config = EmbedConfig { model, dim: 10, init: Some(0.5), ..EmbedConfig::default() };
        let parameters = Parameters::random(&config, 4, 2);
        let vectors = parameters.vectors();
        let wide = |row: &[f32]| row.iter().map(|&value| f64::from(value)).collect::<Vec<_>>();
        let (head, relation, tail) = (EntityId(1), RelationId::forward(1), EntityId(3));
        let expected = score(
            &config,
            &wide(vectors.entity(head)),
            &wide(vectors.relation(relation)),
            &wide(vectors.entity(tail)),
        );
        let forwards = vectors.score(head, relation, tail);
        let backwards = vectors.score(tail, relation.inverse(), head);
        assert!((f64::from(forwards) - expected).abs() < 1e-5, "{model}");
        assert!((f64::from(backwards) - expected).abs() < 1e-5, "{model}");
    }
}
