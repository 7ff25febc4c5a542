//! A plain implementation of RANA's meta-training objective, straight from the equations, for tests.
//!
//! Nothing here is shared with the code under test but the inputs: matrices are put together from
//! their blocks and applied to concatenations, every pair is encoded anew wherever it occurs, inner
//! gradients come from dual numbers and outer ones from differences of the loss. It is slow.

use rana_graph::{Edge, EntityId, Pair, RelationId};

use super::config::{
    Activation, AggInput, Attn, AttnInput, BetaScale, BetaSpace, Ends, InnerReduction, MetaOrder, NegWeight,
    OuterReduction, Padding, RScope, RanaConfig, Residual, ScoreSpace, TrainEntities,
};
use super::dual_number::{Dual, Number};
use super::inputs::Neighbourhood;
use super::layout::{EndBlocks, Layout};
use crate::training::{Block, Contrasts, MetaTask};

/// `−log σ(−x) = ln(1 + eˣ)`.
fn softplus<N: Number>(x: N) -> N {
    // The same function on both sides; the form is the one that cannot overflow.
    if x.value() > 0.0 { x + (-x).exp().ln_1p() } else { x.exp().ln_1p() }
}

/// Eq. 11.
fn distance<N: Number>(head: &[f64], relation: &[N], tail: &[f64]) -> N {
    let mut squares = N::from(0.0);
    for ((&head, &relation), &tail) in head.iter().zip(relation).zip(tail) {
        let difference = N::from(head) + relation - N::from(tail);
        squares = squares + difference * difference;
    }
    let value = squares.value().sqrt();
    // Where the norm has no direction, it counts as constant.
    if value < 1e-12 { N::from(value) } else { squares.sqrt() }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

pub(super) fn plus(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a + b).collect()
}

fn minus(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}

fn mean(vectors: &[Vec<f64>], dim: usize) -> Vec<f64> {
    let sum = vectors.iter().fold(vec![0.0; dim], |sum, vector| plus(&sum, vector));
    sum.into_iter().map(|sum| sum / vectors.len() as f64).collect()
}

fn softmax(logits: &[f64]) -> Vec<f64> {
    let most = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let powers: Vec<f64> = logits.iter().map(|logit| (logit - most).exp()).collect();
    let sum: f64 = powers.iter().sum();
    powers.into_iter().map(|power| power / sum).collect()
}

/// A linear map of a concatenation. The blocks side by side are its matrix.
fn linear(weights: &[f64], blocks: &[&Block], bias: Option<&Block>, input: &[f64]) -> Vec<f64> {
    (0..blocks[0].rows)
        .map(|row| {
            let matrix_row: Vec<f64> = blocks
                .iter()
                .flat_map(|block| &block.of(weights)[row * block.columns..(row + 1) * block.columns])
                .copied()
                .collect();
            dot(&matrix_row, input) + bias.map_or(0.0, |bias| bias.of(weights)[row])
        })
        .collect()
}

/// The things gradients are taken of; and the gradients.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Parameters {
    /// As the layout says.
    pub(crate) weights: Vec<f64>,
    /// One row per directed relation.
    pub(crate) relations: Vec<f64>,
    /// One row per entity, for `r`, eq. 5 and neighbours.
    pub(crate) frozen: Vec<f64>,
    /// One row per entity, for scores. The same as the frozen rows unless a copy is trained.
    pub(crate) scoring: Vec<f64>,
}

/// The values that gradients do not flow through, in the order of their use.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Constants(Vec<Vec<f64>>);

/// Records constants, or gives back the recorded ones instead of those that would be.
struct Tape<'c> {
    recorded: Option<&'c Constants>,
    held: Constants,
}

impl<'c> Tape<'c> {
    fn new(recorded: Option<&'c Constants>) -> Self {
        Self { recorded, held: Constants::default() }
    }

    fn hold(&mut self, now: Vec<f64>) -> Vec<f64> {
        let value = match self.recorded {
            Some(recorded) => recorded.0[self.held.0.len()].clone(),
            None => now,
        };
        self.held.0.push(value.clone());
        value
    }
}

/// The vectors of a pair and its negatives as they are scored.
struct Contrast {
    positive: [Vec<f64>; 2],
    negatives: Vec<[Vec<f64>; 2]>,
    /// `f` of eq. 9, by negative.
    similarities: Vec<f64>,
}

#[derive(Clone, Copy, PartialEq)]
enum Part {
    Support,
    Query,
}

/// The inputs of the objective, apart from its parameters.
pub(crate) struct Reference<'a> {
    pub(crate) config: &'a RanaConfig,
    pub(crate) layout: &'a Layout,
    pub(crate) neighbours: &'a dyn Neighbourhood,
    /// Episodes in a training batch; fewer may be computed at once.
    pub(crate) batch: usize,
}

// The encoder.
impl Reference<'_> {
    fn row<'t>(&self, table: &'t [f64], index: usize) -> &'t [f64] {
        &table[index * self.layout.dim..(index + 1) * self.layout.dim]
    }

    fn activate(&self, activation: Activation, input: &[f64], tape: &mut Tape) -> Vec<f64> {
        match activation {
            Activation::Sigmoid => input.iter().map(|x| 1.0 / (1.0 + (-x).exp())).collect(),
            Activation::Tanh => input.iter().map(|x| x.tanh()).collect(),
            Activation::LeakyRelu => {
                // The side of the kink does not change with infinitely small steps, so finite ones
                // must not change it either.
                let slopes = tape.hold(input.iter().map(|&x| if x > 0.0 { 1.0 } else { 0.01 }).collect());
                input.iter().zip(slopes).map(|(x, slope)| x * slope).collect()
            }
            Activation::None => input.to_vec(),
        }
    }

    /// Eq. 1.
    fn pair_vector(&self, p: &Parameters, task: &MetaTask, pair: Pair) -> Vec<f64> {
        let translation = |pair: Pair| {
            minus(self.row(&p.frozen, pair.tail.index()), self.row(&p.frozen, pair.head.index()))
        };
        match self.config.r_scope {
            RScope::Pair => translation(pair),
            RScope::TaskMean => {
                let of_support: Vec<_> =
                    task.support.pairs().iter().map(|&support| translation(support)).collect();
                mean(&of_support, self.layout.dim)
            }
        }
    }

    /// Eqs. 2 to 4: the sum over an entity's neighbours.
    fn neighbour_sum(&self, p: &Parameters, end: &EndBlocks, r: &[f64], entity: EntityId) -> Vec<f64> {
        let dim = self.layout.dim;
        let mut places: Vec<(Vec<f64>, Vec<f64>)> = Vec::new();
        for edge in self.neighbours.of(entity, None) {
            places.push((
                self.row(&p.relations, edge.relation.index()).to_vec(),
                self.row(&p.frozen, edge.entity.index()).to_vec(),
            ));
        }
        assert!(places.len() <= self.config.neighbours);
        if self.config.padding == Padding::Unmasked {
            places.resize(self.config.neighbours, (vec![0.0; dim], vec![0.0; dim]));
        }

        let alphas = match self.config.attn {
            Attn::Learned => {
                let logits: Vec<f64> = places
                    .iter()
                    .map(|(relation, neighbour)| self.relevance(p, end, r, relation, neighbour))
                    .collect();
                softmax(&logits)
            }
            Attn::Uniform => vec![1.0 / places.len() as f64; places.len()],
            Attn::Sum => vec![1.0; places.len()],
        };

        let mut sum = vec![0.0; dim];
        for (alpha, (relation, neighbour)) in alphas.into_iter().zip(&places) {
            let (blocks, input) = match self.config.agg_input {
                AggInput::RelationEntity => (
                    vec![end.aggregate_relation.as_ref().unwrap(), &end.aggregate_entity],
                    [relation.as_slice(), neighbour].concat(),
                ),
                AggInput::Entity => (vec![&end.aggregate_entity], neighbour.clone()),
            };
            let message = linear(&p.weights, &blocks, end.aggregate_bias.as_ref(), &input);
            sum = sum.iter().zip(message).map(|(sum, message)| sum + alpha * message).collect();
        }
        sum
    }

    /// Eq. 2.
    fn relevance(
        &self,
        p: &Parameters,
        end: &EndBlocks,
        r: &[f64],
        relation: &[f64],
        neighbour: &[f64],
    ) -> f64 {
        let attention = end.attention.as_ref().unwrap();
        let (blocks, input) = match self.config.attn_input {
            AttnInput::Relation => (vec![&attention.pair, &attention.relation], [r, relation].concat()),
            AttnInput::RelationEntity => (
                vec![&attention.pair, &attention.relation, attention.entity.as_ref().unwrap()],
                [r, relation, neighbour].concat(),
            ),
        };
        let hidden: Vec<f64> =
            linear(&p.weights, &blocks, attention.bias.as_ref(), &input).into_iter().map(f64::tanh).collect();
        linear(&p.weights, &[&attention.out], None, &hidden)[0]
    }

    /// Eq. 5, for both ends of a pair.
    fn encode(&self, p: &Parameters, task: &MetaTask, pair: Pair, tape: &mut Tape) -> [Vec<f64>; 2] {
        let r = self.pair_vector(p, task, pair);
        let ends = &self.layout.ends;
        [(&ends[0], pair.head), (ends.last().unwrap(), pair.tail)].map(|(end, entity)| {
            let sum = self.neighbour_sum(p, end, &r, entity);
            let whole = plus(self.row(&p.frozen, entity.index()), &sum);
            let combined = linear(&p.weights, &[&end.combine], end.combine_bias.as_ref(), &whole);
            self.activate(self.config.enc_act, &combined, tape)
        })
    }

    /// Eqs. 6 and 7: the relation of a support.
    fn support_relation(&self, p: &Parameters, task: &MetaTask, tape: &mut Tape) -> Vec<f64> {
        let layout = self.layout;
        let mut relations = Vec::new();
        for &pair in task.support.pairs() {
            let encoded = self.encode(p, task, pair, tape).concat();
            let blocks = [&layout.relation_head, &layout.relation_tail];
            let combined = linear(&p.weights, &blocks, layout.relation_bias.as_ref(), &encoded);
            let mut relation = self.activate(self.config.rel_act, &combined, tape);
            if self.config.residual == Residual::Translation {
                let [head, tail] = [pair.head, pair.tail].map(|end| self.row(&p.scoring, end.index()));
                relation = plus(&relation, &minus(tail, head));
            }
            relations.push(relation);
        }
        mean(&relations, layout.dim)
    }
}

// The objective.
impl Reference<'_> {
    /// The vectors that are scored and, of eq. 9, compared.
    fn contrasts(&self, p: &Parameters, task: &MetaTask, part: Part, tape: &mut Tape) -> Vec<Contrast> {
        let pairs = match part {
            Part::Support => &task.support,
            Part::Query => &task.query,
        };
        let mut contrasts = Vec::new();
        for (pair, tails) in pairs.iter() {
            let rows = |table: &[f64], tail: EntityId| {
                [pair.head, tail].map(|entity| self.row(table, entity.index()).to_vec())
            };
            let (positive, negatives): (_, Vec<_>) = match self.config.score_space {
                ScoreSpace::Encoded => (
                    self.encode(p, task, pair, tape),
                    tails.iter().map(|&tail| self.encode(p, task, Pair { tail, ..pair }, tape)).collect(),
                ),
                ScoreSpace::EncodedSupport if part == Part::Support => {
                    let encoded = self.encode(p, task, pair, tape);
                    let negative =
                        |&tail: &EntityId| [encoded[0].clone(), self.row(&p.scoring, tail.index()).to_vec()];
                    let negatives = tails.iter().map(negative).collect();
                    (encoded, negatives)
                }
                ScoreSpace::Raw | ScoreSpace::EncodedSupport => {
                    (rows(&p.scoring, pair.tail), tails.iter().map(|&tail| rows(&p.scoring, tail)).collect())
                }
            };
            // Eq. 9.
            let scale = match self.config.beta_scale {
                BetaScale::Sqrt2d => (2.0 * self.layout.dim as f64).sqrt(),
                BetaScale::None => 1.0,
            };
            let similarities = (0..tails.len())
                .map(|at| {
                    let (p_i, n_ij) = match self.config.beta_space {
                        BetaSpace::Scoring => (positive.concat(), negatives[at].concat()),
                        BetaSpace::Frozen => {
                            (rows(&p.frozen, pair.tail).concat(), rows(&p.frozen, tails[at]).concat())
                        }
                    };
                    dot(&p_i, &n_ij) / scale
                })
                .collect();
            contrasts.push(Contrast { positive, negatives, similarities });
        }
        contrasts
    }

    /// Eq. 12.
    fn score<N: Number>(&self, [head, tail]: &[Vec<f64>; 2], relation: &[N]) -> N {
        N::from(f64::from(self.config.gamma)) - distance(head, relation, tail)
    }

    /// The weights of a pair's negatives: eq. 10 or what replaces it.
    fn negative_weights(&self, contrast: &Contrast, relation: &[f64], tape: &mut Tape) -> Vec<f64> {
        let count = contrast.negatives.len();
        match self.config.neg_weight {
            NegWeight::Attention => {
                let temperature = f64::from(self.config.beta_temp);
                let logits: Vec<f64> = contrast.similarities.iter().map(|f| temperature * f).collect();
                let betas = softmax(&logits);
                if self.config.beta_grad { betas } else { tape.hold(betas) }
            }
            NegWeight::Uniform => vec![1.0 / count as f64; count],
            NegWeight::One => vec![1.0; count],
            NegWeight::SelfAdversarial => {
                let temperature = f64::from(self.config.adv_temp);
                let logits: Vec<f64> = contrast
                    .negatives
                    .iter()
                    .map(|negative| temperature * self.score(negative, relation))
                    .collect();
                tape.hold(softmax(&logits))
            }
        }
    }

    /// The part of eq. 13 that belongs to one pair.
    fn contrast_loss<N: Number>(&self, contrast: &Contrast, weights: &[f64], relation: &[N]) -> N {
        assert_eq!(contrast.negatives.len(), weights.len());
        let mut loss = softplus(-self.score(&contrast.positive, relation));
        for (negative, &weight) in contrast.negatives.iter().zip(weights) {
            loss = loss + N::from(weight) * softplus(self.score(negative, relation));
        }
        loss
    }

    /// The loss that an inner step makes smaller.
    fn support_loss<N: Number>(&self, support: &[Contrast], weights: &[Vec<f64>], relation: &[N]) -> N {
        let pairs = support.len() as f64;
        let factor = match self.config.inner_reduction {
            InnerReduction::Sum => 1.0,
            InnerReduction::MeanTask => 1.0 / pairs,
            InnerReduction::MeanBatch => 1.0 / (self.batch as f64 * pairs),
            InnerReduction::Half => 0.5,
        };
        let mut sum = N::from(0.0);
        for (contrast, weights) in support.iter().zip(weights) {
            sum = sum + self.contrast_loss(contrast, weights, relation);
        }
        N::from(factor) * sum
    }

    /// The gradient of the support loss in the relation.
    fn support_gradient(&self, support: &[Contrast], weights: &[Vec<f64>], relation: &[f64]) -> Vec<f64> {
        (0..relation.len())
            .map(|component| {
                let mut seeded: Vec<Dual> = relation.iter().map(|&value| value.into()).collect();
                seeded[component].slope = 1.0;
                self.support_loss(support, weights, &seeded).slope
            })
            .collect()
    }

    /// Eq. 14: the relation of the support, before and after each inner step.
    fn adapt(&self, p: &Parameters, task: &MetaTask, support: &[Contrast], tape: &mut Tape) -> Vec<Vec<f64>> {
        let eta = f64::from(self.config.eta);
        let mut path = vec![self.support_relation(p, task, tape)];
        for step in 0..self.config.training_steps() {
            let relation = &path[step];
            let weights: Vec<Vec<f64>> =
                support.iter().map(|contrast| self.negative_weights(contrast, relation, tape)).collect();
            let mut gradient = self.support_gradient(support, &weights, relation);
            if self.config.meta_order == MetaOrder::First {
                gradient = tape.hold(gradient);
            }
            let next = relation.iter().zip(gradient).map(|(value, slope)| value - eta * slope).collect();
            path.push(next);
        }
        path
    }

    /// The sum of eq. 13 over pairs, at one relation.
    fn contrast_sum(&self, contrasts: &[Contrast], relation: &[f64], tape: &mut Tape) -> f64 {
        contrasts
            .iter()
            .map(|contrast| {
                let weights = self.negative_weights(contrast, relation, tape);
                self.contrast_loss(contrast, &weights, relation)
            })
            .sum()
    }

    /// The relation of a task before the inner steps and after each: from `R^s` to `R^q`.
    pub(crate) fn relations(&self, p: &Parameters, task: &MetaTask) -> Vec<Vec<f64>> {
        let mut tape = Tape::new(None);
        let support = self.contrasts(p, task, Part::Support, &mut tape);
        self.adapt(p, task, &support, &mut tape)
    }

    /// Eq. 17: the loss of a training step, and which parts of it are constants.
    ///
    /// With constants given, those are taken in place of what the parameters make of them.
    pub(crate) fn loss(
        &self,
        p: &Parameters,
        tasks: &[MetaTask],
        constants: Option<&Constants>,
    ) -> (f64, Constants) {
        let mut tape = Tape::new(constants);
        let (mut query_sum, mut support_sum) = (0.0, 0.0);
        let (mut query_count, mut support_count) = (0, 0);
        for task in tasks {
            let support = self.contrasts(p, task, Part::Support, &mut tape);
            let query = self.contrasts(p, task, Part::Query, &mut tape);
            let path = self.adapt(p, task, &support, &mut tape);
            query_sum += self.contrast_sum(&query, path.last().unwrap(), &mut tape);
            query_count += query.len();
            if self.config.outer_includes_support {
                support_sum += self.contrast_sum(&support, &path[0], &mut tape);
                support_count += support.len();
            }
        }
        if let Some(constants) = constants {
            assert_eq!(constants.0.len(), tape.held.0.len(), "recorded with other tasks or another config");
        }
        let reduced = |sum: f64, count: usize| match self.config.outer_reduction {
            OuterReduction::Mean => sum / count as f64,
            OuterReduction::Sum => sum,
        };
        let mut loss = reduced(query_sum, query_count);
        if self.config.outer_includes_support {
            loss += reduced(support_sum, support_count);
        }
        (loss, tape.held)
    }

    /// The gradient of the objective; zero in tables that do not learn.
    ///
    /// With one table for both roles of entities, its gradient is that of `scoring`.
    pub(crate) fn gradient(&self, p: &Parameters, tasks: &[MetaTask]) -> Parameters {
        // The error of the extrapolation falls with step⁴, that of rounding rises with 1/step; about
        // here, their sum is 1e-11 of the greatest value.
        self.gradient_by_steps(p, tasks, 1e-3)
    }

    fn gradient_by_steps(&self, p: &Parameters, tasks: &[MetaTask], step: f64) -> Parameters {
        let (_, constants) = self.loss(p, tasks, None);
        let slope = |change: &dyn Fn(&mut Parameters, f64)| {
            let loss_at = |by: f64| {
                let mut changed = p.clone();
                change(&mut changed, by);
                self.loss(&changed, tasks, Some(&constants)).0
            };
            let central = |step: f64| (loss_at(step) - loss_at(-step)) / (2.0 * step);
            // Richardson: the error in step² cancels.
            (4.0 * central(step / 2.0) - central(step)) / 3.0
        };
        let of_relations = |at: usize| match self.config.train_relations {
            true => slope(&|p, by| p.relations[at] += by),
            false => 0.0,
        };
        let of_scoring = |at: usize| match self.config.train_entities {
            TrainEntities::Copy => slope(&|p, by| p.scoring[at] += by),
            TrainEntities::Frozen => 0.0,
            TrainEntities::Shared => slope(&|p, by| {
                p.frozen[at] += by;
                p.scoring[at] += by;
            }),
        };
        if self.config.train_entities != TrainEntities::Copy {
            assert_eq!(p.frozen, p.scoring, "one table has one value for both roles");
        }
        Parameters {
            weights: (0..p.weights.len()).map(|at| slope(&|p, by| p.weights[at] += by)).collect(),
            relations: (0..p.relations.len()).map(of_relations).collect(),
            frozen: vec![0.0; p.frozen.len()],
            scoring: (0..p.scoring.len()).map(of_scoring).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::reference_fixture::{
        FIXTURE_BATCH, FIXTURE_ENTITIES, Lists, fixture, fixture_config, fixture_configs,
    };
    use super::*;
    use crate::training::TrainerConfig;

    fn sigmoid(x: f64) -> f64 {
        1.0 / (1.0 + (-x).exp())
    }

    #[track_caller]
    fn assert_near(value: f64, expected: f64, tolerance: f64) {
        assert!((value - expected).abs() <= tolerance, "{value} is not {expected}");
    }

    fn all(p: &Parameters) -> Vec<f64> {
        [p.weights.as_slice(), &p.relations, &p.frozen, &p.scoring].concat()
    }

    /// The greatest difference, relative to the greatest value.
    fn difference(a: &Parameters, b: &Parameters) -> f64 {
        let greatest = |values: Vec<f64>| values.into_iter().fold(0.0, |most: f64, x| most.max(x.abs()));
        greatest(minus(&all(a), &all(b))) / greatest(all(a))
    }

    fn edge(relation: u32, entity: u32) -> Edge {
        Edge { relation: RelationId(relation), entity: EntityId(entity) }
    }

    fn pair(head: u32, tail: u32) -> Pair {
        Pair { head: EntityId(head), tail: EntityId(tail) }
    }

    /// The result of the configuration on its fixture.
    fn with_fixture<T>(
        config: &RanaConfig,
        seed: u64,
        f: impl FnOnce(&Reference, &Parameters, &[MetaTask]) -> T,
    ) -> T {
        let (layout, parameters, neighbours, tasks) = fixture(config, seed);
        f(
            &Reference { config, layout: &layout, neighbours: &neighbours, batch: FIXTURE_BATCH },
            &parameters,
            &tasks,
        )
    }

    fn gradient(config: &RanaConfig) -> Parameters {
        with_fixture(config, 0, |reference, p, tasks| reference.gradient(p, tasks))
    }

    fn loss(config: &RanaConfig) -> f64 {
        with_fixture(config, 0, |reference, p, tasks| reference.loss(p, tasks, None).0)
    }

    /// One task in one dimension, of which everything can be worked out by hand.
    fn by_hand(config: &RanaConfig) -> (Layout, Parameters, Lists, Vec<MetaTask>) {
        let layout = Layout::new(config, 1);
        let mut weights = vec![0.0; layout.weights()];
        let end = &layout.ends[0];
        let attention = end.attention.as_ref().unwrap();
        for (block, value) in [
            (&attention.pair, 1.0),
            (&attention.relation, -1.0),
            (&attention.out, 3f64.ln() / 1f64.tanh()),
            (end.aggregate_relation.as_ref().unwrap(), 2.0),
            (&end.aggregate_entity, 1.0),
            (&end.combine, 0.5),
            (&layout.relation_head, 1.0),
            (&layout.relation_tail, -0.5),
        ] {
            block.of_mut(&mut weights)[0] = value;
        }
        let parameters = Parameters {
            weights,
            relations: vec![1.0, 0.0],
            // h, t, two neighbours of h; and six whose frozen rows nothing looks at.
            frozen: vec![1.0, 2.0, 4.0, 2.0, 9.0, 9.0, 9.0, 9.0, 9.0],
            // h, t; neighbours; negatives of the support; head, tail and negative of the query.
            scoring: vec![0.0, 1.0, 9.0, 9.0, 0.5 + 3f64.ln(), 0.5, 1.0, 0.0, 4.0],
        };
        let mut lists = vec![Vec::new(); 9];
        lists[0] = vec![edge(0, 2), edge(1, 3)];
        let mut task = MetaTask::default();
        task.support.push(pair(0, 1), [EntityId(4), EntityId(5)]);
        task.query.push(pair(6, 7), [EntityId(8)]);
        (layout, parameters, Lists(lists), vec![task])
    }

    fn config_by_hand() -> RanaConfig {
        RanaConfig {
            bias: false,
            enc_act: Activation::None,
            rel_act: Activation::None,
            beta_scale: BetaScale::None,
            gamma: 1.0,
            eta: 0.5,
            ..RanaConfig::default()
        }
    }

    #[test]
    fn the_objective_is_what_it_is_by_hand() {
        // r = 1, so logits are W2 tanh(1 - 1) = 0 and W2 tanh(1 - 0) = ln 3, and α = (1/4, 3/4).
        // A = 1/4 (2·1 + 4) + 3/4 (2·0 + 2) = 3, h' = (1 + 3)/2 = 2, t' = 2/2 = 1, R = 2 - 1/2.
        let (relation, head_encoded) = (1.5, 2.0);
        // Logits of β are 0·0 + 1·(0.5 + ln 3) and 0·0 + 1·0.5, hence 3/4 and 1/4.
        // Distances are 0.5 (R above), ln 3 - 1 (R below) and 1 (R above).
        let (a, b1, b2) = (sigmoid(-0.5), sigmoid(2.0 - 3f64.ln()), 0.5);
        let inner = a + 0.75 * b1 - 0.25 * b2;
        let adapted = relation - 0.5 * inner;
        // Distances of the query are 1 + R and 3 - R.
        let expected = adapted.exp().ln_1p() + (adapted - 2.0).exp().ln_1p();
        let outer = sigmoid(adapted) + sigmoid(adapted - 2.0);
        let curvature = a * (1.0 - a) + 0.75 * b1 * (1.0 - b1) + 0.25 * b2 * (1.0 - b2);
        // How the inner gradient changes with the second negative, and through β.
        let by_negative = -0.25 * b2 * (1.0 - b2);
        let by_beta = -0.1875 * b2 - 0.1875 * b1;

        for (meta_order, beta_grad, of_w5, of_negative) in [
            (MetaOrder::First, false, outer * head_encoded, 0.0),
            (MetaOrder::First, true, outer * head_encoded, 0.0),
            (
                MetaOrder::Second,
                false,
                outer * head_encoded * (1.0 - 0.5 * curvature),
                -0.5 * by_negative * outer,
            ),
            (
                MetaOrder::Second,
                true,
                outer * head_encoded * (1.0 - 0.5 * curvature),
                -0.5 * (by_negative + by_beta) * outer,
            ),
        ] {
            let config = RanaConfig { meta_order, beta_grad, ..config_by_hand() };
            let (layout, p, neighbours, tasks) = by_hand(&config);
            let reference =
                Reference { config: &config, layout: &layout, neighbours: &neighbours, batch: FIXTURE_BATCH };
            let path = reference.relations(&p, &tasks[0]);
            assert_eq!(path.len(), 2);
            assert_near(path[0][0], relation, 1e-15);
            assert_near(path[1][0], adapted, 1e-15);
            assert_near(reference.loss(&p, &tasks, None).0, expected, 1e-14);
            let gradient = reference.gradient(&p, &tasks);
            assert_near(layout.relation_head.of(&gradient.weights)[0], of_w5, 1e-10);
            assert_near(gradient.scoring[5], of_negative, 1e-10);
            // The head and the tail of the query.
            assert_near(gradient.scoring[6], outer, 1e-10);
            assert_near(gradient.scoring[7], -sigmoid(adapted), 1e-10);
        }
    }

    #[test]
    fn differences_do_not_reach_over_a_kink() {
        let config =
            RanaConfig { rel_act: Activation::LeakyRelu, meta_order: MetaOrder::Zero, ..config_by_hand() };
        let (layout, mut p, neighbours, tasks) = by_hand(&config);
        // R = 2 - 2 + 1e-5, much nearer to zero than a step.
        layout.relation_tail.of_mut(&mut p.weights)[0] = 1e-5 - 2.0;
        let reference =
            Reference { config: &config, layout: &layout, neighbours: &neighbours, batch: FIXTURE_BATCH };
        let gradient = reference.gradient(&p, &tasks);
        let expected = 2.0 * (sigmoid(1e-5) + sigmoid(1e-5 - 2.0));
        assert_near(layout.relation_head.of(&gradient.weights)[0], expected, 1e-10);
    }

    #[test]
    fn the_support_counts_before_it_is_adapted_to() {
        let loss = |outer_includes_support| {
            let config = RanaConfig { outer_includes_support, ..config_by_hand() };
            let (layout, p, neighbours, tasks) = by_hand(&config);
            let reference =
                Reference { config: &config, layout: &layout, neighbours: &neighbours, batch: FIXTURE_BATCH };
            reference.loss(&p, &tasks, None).0
        };
        // Scores are 1/2, 2 - ln 3 and 0 at R = 3/2, and β is (3/4, 1/4).
        let expected = -sigmoid(0.5).ln() - 0.75 * sigmoid(3f64.ln() - 2.0).ln() + 0.25 * 2f64.ln();
        assert_near(loss(true) - loss(false), expected, 1e-14);
    }

    #[test]
    fn self_adversarial_weights_are_constant_but_follow_the_relation() {
        let config = RanaConfig {
            neg_weight: NegWeight::SelfAdversarial,
            meta_order: MetaOrder::Second,
            inner_steps: 2,
            ..config_by_hand()
        };
        let (layout, p, neighbours, tasks) = by_hand(&config);
        let reference =
            Reference { config: &config, layout: &layout, neighbours: &neighbours, batch: FIXTURE_BATCH };
        let path = reference.relations(&p, &tasks[0]);
        let (near, far) = (0.5 + 3f64.ln(), 0.5);
        // R is above the tail, between its negatives, and stays there: dR/dx2 goes with R by 1 - ηH.
        let (mut relation, mut by_negative) = (1.5, 0.0);
        for at in 0..2 {
            assert!(relation > 1.0 && relation < near);
            let (a, b1, b2) =
                (sigmoid(relation - 2.0), sigmoid(1.0 - (near - relation)), sigmoid(1.0 - (relation - far)));
            let w2 = sigmoid((near - relation) - (relation - far));
            let w1 = 1.0 - w2;
            let curvature = a * (1.0 - a) + w1 * b1 * (1.0 - b1) + w2 * b2 * (1.0 - b2);
            by_negative += 0.5 * w2 * b2 * (1.0 - b2) - 0.5 * curvature * by_negative;
            relation -= 0.5 * (a + w1 * b1 - w2 * b2);
            assert_near(path[at + 1][0], relation, 1e-14);
        }
        let outer = sigmoid(relation) + sigmoid(relation - 2.0);
        assert_near(reference.gradient(&p, &tasks).scoring[5], outer * by_negative, 1e-10);
    }

    #[test]
    fn scores_can_be_of_encoded_pairs_by_hand() {
        // As above, h' = 2 when paired with t; R^s = 1.5 and nothing adapts it. Only h has neighbours.
        let config = RanaConfig {
            meta_order: MetaOrder::Zero,
            score_space: ScoreSpace::Encoded,
            outer_includes_support: true,
            ..config_by_hand()
        };
        let (layout, mut p, neighbours, mut tasks) = by_hand(&config);
        // Paired with an entity at 1, r is 0 and logits are W2 tanh(∓1) = ∓ ln 3 or 0.
        p.frozen[4] = 1.0;
        tasks[0].support = Contrasts::default();
        tasks[0].support.push(pair(0, 1), [EntityId(4)]);
        tasks[0].query = Contrasts::default();
        tasks[0].query.push(pair(0, 4), []);
        let reference =
            Reference { config: &config, layout: &layout, neighbours: &neighbours, batch: FIXTURE_BATCH };
        // α = (1/4, 3/4) again: -ln 3 and 0 in place of 0 and ln 3. So h' = 2, and x' = 1/2.
        let positive = (1.0 - (2.0 + 1.5 - 1.0f64)).exp();
        let negative = (1.0 - (2.0 + 1.5 - 0.5f64)).exp();
        let of_support = (1.0 / positive).ln_1p() + negative.ln_1p();
        let of_query = (1.0 / negative).ln_1p();
        assert_near(reference.loss(&p, &tasks, None).0, of_support + of_query, 1e-14);
        // In the support alone, the negative is its scoring row, at 1/2 + ln 3, and so is the query's tail.
        let config = RanaConfig { score_space: ScoreSpace::EncodedSupport, ..config };
        let reference =
            Reference { config: &config, layout: &layout, neighbours: &neighbours, batch: FIXTURE_BATCH };
        let negative = (1.0 - (3.0 - 3f64.ln())).exp();
        let of_support = (1.0 / positive).ln_1p() + negative.ln_1p();
        let of_query = (3f64.ln() - 2.0).exp().ln_1p();
        assert_near(reference.loss(&p, &tasks, None).0, of_support + of_query, 1e-14);
    }

    #[test]
    fn options_of_the_encoder_are_what_they_are_by_hand() {
        // The support's relation with an option, after a change to what `by_hand` sets up.
        let relation = |config: RanaConfig, change: &dyn Fn(&Layout, &mut Parameters, &mut MetaTask)| {
            let (layout, mut p, neighbours, mut tasks) = by_hand(&config);
            change(&layout, &mut p, &mut tasks[0]);
            let reference =
                Reference { config: &config, layout: &layout, neighbours: &neighbours, batch: FIXTURE_BATCH };
            reference.relations(&p, &tasks[0])[0][0]
        };
        let w2 = 3f64.ln() / 1f64.tanh();
        // R with some attention to the second neighbour: A = 6 α1 + 2 α2, and the tail is as before.
        let by_alpha = |alpha: f64| (1.0 + 6.0 - 4.0 * alpha) / 2.0 - 0.5;
        assert_near(by_alpha(0.75), 1.5, 0.0);

        let config = RanaConfig { residual: Residual::Translation, ..config_by_hand() };
        assert_near(relation(config, &|_, _, _| {}), 1.5 + 1.0, 1e-15);

        let config = RanaConfig { attn_input: AttnInput::RelationEntity, ..config_by_hand() };
        let value = relation(config, &|layout, p, _| {
            layout.ends[0].attention.as_ref().unwrap().entity.as_ref().unwrap().of_mut(&mut p.weights)[0] =
                0.25;
        });
        // Of the neighbours, W1 sees 1 - 1 + 4/4 and 1 - 0 + 2/4.
        assert_near(value, by_alpha(sigmoid(w2 * (1.5f64.tanh() - 1f64.tanh()))), 1e-15);

        let config = RanaConfig { ends: Ends::Separate, ..config_by_hand() };
        let value = relation(config, &|layout, p, _| {
            // The tail has no neighbours, so the rest of its weights can stay at zero.
            layout.ends[1].combine.of_mut(&mut p.weights)[0] = 3.0;
        });
        assert_near(value, 2.0 - 0.5 * 6.0, 1e-15);

        let config = RanaConfig { r_scope: RScope::TaskMean, ..config_by_hand() };
        let value = relation(config, &|_, _, task| task.support.push(pair(6, 7), []));
        // A second pair, of two entities at 9, has r = 0 and R = 4.5 - 4.5/2; the mean of r is 1/2.
        assert_near(value, (by_alpha(sigmoid(w2 * 2.0 * 0.5f64.tanh())) + 2.25) / 2.0, 1e-15);

        let config = RanaConfig { rel_act: Activation::LeakyRelu, ..config_by_hand() };
        let value = relation(config, &|layout, p, _| layout.relation_head.of_mut(&mut p.weights)[0] = -1.0);
        assert_near(value, -0.025, 1e-15);
        for (enc_act, expected) in [
            (Activation::Sigmoid, sigmoid(2.0) - 0.5 * sigmoid(1.0)),
            (Activation::Tanh, 2f64.tanh() - 0.5 * 1f64.tanh()),
        ] {
            let config = RanaConfig { enc_act, ..config_by_hand() };
            assert_near(relation(config, &|_, _, _| {}), expected, 1e-15);
        }
    }

    #[test]
    fn weights_of_negatives_are_what_they_are_by_hand() {
        let base = config_by_hand();
        let logit = 3f64.ln();
        for (config, expected) in [
            (RanaConfig { beta_scale: BetaScale::Sqrt2d, ..base.clone() }, sigmoid(logit / 2f64.sqrt())),
            (RanaConfig { beta_temp: 2.0, ..base.clone() }, sigmoid(2.0 * logit)),
            // The frozen tail is at 2, its negatives at 1.5 and 0.5.
            (RanaConfig { beta_space: BetaSpace::Frozen, ..base.clone() }, sigmoid(2.0)),
            // Scores are 2 - ln 3 and 0.
            (
                RanaConfig { neg_weight: NegWeight::SelfAdversarial, adv_temp: 2.0, ..base.clone() },
                sigmoid(2.0 * (2.0 - logit)),
            ),
            (RanaConfig { neg_weight: NegWeight::Uniform, ..base.clone() }, 0.5),
            (RanaConfig { neg_weight: NegWeight::One, ..base.clone() }, 1.0),
            // t' = 1 is compared with rows, which are as before.
            (RanaConfig { score_space: ScoreSpace::EncodedSupport, ..base.clone() }, sigmoid(logit)),
        ] {
            let (layout, mut p, neighbours, tasks) = by_hand(&config);
            (p.frozen[4], p.frozen[5]) = (1.5, 0.5);
            let reference =
                Reference { config: &config, layout: &layout, neighbours: &neighbours, batch: FIXTURE_BATCH };
            let mut tape = Tape::new(None);
            let contrasts = reference.contrasts(&p, &tasks[0], Part::Support, &mut tape);
            assert_near(reference.negative_weights(&contrasts[0], &[1.5], &mut tape)[0], expected, 1e-15);
        }
        // Encoded, the head is another vector with each tail, and counts. With t at 2 and with x at 1 it is
        // 2 (see above), t' = 1 and x' = 1/2.
        let config = RanaConfig { score_space: ScoreSpace::Encoded, ..base };
        let (layout, mut p, neighbours, tasks) = by_hand(&config);
        (p.frozen[4], p.frozen[5]) = (3.0, 1.0);
        let reference =
            Reference { config: &config, layout: &layout, neighbours: &neighbours, batch: FIXTURE_BATCH };
        let mut tape = Tape::new(None);
        let contrasts = reference.contrasts(&p, &tasks[0], Part::Support, &mut tape);
        // With x at 3, r = 2: logits are W2 tanh(1) and W2 tanh(2).
        let alpha = sigmoid(3f64.ln() / 1f64.tanh() * (2f64.tanh() - 1f64.tanh()));
        let head = (1.0 + 6.0 - 4.0 * alpha) / 2.0;
        let expected = sigmoid((2.0 * head + 1.5) - (2.0 * 2.0 + 0.5));
        assert_near(reference.negative_weights(&contrasts[0], &[1.5], &mut tape)[0], expected, 1e-15);
    }

    #[test]
    fn empty_places_count_as_stated() {
        // One neighbour with W3[ρ; c] = 2·3 + 5·7 = 41, and b3 = 100.
        let sum = |attn, padding, agg_input, entity| {
            let config = RanaConfig { attn, padding, agg_input, neighbours: 4, ..RanaConfig::default() };
            let layout = Layout::new(&config, 1);
            let end = &layout.ends[0];
            let mut weights = vec![0.3; layout.weights()];
            if let Some(block) = &end.aggregate_relation {
                block.of_mut(&mut weights)[0] = 2.0;
            }
            end.aggregate_entity.of_mut(&mut weights)[0] = 5.0;
            end.aggregate_bias.as_ref().unwrap().of_mut(&mut weights)[0] = 100.0;
            if let Some(attention) = &end.attention {
                // The neighbour has tanh(0.3 · 3) more than an empty place, worth ln 2.
                attention.pair.of_mut(&mut weights)[0] = 0.0;
                attention.bias.as_ref().unwrap().of_mut(&mut weights)[0] = 0.0;
                attention.out.of_mut(&mut weights)[0] = 2f64.ln() / 0.9f64.tanh();
            }
            let p = Parameters { weights, relations: vec![3.0], frozen: vec![0.0, 7.0], scoring: vec![] };
            let lists = Lists(vec![vec![edge(0, 1)], vec![]]);
            let reference =
                Reference { config: &config, layout: &layout, neighbours: &lists, batch: FIXTURE_BATCH };
            reference.neighbour_sum(&p, end, &[1.0], EntityId(entity))[0]
        };
        use AggInput::{Entity, RelationEntity};
        use Padding::{Masked, Unmasked};
        for (attn, padding, one, none) in [
            (Attn::Learned, Masked, 141.0, 0.0),
            (Attn::Learned, Unmasked, 0.4 * 41.0 + 100.0, 100.0),
            (Attn::Uniform, Masked, 141.0, 0.0),
            (Attn::Uniform, Unmasked, 41.0 / 4.0 + 100.0, 100.0),
            (Attn::Sum, Masked, 141.0, 0.0),
            (Attn::Sum, Unmasked, 41.0 + 400.0, 400.0),
        ] {
            assert_near(sum(attn, padding, RelationEntity, 0), one, 1e-12);
            assert_near(sum(attn, padding, RelationEntity, 1), none, 1e-12);
        }
        assert_near(sum(Attn::Learned, Masked, Entity, 0), 135.0, 1e-12);
    }

    #[test]
    fn weights_of_negatives_sum_to_one() {
        for neg_weight in [NegWeight::Attention, NegWeight::SelfAdversarial, NegWeight::Uniform] {
            let config = RanaConfig { neg_weight, beta_temp: 4.0, ..fixture_config() };
            with_fixture(&config, 1, |reference, p, tasks| {
                let mut spread: f64 = 0.0;
                for task in tasks {
                    let mut tape = Tape::new(None);
                    let relation = &reference.relations(p, task)[0];
                    for contrast in reference.contrasts(p, task, Part::Support, &mut tape) {
                        let weights = reference.negative_weights(&contrast, relation, &mut tape);
                        match weights.len() {
                            0 => {}
                            1 => assert_eq!(weights, [1.0]),
                            _ => assert_near(weights.iter().sum(), 1.0, 1e-15),
                        }
                        let (first, others) = weights.split_first().unwrap_or((&0.0, &[]));
                        spread = others.iter().fold(spread, |most, other| most.max((first - other).abs()));
                    }
                }
                assert_eq!(spread > 0.1, neg_weight != NegWeight::Uniform, "{spread}");
            });
        }
    }

    #[test]
    fn dual_numbers_agree_with_differences() {
        with_fixture(&fixture_config(), 2, |reference, p, tasks| {
            for task in tasks {
                let mut tape = Tape::new(None);
                let relation = &reference.relations(p, task)[0];
                let support = reference.contrasts(p, task, Part::Support, &mut tape);
                let weights: Vec<_> =
                    support.iter().map(|c| reference.negative_weights(c, relation, &mut tape)).collect();
                let gradient = reference.support_gradient(&support, &weights, relation);
                for (component, slope) in gradient.into_iter().enumerate() {
                    let at = |by: f64| {
                        let mut relation = relation.clone();
                        relation[component] += by;
                        reference.support_loss(&support, &weights, &relation)
                    };
                    assert_near(slope, (at(1e-5) - at(-1e-5)) / 2e-5, 1e-9);
                }
            }
        });
    }

    #[test]
    fn a_distance_of_zero_has_no_direction() {
        let relation = [Dual { value: 1.0, slope: 1.0 }, Dual { value: 2.0, slope: 0.0 }];
        let dual = distance(&[1.0, 1.0], &relation, &[2.0, 3.0]);
        assert_eq!((dual.value, dual.slope), (0.0, 0.0));
        let dual = distance(&[1.0, 1.0], &relation, &[-1.0, 7.0]);
        assert_eq!((dual.value, dual.slope), (5.0, 0.6));
    }

    #[test]
    fn orders_differ_in_the_gradient_alone() {
        let order = |meta_order| RanaConfig { meta_order, ..fixture_config() };
        let [first, second] = [MetaOrder::First, MetaOrder::Second].map(order);
        assert_eq!(loss(&first), loss(&second));
        assert!(difference(&gradient(&first), &gradient(&second)) > 0.01);
        assert_ne!(loss(&first), loss(&order(MetaOrder::Zero)));
        let through_beta = RanaConfig { beta_grad: true, ..fixture_config() };
        assert_eq!(loss(&first), loss(&through_beta));
        assert!(difference(&gradient(&first), &gradient(&through_beta)) > 0.01);
    }

    #[test]
    fn constants_are_those_of_the_parameters_they_were_recorded_with() {
        let config = RanaConfig { neg_weight: NegWeight::SelfAdversarial, ..fixture_config() };
        with_fixture(&config, 0, |reference, p, tasks| {
            let (loss, constants) = reference.loss(p, tasks, None);
            assert_eq!(reference.loss(p, tasks, Some(&constants)), (loss, constants.clone()));
            let mut changed = p.clone();
            changed.scoring[0] += 0.1;
            let (held, same) = reference.loss(&changed, tasks, Some(&constants));
            let (free, others) = reference.loss(&changed, tasks, None);
            assert_eq!(same, constants);
            assert_ne!(others, constants);
            assert_ne!(held, free);
        });
    }

    #[test]
    fn one_table_learns_from_both_roles() {
        // Of the scoring rows alone, which a copy would learn from; and of the frozen rows alone.
        let shared = RanaConfig {
            train_entities: TrainEntities::Shared,
            meta_order: MetaOrder::Second,
            ..fixture_config()
        };
        let copy = RanaConfig { train_entities: TrainEntities::Copy, ..shared.clone() };
        let (layout, p, neighbours, tasks) = fixture(&shared, 0);
        let of =
            |config| Reference { config, layout: &layout, neighbours: &neighbours, batch: FIXTURE_BATCH };
        let whole = of(&shared).gradient(&p, &tasks).scoring;
        let scored = of(&copy).gradient(&p, &tasks).scoring;
        let (_, constants) = of(&shared).loss(&p, &tasks, None);
        let mut most: f64 = 0.0;
        for at in 0..p.frozen.len() {
            let loss_at = |by: f64| {
                let mut p = p.clone();
                p.frozen[at] += by;
                of(&shared).loss(&p, &tasks, Some(&constants)).0
            };
            let encoded = (loss_at(1e-5) - loss_at(-1e-5)) / 2e-5;
            assert_near(whole[at], scored[at] + encoded, 1e-8);
            most = most.max(encoded.abs());
        }
        assert!(most > 0.01, "{most}");
    }

    #[test]
    fn reductions_are_factors() {
        let base = fixture_config();
        let queries = 7.0;
        let summed = RanaConfig { outer_reduction: OuterReduction::Sum, ..base.clone() };
        assert_near(loss(&summed), queries * loss(&base), 1e-12);
        // A factor on the support loss is one on η.
        let reduced = |inner_reduction, eta| loss(&RanaConfig { inner_reduction, eta, ..base.clone() });
        assert_eq!(reduced(InnerReduction::Half, 0.5), reduced(InnerReduction::Sum, 0.25));
        let by_batch = RanaConfig { inner_reduction: InnerReduction::MeanBatch, ..base.clone() };
        let loss_by_batch = with_fixture(&by_batch, 0, |reference, p, tasks| {
            Reference { batch: 4, ..*reference }.loss(p, tasks, None).0
        });
        assert_near(loss_by_batch, reduced(InnerReduction::MeanTask, 0.125), 1e-14);
        assert_ne!(reduced(InnerReduction::MeanTask, 0.5), reduced(InnerReduction::Sum, 0.5));
    }

    #[test]
    fn every_configuration_is_sound_and_most_differ() {
        let mut losses = Vec::new();
        for (name, config) in fixture_configs() {
            config.check(&TrainerConfig::default()).unwrap_or_else(|error| panic!("{name}: {error}"));
            losses.push((loss(&config), name));
        }
        assert!(losses.iter().all(|(loss, _)| loss.is_finite()), "{losses:?}");
        losses.sort_by(|a, b| a.0.total_cmp(&b.0));
        losses.dedup_by(|a, b| a.0 == b.0);
        // Those that only differ in what gradients flow through have the same loss.
        assert!(losses.len() > 30, "{losses:?}");
    }

    #[test]
    fn gradients_do_not_depend_on_the_size_of_steps() {
        for (name, config) in fixture_configs() {
            if config.meta_order != MetaOrder::Second {
                continue;
            }
            with_fixture(&config, 0, |reference, p, tasks| {
                let gradient = reference.gradient(p, tasks);
                let shorter = reference.gradient_by_steps(p, tasks, 3e-4);
                let difference = difference(&gradient, &shorter);
                assert!(difference < 1e-9, "{name}: {difference}");
            });
        }
    }

    #[test]
    fn the_fixture_is_not_saturated() {
        for seed in 0..3 {
            let config = fixture_config();
            let (layout, p, lists, tasks) = fixture(&config, seed);
            assert_eq!(layout.dim, 4 + seed as usize);
            assert_eq!(lists.0.len(), FIXTURE_ENTITIES as usize);
            assert_eq!(lists.0.iter().filter(|list| list.is_empty()).count(), 1);
            let reference =
                Reference { config: &config, layout: &layout, neighbours: &lists, batch: FIXTURE_BATCH };
            let mut tape = Tape::new(None);
            for task in &tasks {
                let relation = &reference.relations(&p, task)[0];
                for contrast in reference.contrasts(&p, task, Part::Support, &mut tape) {
                    for pair in contrast.negatives.iter().chain([&contrast.positive]) {
                        let score = reference.score(pair, relation);
                        assert!(score.abs() < 4.0, "{score}");
                    }
                }
            }
        }
    }
}
