//! The attention of one entity over its neighbours (eqs. 2 to 4), forwards and backwards.
//!
//! Here is where a step spends its time. The hyperbolic tangents of the forward pass are not kept:
//! computing them again is cheaper than a trip through memory.

use pulp::{Simd, WithSimd};
use rana_graph::Edge;

use super::config::{Attn, Padding};
use super::inputs::Inputs;
use super::real::{FEW, LANES, Real, add_product, add_scaled_by, dot_by, tanh_of_sum};

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
    /// `tanh(W1 [r; ρ; c])` at a neighbour.
    #[inline(always)]
    fn hidden<S: Simd>(&self, at: usize, edge: Edge, hidden: &mut [T]) {
        let size = hidden.len();
        let relation = &self.relations[edge.relation.index() * size..][..size];
        match self.entities {
            None => tanh_of_sum::<S, T>(hidden, self.pair, relation),
            Some(entities) => {
                let entity = &entities[at * size..][..size];
                let parts = self.pair.iter().zip(relation).zip(entity);
                for (hidden, ((&pair, &relation), &entity)) in hidden.iter_mut().zip(parts) {
                    *hidden = (pair + relation + entity).tanh();
                }
            }
        }
    }

    /// The same in a place without a neighbour.
    #[inline(always)]
    fn hidden_at_padding(&self, hidden: &mut [T]) {
        for (hidden, &pair) in hidden.iter_mut().zip(self.pair) {
            *hidden = pair.tanh();
        }
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
    fn with_simd<S: Simd>(self, _: S) {
        let Self { of, to } = self;
        let padded = of.padded();
        *to.padding = T::ZERO;
        match (&of.logits, of.inputs.config.attn) {
            (Some(logits), _) => {
                for (at, &edge) in of.edges.iter().enumerate() {
                    logits.hidden::<S>(at, edge, to.scratch);
                    to.alpha[at] = dot_by::<S, T>(logits.out, to.scratch);
                }
                let mut padding = None;
                if padded > 0 {
                    logits.hidden_at_padding(to.scratch);
                    padding = Some((dot_by::<S, T>(logits.out, to.scratch), T::of(padded as f64)));
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
        to.entity_sum.fill(T::ZERO);
        to.relation_sum.fill(T::ZERO);
        for (&edge, &alpha) in of.edges.iter().zip(&*to.alpha) {
            let (relation, entity) = of.rows(edge);
            if let Some(relation) = relation {
                add_scaled_by::<S, T>(to.relation_sum, alpha, relation);
            }
            add_scaled_by::<S, T>(to.entity_sum, alpha, entity);
        }
    }
}

/// The softmax over some logits and one more that stands for several alike; the weight of those.
#[inline(always)]
fn softmax<T: Real>(logits: &mut [T], repeated: Option<(T, T)>) -> T {
    let greater = |a: T, b: T| if b > a { b } else { a };
    let Some(&first) = logits.first().or(repeated.as_ref().map(|(logit, _)| logit)) else { return T::ZERO };
    let mut most = logits.iter().copied().fold(first, greater);
    if let Some((logit, _)) = repeated {
        most = greater(most, logit);
    }
    for logit in logits.iter_mut() {
        *logit = (*logit - most).exp();
    }
    let of_repeated = repeated.map_or(T::ZERO, |(logit, times)| times * (logit - most).exp());
    let scale = T::ONE / (logits.iter().copied().sum::<T>() + of_repeated);
    for logit in logits {
        *logit *= scale;
    }
    of_repeated * scale
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
    fn with_simd<S: Simd>(self, _: S) {
        let Self { of, alpha, padding, relation_sum, entity_sum, mut to } = self;
        let dim = of.inputs.dim();
        for (at, (&edge, &alpha)) in of.edges.iter().zip(alpha).enumerate() {
            if of.aggregate.is_some() {
                add_scaled_by::<S, T>(
                    &mut to.aggregate[edge.relation.index() * dim..][..dim],
                    alpha,
                    relation_sum,
                );
            }
            if let Some(to) = to.entities.as_deref_mut() {
                add_scaled_by::<S, T>(&mut to[at * dim..][..dim], alpha, entity_sum);
            }
        }
        let Some(logits) = &of.logits else { return };
        // Through the softmax: ∂m = α (∂α − Σ α ∂α).
        let mut mean = T::ZERO;
        for (at, (&edge, &alpha)) in of.edges.iter().zip(alpha).enumerate() {
            let (relation, entity) = of.rows(edge);
            let of_relation = relation.map_or(T::ZERO, |relation| dot_by::<S, T>(relation_sum, relation));
            to.slopes[at] = of_relation + dot_by::<S, T>(entity_sum, entity);
            mean += alpha * to.slopes[at];
        }
        let size = to.scratch.len();
        for (at, (&edge, &alpha)) in of.edges.iter().zip(alpha).enumerate() {
            let slope = alpha * (to.slopes[at] - mean);
            logits.hidden::<S>(at, edge, to.scratch);
            let projected = &mut to.projected[edge.relation.index() * size..][..size];
            add_hidden::<S, T>(slope, logits.out, to.scratch, to.out, to.pair, Some(projected));
            if let Some(hidden) = to.hidden.as_deref_mut() {
                hidden[at * size..][..size].copy_from_slice(to.scratch);
            }
        }
        if of.padded() > 0 {
            logits.hidden_at_padding(to.scratch);
            add_hidden::<S, T>(-padding * mean, logits.out, to.scratch, to.out, to.pair, None);
        }
    }
}

/// Back from a logit through W2 and the hyperbolic tangent: leaves the gradient before the latter in
/// `hidden`, and adds it to that of the pair and of the relation.
#[inline(always)]
fn add_hidden<S: Simd, T: Real>(
    slope: T,
    out: &[T],
    hidden: &mut [T],
    out_gradient: &mut [T],
    pair: &mut [T],
    projected: Option<&mut [T]>,
) {
    let rows = (out, &mut *hidden, out_gradient, pair);
    let rows = add_hidden_blocks::<S, T, LANES>(slope, rows);
    let rows = add_hidden_blocks::<S, T, FEW>(slope, rows);
    add_hidden_blocks::<S, T, 1>(slope, rows);
    if let Some(projected) = projected {
        add_scaled_by::<S, T>(projected, T::ONE, hidden);
    }
}

/// W2, the hidden layer, and the gradients of W2 and of the pair.
type HiddenRows<'r, T> = (&'r [T], &'r mut [T], &'r mut [T], &'r mut [T]);

/// The same in blocks of a size but for the relation; what is left of the rows.
#[inline(always)]
fn add_hidden_blocks<'r, S: Simd, T: Real, const SIZE: usize>(
    slope: T,
    (out, hidden, out_gradient, pair): HiddenRows<'r, T>,
) -> HiddenRows<'r, T> {
    let (out, out_rest) = out.as_chunks::<SIZE>();
    let (hidden, hidden_rest) = hidden.as_chunks_mut::<SIZE>();
    let (out_gradient, out_gradient_rest) = out_gradient.as_chunks_mut::<SIZE>();
    let (pair, pair_rest) = pair.as_chunks_mut::<SIZE>();
    for (((out, hidden), out_gradient), pair) in out.iter().zip(hidden).zip(out_gradient).zip(pair) {
        // Read as a whole and written as a whole, or the compiler fears that the rows overlap.
        let (out, mut values, mut out_sum, mut pair_sum) = (*out, *hidden, *out_gradient, *pair);
        for at in 0..SIZE {
            out_sum[at] = add_product::<S, T>(slope, values[at], out_sum[at]);
            values[at] = slope * out[at] * add_product::<S, T>(-values[at], values[at], T::ONE);
            pair_sum[at] += values[at];
        }
        (*hidden, *out_gradient, *pair) = (values, out_sum, pair_sum);
    }
    (out_rest, hidden_rest, out_gradient_rest, pair_rest)
}
