//! The attention of one entity over its neighbours (eqs. 2 to 4), forwards and backwards.
//!
//! Here is where a step spends its time. The hyperbolic tangents of the forward pass are not kept:
//! computing them again is cheaper than a trip through memory.

use pulp::{Simd, WithSimd};
use rana_graph::Edge;

use super::config::{Attn, Padding};
use super::inputs::Inputs;
use super::kernels::HiddenRows;
use super::real::{Real, softmax};

/// What attention to the neighbours of one entity is computed from.
pub(super) struct Attend<'a, T> {
    pub(super) inputs: Inputs<'a, T>,
    pub(super) edges: &'a [Edge],
    /// Set if attention is learned.
    pub(super) logits: Option<Logits<'a, T>>,
    /// W3 of every relation, if relations are summed.
    pub(super) aggregate: Option<&'a [T]>,
}

/// What the logits of eq. 2 are computed from.
#[derive(Clone, Copy)]
pub(super) struct Logits<'a, T> {
    /// `Wa r + b1`.
    pub(super) pair: &'a [T],
    /// `Wb ρ` of every relation.
    pub(super) relations: &'a [T],
    /// `Wc c` of every neighbour, if attention looks at them.
    pub(super) entities: Option<&'a [T]>,
    /// W2.
    pub(super) out: &'a [T],
}

impl<'a, T: Real> Logits<'a, T> {
    /// `Wb ρ` of the relation to a neighbour.
    #[inline(always)]
    fn relation(&self, edge: Edge) -> &'a [T] {
        let size = self.out.len();
        &self.relations[edge.relation.index() * size..][..size]
    }

    /// What the hidden layer at a neighbour adds to `Wb ρ`: a row in `scratch` if neighbours differ in it.
    #[inline(always)]
    fn pair<'s>(&'s self, at: usize, scratch: &'s mut [T]) -> &'s [T] {
        let Some(entities) = self.entities else { return self.pair };
        let entity = &entities[at * self.out.len()..][..self.out.len()];
        for ((sum, &pair), &entity) in scratch.iter_mut().zip(self.pair).zip(entity) {
            *sum = pair + entity;
        }
        scratch
    }
}

impl<'a, T: Real> Attend<'a, T> {
    /// How many places without a neighbour take part.
    fn padded(&self) -> usize {
        match self.inputs.config.padding {
            Padding::Masked => 0,
            Padding::Unmasked => self.inputs.config.neighbours - self.edges.len(),
        }
    }

    /// What is summed of a neighbour: W3 of the relation to it, if that is, and its own row.
    #[inline(always)]
    fn rows(&self, edge: Edge) -> (Option<&'a [T]>, &'a [T]) {
        let dim = self.inputs.dim();
        let relation = self.aggregate.map(|of| &of[edge.relation.index() * dim..][..dim]);
        (relation, self.inputs.rows.frozen(edge.entity))
    }
}

/// What attention finds.
pub(super) struct Attended<'o, T> {
    /// The weight of each neighbour.
    pub(super) alpha: &'o mut [T],
    /// The weight of all places without a neighbour together.
    pub(super) padding: &'o mut T,
    /// `Σ α W3 ρ`, if it is wanted.
    pub(super) relation_sum: &'o mut [T],
    /// `Σ α c`.
    pub(super) entity_sum: &'o mut [T],
    /// As wide as the hidden layer.
    pub(super) scratch: &'o mut [T],
}

/// The forward pass.
pub(super) struct Forward<'a, 'o, T> {
    pub(super) of: Attend<'a, T>,
    pub(super) to: Attended<'o, T>,
}

impl<T: Real> WithSimd for Forward<'_, '_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { of, to } = self;
        let padded = of.padded();
        *to.padding = T::ZERO;
        match (&of.logits, of.inputs.config.attn) {
            (Some(logits), _) => {
                for (at, &edge) in of.edges.iter().enumerate() {
                    let pair = logits.pair(at, to.scratch);
                    to.alpha[at] = T::logit(simd, pair, logits.relation(edge), logits.out);
                }
                let mut padding = None;
                if padded > 0 {
                    to.scratch.fill(T::ZERO);
                    let logit = T::logit(simd, logits.pair, to.scratch, logits.out);
                    padding = Some((logit, T::of(padded as f64)));
                }
                *to.padding = softmax(&mut to.alpha[..of.edges.len()], padding);
            }
            (None, Attn::Sum) => to.alpha[..of.edges.len()].fill(T::ONE),
            (None, _) => {
                let share = T::ONE / T::of((of.edges.len() + padded).max(1) as f64);
                to.alpha[..of.edges.len()].fill(share);
                *to.padding = share * T::of(padded as f64);
            }
        }
        let mut rows: Vec<&[T]> = of.edges.iter().filter_map(|&edge| of.rows(edge).0).collect();
        T::weighted_sum(simd, to.relation_sum, to.alpha, &rows);
        rows.clear();
        rows.extend(of.edges.iter().map(|&edge| of.rows(edge).1));
        T::weighted_sum(simd, to.entity_sum, to.alpha, &rows);
    }
}

/// What the backward pass adds to.
pub(super) struct AttendGradients<'o, T> {
    /// Of `Wa r + b1`.
    pub(super) pair: &'o mut [T],
    /// Of `Wb ρ`, for every relation.
    pub(super) projected: &'o mut [T],
    /// Of W2.
    pub(super) out: &'o mut [T],
    /// Of the hidden layer before its activation, at every neighbour, if attention looks at them.
    pub(super) hidden: Option<&'o mut [T]>,
    /// Of W3 of every relation; of no use unless relations are summed.
    pub(super) aggregate: &'o mut [T],
    /// Of the neighbours' rows, one after the other, if they learn.
    pub(super) entities: Option<&'o mut [T]>,
    /// As wide as the hidden layer.
    pub(super) scratch: &'o mut [T],
    /// The same, for what nobody asks for.
    pub(super) unused: &'o mut [T],
    /// As long as there may be neighbours.
    pub(super) slopes: &'o mut [T],
}

/// The backward pass.
pub(super) struct Backward<'a, 'o, T> {
    pub(super) of: Attend<'a, T>,
    pub(super) alpha: &'a [T],
    pub(super) padding: T,
    /// The gradient of `Σ α W3 ρ`.
    pub(super) relation_sum: &'a [T],
    /// The gradient of `Σ α c`.
    pub(super) entity_sum: &'a [T],
    pub(super) to: AttendGradients<'o, T>,
}

impl<T: Real> WithSimd for Backward<'_, '_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { of, alpha, padding, relation_sum, entity_sum, mut to } = self;
        let dim = of.inputs.dim();
        for (at, (&edge, &alpha)) in of.edges.iter().zip(alpha).enumerate() {
            if of.aggregate.is_some() {
                T::add_scaled_by(
                    simd,
                    &mut to.aggregate[edge.relation.index() * dim..][..dim],
                    alpha,
                    relation_sum,
                );
            }
            if let Some(to) = to.entities.as_deref_mut() {
                T::add_scaled_by(simd, &mut to[at * dim..][..dim], alpha, entity_sum);
            }
        }
        let Some(logits) = &of.logits else { return };
        // Through the softmax: ∂m = α (∂α − Σ α ∂α).
        let mut mean = T::ZERO;
        for (at, (&edge, &alpha)) in of.edges.iter().zip(alpha).enumerate() {
            let (relation, entity) = of.rows(edge);
            let of_relation = relation.map_or(T::ZERO, |relation| T::dot_by(simd, relation_sum, relation));
            to.slopes[at] = of_relation + T::dot_by(simd, entity_sum, entity);
            mean += alpha * to.slopes[at];
        }
        let size = logits.out.len();
        for (at, (&edge, &alpha)) in of.edges.iter().zip(alpha).enumerate() {
            let hidden = match to.hidden.as_deref_mut() {
                Some(hidden) => &mut hidden[at * size..][..size],
                None => &mut *to.unused,
            };
            let rows = HiddenRows {
                pair: logits.pair(at, to.scratch),
                other: logits.relation(edge),
                out: logits.out,
                out_gradient: to.out,
                pair_gradient: to.pair,
                other_gradient: &mut to.projected[edge.relation.index() * size..][..size],
                hidden,
            };
            T::add_logit_gradient(simd, alpha * (to.slopes[at] - mean), rows);
        }
        if of.padded() > 0 {
            to.scratch.fill(T::ZERO);
            let mut nowhere = vec![T::ZERO; size];
            let rows = HiddenRows {
                pair: logits.pair,
                other: to.scratch,
                out: logits.out,
                out_gradient: to.out,
                pair_gradient: to.pair,
                other_gradient: &mut nowhere,
                hidden: to.unused,
            };
            T::add_logit_gradient(simd, -padding * mean, rows);
        }
    }
}
