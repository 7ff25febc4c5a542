//! The losses of one task and the step between them (eqs. 7 and 9 to 14), with their gradients.
//!
//! Every scored pair has a difference `h + R − t`, and all derivatives of the loss are multiples of it:
//! with `p` and `q` the first and second derivative of a term by its distance and `u` the difference's
//! direction, its gradient is `p u`, and its Hessian times `v` is `q (u·v) u + p (v − (u·v) u) / dist`.
//! The exact second order therefore costs hardly more than the first.

use std::collections::HashMap;
use std::ops::Range;

use pulp::{Simd, WithSimd};
use rana_embed::prefetch::fetch;
use rana_graph::{EntityId, Pair};

use super::config::{BetaScale, BetaSpace, InnerReduction, MetaOrder, NegWeight, Residual, TrainEntities};
use super::diagnostics::TaskDiagnostics;
use super::encoder::{CHUNK, Chunk, End};
use super::inputs::Inputs;
use crate::real::{Real, add_scaled, dot, softmax};
use crate::training::Contrasts;
use crate::training::row_gradients::RowGradients;

/// A vector that is scored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Vector {
    /// A row of the table.
    Row(EntityId),
    /// The output of the encoder at an end of a pair.
    Encoded(usize, End),
}

/// A pair as it is scored.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scored {
    pub(super) pair: Pair,
    pub(super) head: Vector,
    pub(super) tail: Vector,
}

/// Pairs as they are scored, each before its negatives.
#[derive(Clone, Debug, Default)]
pub(super) struct ScoredContrasts {
    pub(super) scored: Vec<Scored>,
    pub(super) contrasts: Vec<Range<usize>>,
    /// Pairs that are known to be wrong.
    pub(super) rejected: Vec<Scored>,
}

impl ScoredContrasts {
    /// The pairs of `contrasts` and their negatives; `of` says which vectors stand for a pair, given
    /// the number of the contrast and the place in it, the true pair being the first.
    pub(super) fn new(contrasts: &Contrasts, mut of: impl FnMut(usize, usize, Pair) -> Scored) -> Self {
        let mut this = Self::default();
        for (number, (pair, negatives)) in contrasts.iter().enumerate() {
            let start = this.scored.len();
            this.scored.push(of(number, 0, pair));
            for (at, &tail) in negatives.iter().enumerate() {
                this.scored.push(of(number, at + 1, Pair { tail, ..pair }));
            }
            this.contrasts.push(start..this.scored.len());
        }
        this
    }
}

/// One task as the objective sees it.
pub(super) struct ObjectiveTask {
    /// Where among all encoded pairs those of the support are.
    pub(super) support_pairs: Vec<usize>,
    pub(super) support: ScoredContrasts,
    pub(super) query: ScoredContrasts,
}

/// How losses count.
#[derive(Clone, Copy, Debug)]
pub(super) struct Factors {
    /// Of a query, in what is minimised.
    pub(super) query: f64,
    /// Of a support pair, in what is minimised.
    pub(super) support: f64,
}

/// The contribution of a task to the objective and the gradients.
pub(super) struct TaskOutcome<T> {
    /// Its part of what is minimised.
    pub(super) loss: f64,
    /// The gradient of eq. 7.
    pub(super) relation: Vec<T>,
    pub(super) rows: RowGradients<T>,
    pub(super) encoded: EncodedGradients<T>,
    pub(super) diagnostics: TaskDiagnostics,
}

/// The gradients at what the encoder made of ends of pairs, each end once: with shared negatives it is scored many times.
pub(super) struct EncodedGradients<T> {
    dim: usize,
    /// The place of each end among the values.
    places: HashMap<(usize, End), usize>,
    ends: Vec<(usize, End)>,
    values: Vec<T>,
}

impl<T: Real> EncodedGradients<T> {
    fn new(dim: usize) -> Self {
        Self { dim, places: HashMap::new(), ends: Vec::new(), values: Vec::new() }
    }

    #[inline(always)]
    fn add(&mut self, pair: usize, end: End, factor: T, gradient: &[T]) {
        let place = *self.places.entry((pair, end)).or_insert_with(|| {
            self.ends.push((pair, end));
            self.values.extend(std::iter::repeat_n(T::ZERO, self.dim));
            self.ends.len() - 1
        });
        add_scaled(&mut self.values[place * self.dim..(place + 1) * self.dim], factor, gradient);
    }

    /// Each end with its gradient, in the order in which they were first found.
    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, End, &[T])> + '_ {
        self.ends
            .iter()
            .zip(self.values.chunks_exact(self.dim))
            .map(|(&(pair, end), value)| (pair, end, value))
    }
}

/// The losses of tasks over encoded pairs.
pub(super) struct Objective<'a, T> {
    pub(super) inputs: Inputs<'a, T>,
    pub(super) chunks: &'a [Chunk<T>],
}

impl<T> Clone for Objective<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Objective<'_, T> {}

impl<'a, T: Real> Objective<'a, T> {
    #[inline(always)]
    fn vector(&self, vector: Vector) -> &'a [T] {
        match vector {
            Vector::Row(entity) => self.inputs.rows.scoring(entity),
            Vector::Encoded(pair, end) => self.chunks[pair / CHUNK].encoded(pair % CHUNK, end),
        }
    }

    /// eq. 6 of a pair, with the residual if there is one.
    pub(super) fn pair_relation(&self, pair: usize, entities: Pair) -> Vec<T> {
        let mut relation = self.chunks[pair / CHUNK].relation(pair % CHUNK).to_vec();
        if self.inputs.config.residual == Residual::Translation {
            add_scaled(&mut relation, T::ONE, self.inputs.rows.scoring(entities.tail));
            add_scaled(&mut relation, -T::ONE, self.inputs.rows.scoring(entities.head));
        }
        relation
    }

    /// eq. 7: the mean over the support.
    pub(super) fn support_relation(&self, task: &ObjectiveTask) -> Vec<T> {
        let mut mean = vec![T::ZERO; self.inputs.dim()];
        let share = T::ONE / T::of(task.support_pairs.len() as f64);
        for (&pair, contrast) in task.support_pairs.iter().zip(&task.support.contrasts) {
            let entities = task.support.scored[contrast.start].pair;
            add_scaled(&mut mean, share, &self.pair_relation(pair, entities));
        }
        mean
    }

    /// The factor of the support loss in the inner step.
    pub(super) fn inner_factor(&self, pairs: usize, is_training: bool) -> T {
        let config = self.inputs.config;
        let batch = if is_training { self.inputs.batch } else { 1 };
        T::of(match config.inner_reduction {
            InnerReduction::Sum => 1.0,
            InnerReduction::MeanTask => 1.0 / pairs as f64,
            InnerReduction::MeanBatch => 1.0 / (pairs * batch) as f64,
            InnerReduction::Half => 0.5,
        })
    }

    /// eq. 14: the relation after each of some inner steps, the one before them first.
    #[inline(always)]
    pub(super) fn inner_steps(
        &self,
        start: Vec<T>,
        support: &ScoredContrasts,
        steps: usize,
        factor: T,
        scratch: &mut Scratch<T>,
    ) -> Vec<Vec<T>> {
        let eta = T::of(self.inputs.config.eta.into());
        let mut path = vec![start];
        for step in 0..steps {
            let mut gradient = vec![T::ZERO; self.inputs.dim()];
            for contrast in &support.contrasts {
                let scored = &support.scored[contrast.clone()];
                self.measure(scored, &path[step], scratch);
                for (at, &slope) in scratch.slopes.iter().enumerate() {
                    add_scaled(&mut gradient, factor * slope, scratch.direction(at));
                }
            }
            self.lead_away(support, &path[step], factor, &mut gradient);
            let mut next = path[step].clone();
            add_scaled(&mut next, -eta, &gradient);
            path.push(next);
        }
        path
    }

    /// Adds the gradient of what was rejected: −log σ(dist − γ) of each, as of negatives in eq. 13.
    ///
    /// That a pair is wrong is known here, so it weighs as much as all drawn negatives of a pair (whose β sum to one),
    /// and many such pairs as much as those of the whole support.
    fn lead_away(&self, support: &ScoredContrasts, relation: &[T], factor: T, gradient: &mut [T]) {
        let gamma = T::of(self.inputs.config.gamma.into());
        let share = support.contrasts.len() as f64 / support.rejected.len() as f64;
        let weight = factor * T::of(share.min(1.0));
        for pair in &support.rejected {
            let mut difference = self.vector(pair.head).to_vec();
            add_scaled(&mut difference, T::ONE, relation);
            add_scaled(&mut difference, -T::ONE, self.vector(pair.tail));
            let distance = dot(&difference, &difference).sqrt();
            if distance >= T::of(1e-12) {
                let (_, slope) = (gamma - distance).softplus_and_sigmoid();
                add_scaled(gradient, -weight * slope / distance, &difference);
            }
        }
    }

    /// Fills in distances, directions, weights and derivatives of a contrast; its loss.
    #[inline(always)]
    pub(super) fn measure(&self, scored: &[Scored], relation: &[T], scratch: &mut Scratch<T>) -> T {
        let (dim, gamma) = (self.inputs.dim(), T::of(self.inputs.config.gamma.into()));
        scratch.resize(scored.len(), dim);
        for (at, pair) in scored.iter().enumerate() {
            let direction = &mut scratch.directions[at * dim..(at + 1) * dim];
            let (head, tail) = (self.vector(pair.head), self.vector(pair.tail));
            for (((out, &head), &relation), &tail) in direction.iter_mut().zip(head).zip(relation).zip(tail) {
                *out = head + relation - tail;
            }
            let distance = dot(direction, direction).sqrt();
            // Where the distance has no direction, none is as good as any.
            let scale = if distance < T::of(1e-12) { T::ZERO } else { T::ONE / distance };
            for out in direction {
                *out *= scale;
            }
            scratch.distances[at] = distance;
        }
        self.weigh(scored, scratch);
        // eqs. 12 and 13: −log σ(γ − dist) of the pair, −β log σ(dist − γ) of its negatives.
        let (mut loss, slope) = (scratch.distances[0] - gamma).softplus_and_sigmoid();
        scratch.slopes[0] = slope;
        scratch.curvatures[0] = slope * (T::ONE - slope);
        scratch.terms[0] = loss;
        for at in 1..scored.len() {
            let (term, slope) = (gamma - scratch.distances[at]).softplus_and_sigmoid();
            let weight = scratch.weights[at];
            scratch.terms[at] = term;
            scratch.slopes[at] = -weight * slope;
            scratch.curvatures[at] = weight * slope * (T::ONE - slope);
            loss += weight * term;
        }
        loss
    }

    /// The weights β of a contrast's negatives (eqs. 9 and 10).
    #[inline(always)]
    fn weigh(&self, scored: &[Scored], scratch: &mut Scratch<T>) {
        let config = self.inputs.config;
        let negatives = scored.len() - 1;
        let weights = &mut scratch.weights[1..];
        match config.neg_weight {
            NegWeight::One => weights.fill(T::ONE),
            NegWeight::Uniform => weights.fill(T::ONE / T::of(negatives.max(1) as f64)),
            NegWeight::SelfAdversarial => {
                let temperature = T::of(config.adv_temp.into());
                for (weight, &distance) in weights.iter_mut().zip(&scratch.distances[1..]) {
                    *weight = -temperature * distance;
                }
                softmax(weights, None);
            }
            NegWeight::Attention => {
                let scale = self.beta_scale();
                let (head, tail) = self.compared(scored[0]);
                // Negatives of rows share their head.
                let own = dot(head, head);
                for (weight, &negative) in weights.iter_mut().zip(&scored[1..]) {
                    let (other_head, other_tail) = self.compared(negative);
                    let of_heads = if std::ptr::eq(head, other_head) { own } else { dot(head, other_head) };
                    *weight = scale * (of_heads + dot(tail, other_tail));
                }
                softmax(weights, None);
            }
        }
    }

    fn beta_scale(&self) -> T {
        let config = self.inputs.config;
        let divisor = match config.beta_scale {
            BetaScale::Sqrt2d => (2.0 * self.inputs.dim() as f64).sqrt(),
            BetaScale::None => 1.0,
        };
        T::of(f64::from(config.beta_temp) / divisor)
    }

    /// The vectors that eq. 9 compares.
    #[inline(always)]
    fn compared(&self, scored: Scored) -> (&'a [T], &'a [T]) {
        match self.inputs.config.beta_space {
            BetaSpace::Scoring => (self.vector(scored.head), self.vector(scored.tail)),
            BetaSpace::Frozen => {
                let rows = self.inputs.rows;
                (rows.pretrained(scored.pair.head), rows.pretrained(scored.pair.tail))
            }
        }
    }
}

/// Room for one contrast: everything about its pair first, then about its negatives.
#[derive(Default)]
pub(super) struct Scratch<T> {
    dim: usize,
    /// `(h + R − t) / dist`.
    directions: Vec<T>,
    pub(super) distances: Vec<T>,
    /// β; of the pair itself, one.
    pub(super) weights: Vec<T>,
    /// The terms of the loss before they are weighted.
    terms: Vec<T>,
    /// Their weighted first and second derivatives by the distance.
    slopes: Vec<T>,
    curvatures: Vec<T>,
}

impl<T: Real> Scratch<T> {
    #[inline(always)]
    fn resize(&mut self, count: usize, dim: usize) {
        self.dim = dim;
        self.directions.resize(count * dim, T::ZERO);
        for part in
            [&mut self.distances, &mut self.weights, &mut self.terms, &mut self.slopes, &mut self.curvatures]
        {
            part.resize(count, T::ZERO);
        }
        self.weights[0] = T::ONE;
    }

    #[inline(always)]
    fn direction(&self, at: usize) -> &[T] {
        &self.directions[at * self.dim..(at + 1) * self.dim]
    }
}

/// The losses of one task and their gradients.
pub(super) struct ComputeTask<'a, T> {
    pub(super) objective: Objective<'a, T>,
    pub(super) task: &'a ObjectiveTask,
    pub(super) factors: Factors,
}

impl<T: Real> WithSimd for ComputeTask<'_, T> {
    type Output = TaskOutcome<T>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> TaskOutcome<T> {
        let Self { objective, task, factors } = self;
        let (config, dim) = (objective.inputs.config, objective.inputs.dim());
        let pairs = task.support_pairs.len();
        let factor = objective.inner_factor(pairs, true);
        let eta = T::of(config.eta.into());
        let mut scratch = Scratch::default();
        let mut gradients = Gradients::new(objective);
        for scored in task.support.scored.iter().chain(&task.query.scored) {
            fetch(objective.vector(scored.tail));
        }
        let mut diagnostics = TaskDiagnostics::default();

        let start = objective.support_relation(task);
        let path = objective.inner_steps(start, &task.support, config.training_steps(), factor, &mut scratch);
        let adapted = &path[path.len() - 1];
        diagnostics.add_relation(&path[0], adapted);

        // The query loss at R^q, which eq. 17 minimises.
        let mut loss = 0.0;
        let mut relation = vec![T::ZERO; dim];
        let query = T::of(factors.query);
        for contrast in &task.query.contrasts {
            let scored = &task.query.scored[contrast.clone()];
            let value = objective.measure(scored, adapted, &mut scratch);
            loss += factors.query * value.wide();
            diagnostics.add_contrast(&scratch.distances, &scratch.weights, &scratch.slopes);
            gradients.add_contrast(scored, query, &scratch, &mut relation);
        }
        // Back through the inner steps; to the first order, they are no more than a constant.
        if config.meta_order == MetaOrder::Second {
            for before in path[..path.len() - 1].iter().rev() {
                let mut change = vec![T::ZERO; dim];
                for contrast in &task.support.contrasts {
                    let scored = &task.support.scored[contrast.clone()];
                    objective.measure(scored, before, &mut scratch);
                    gradients.add_curvature(scored, -(eta * factor), &relation, &scratch, &mut change);
                }
                add_scaled(&mut relation, T::ONE, &change);
            }
        }
        if factors.support != 0.0 {
            let support = T::of(factors.support);
            for contrast in &task.support.contrasts {
                let scored = &task.support.scored[contrast.clone()];
                let value = objective.measure(scored, &path[0], &mut scratch);
                loss += factors.support * value.wide();
                gradients.add_contrast(scored, support, &scratch, &mut relation);
            }
        }
        if config.residual == Residual::Translation {
            let share = T::ONE / T::of(pairs as f64);
            for contrast in &task.support.contrasts {
                let pair = task.support.scored[contrast.start].pair;
                gradients.add(Vector::Row(pair.tail), share, &relation);
                gradients.add(Vector::Row(pair.head), -share, &relation);
            }
        }
        let Gradients { rows, encoded, .. } = gradients;
        TaskOutcome { loss, relation, rows, encoded, diagnostics }
    }
}

/// Gradients of the vectors that are scored.
struct Gradients<'a, T> {
    objective: Objective<'a, T>,
    rows: RowGradients<T>,
    encoded: EncodedGradients<T>,
    learns_rows: bool,
    sum: Vec<T>,
    term: Vec<T>,
}

impl<'a, T: Real> Gradients<'a, T> {
    fn new(objective: Objective<'a, T>) -> Self {
        let dim = objective.inputs.dim();
        Self {
            objective,
            rows: RowGradients::new(dim),
            encoded: EncodedGradients::new(dim),
            learns_rows: objective.inputs.config.train_entities != TrainEntities::Frozen,
            sum: vec![T::ZERO; dim],
            term: vec![T::ZERO; dim],
        }
    }

    #[inline(always)]
    fn add(&mut self, vector: Vector, factor: T, gradient: &[T]) {
        match vector {
            Vector::Row(entity) if self.learns_rows => self.rows.push(entity, factor, gradient),
            Vector::Row(_) => {}
            Vector::Encoded(pair, end) => self.encoded.add(pair, end, factor, gradient),
        }
    }

    /// Adds the gradients of a measured contrast, times a factor.
    #[inline(always)]
    fn add_contrast(&mut self, scored: &[Scored], factor: T, scratch: &Scratch<T>, relation: &mut [T]) {
        self.add_terms(scored, relation, |at, term| {
            let slope = factor * scratch.slopes[at];
            for (term, &direction) in term.iter_mut().zip(scratch.direction(at)) {
                *term = slope * direction;
            }
        });
        if self.objective.inputs.config.beta_grad {
            self.add_attention(scored, scratch, |at| factor * scratch.terms[at]);
        }
    }

    /// Adds the Hessian of a measured contrast times a vector, times a factor.
    #[inline(always)]
    fn add_curvature(
        &mut self,
        scored: &[Scored],
        factor: T,
        vector: &[T],
        scratch: &Scratch<T>,
        relation: &mut [T],
    ) {
        self.add_terms(scored, relation, |at, term| {
            let direction = scratch.direction(at);
            let along = dot(direction, vector);
            let distance = scratch.distances[at];
            let across = if distance < T::of(1e-12) { T::ZERO } else { scratch.slopes[at] / distance };
            let straight = (scratch.curvatures[at] - across) * along;
            for ((term, &direction), &vector) in term.iter_mut().zip(direction).zip(vector) {
                *term = factor * (straight * direction + across * vector);
            }
        });
        if self.objective.inputs.config.beta_grad {
            self.add_attention(scored, scratch, |at| {
                let slope = scratch.slopes[at] / scratch.weights[at];
                factor * slope * dot(scratch.direction(at), vector)
            });
        }
    }

    /// Adds terms that are gradients of `h + R − t`, at each pair of a contrast.
    #[inline(always)]
    fn add_terms(&mut self, scored: &[Scored], relation: &mut [T], fill: impl Fn(usize, &mut [T])) {
        let (mut sum, mut term) = (std::mem::take(&mut self.sum), std::mem::take(&mut self.term));
        sum.fill(T::ZERO);
        // Rows share their head; encoded pairs have one each.
        let is_shared = scored.iter().all(|pair| pair.head == scored[0].head);
        for (at, pair) in scored.iter().enumerate() {
            fill(at, &mut term);
            add_scaled(&mut sum, T::ONE, &term);
            self.add(pair.tail, -T::ONE, &term);
            if !is_shared {
                self.add(pair.head, T::ONE, &term);
            }
        }
        if is_shared {
            self.add(scored[0].head, T::ONE, &sum);
        }
        add_scaled(relation, T::ONE, &sum);
        (self.sum, self.term) = (sum, term);
    }

    /// Back through eqs. 9 and 10, from the gradient of each β.
    #[inline(always)]
    fn add_attention(&mut self, scored: &[Scored], scratch: &Scratch<T>, gradient: impl Fn(usize) -> T) {
        let mean: T = (1..scored.len()).map(|at| scratch.weights[at] * gradient(at)).sum();
        let scale = self.objective.beta_scale();
        let own = scored[0];
        for (at, &other) in scored.iter().enumerate().skip(1) {
            let factor = scale * scratch.weights[at] * (gradient(at) - mean);
            self.add(own.tail, factor, self.objective.vector(other.tail));
            self.add(other.tail, factor, self.objective.vector(own.tail));
            // A head in common adds the same to all logits, which no softmax sees.
            if own.head != other.head {
                self.add(own.head, factor, self.objective.vector(other.head));
                self.add(other.head, factor, self.objective.vector(own.head));
            }
        }
    }
}
