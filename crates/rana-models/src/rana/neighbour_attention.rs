//! The attention of one entity over its neighbours (eqs. 2 to 4), forwards and backwards.
//!
//! Here is where a step spends its time. The hyperbolic tangents of the forward pass are not kept:
//! computing them again is cheaper than a trip through memory.

use pulp::{Simd, WithSimd};
use rana_embed::prefetch::fetch;

use super::config::{Attn, Padding};
use super::inputs::Inputs;
use super::neighbour_rows::{Neighbours, RowsAhead};
use super::relation_groups::RelationGroup;
use crate::real::{Real, softmax};
use crate::vector_kernels::HiddenRows;

/// The inputs of attention to the neighbours of one entity.
pub(super) struct Attend<'a, T> {
    pub(super) inputs: Inputs<'a, T>,
    pub(super) neighbours: &'a Neighbours<'a, T>,
    /// Set if attention is learned.
    pub(super) logits: Option<Logits<'a, T>>,
    /// W3 of every relation, if relations are summed.
    pub(super) aggregate: Option<&'a [T]>,
}

/// The inputs of the logits of eq. 2.
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
    /// `Wb ρ` of the relation to neighbours.
    #[inline(always)]
    fn relation(&self, group: RelationGroup) -> &'a [T] {
        let size = self.out.len();
        &self.relations[group.relation * size..][..size]
    }

    /// What the hidden layer at neighbours adds to `Wb ρ`: a row in `scratch` if it is not the same for all.
    #[inline(always)]
    fn pair<'s>(&'s self, group: RelationGroup, scratch: &'s mut [T]) -> &'s [T] {
        let Some(entities) = self.entities else { return self.pair };
        let entity = &entities[group.first * self.out.len()..][..self.out.len()];
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
            Padding::Unmasked => self.inputs.config.neighbours - self.neighbours.edges.len(),
        }
    }

    /// W3 of the relation to neighbours, if relations are summed.
    #[inline(always)]
    fn aggregate(&self, group: RelationGroup) -> Option<&'a [T]> {
        let dim = self.inputs.dim();
        self.aggregate.map(|of| &of[group.relation * dim..][..dim])
    }
}

/// The result of attention.
pub(super) struct Attended<'o, T> {
    /// The weight of each neighbour.
    pub(super) alpha: &'o mut [T],
    /// The weight of all places without a neighbour together.
    pub(super) padding: &'o mut T,
    /// `Σ α W3 ρ`, if it is wanted.
    pub(super) relation_sum: &'o mut [T],
    /// `Σ α c`.
    pub(super) entity_sum: &'o mut [T],
    pub(super) scratch: &'o mut AttendScratch<T>,
}

/// Room for what is of no use afterwards.
pub(super) struct AttendScratch<T> {
    /// As wide as the hidden layer.
    hidden: Vec<T>,
    /// For each neighbour.
    slopes: Vec<T>,
    /// For each group of neighbours.
    of_groups: Vec<T>,
}

impl<T: Real> AttendScratch<T> {
    pub(super) fn new(inputs: Inputs<'_, T>) -> Self {
        let [hidden, slopes, of_groups] =
            [inputs.layout.hidden, inputs.config.neighbours, inputs.config.neighbours]
                .map(|len| vec![T::ZERO; len]);
        Self { hidden, slopes, of_groups }
    }
}

/// The forward pass.
pub(super) struct Forward<'a, 'o, 'w, T> {
    pub(super) of: Attend<'a, T>,
    pub(super) to: Attended<'o, T>,
    pub(super) ahead: RowsAhead<'w, 'a, T>,
}

impl<T: Real> WithSimd for Forward<'_, '_, '_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { of, to, mut ahead } = self;
        let Neighbours { edges, groups, rows } = of.neighbours;
        let AttendScratch { hidden, of_groups, .. } = to.scratch;
        let alpha = &mut to.alpha[..edges.len()];
        let padded = of.padded();
        *to.padding = T::ZERO;
        match (&of.logits, of.inputs.config.attn) {
            (Some(logits), _) => {
                for (number, group) in groups.iter().enumerate() {
                    ahead.fetch(AHEAD);
                    if let Some(soon) = groups.get(number + SOON) {
                        fetch(logits.relation(soon));
                        of.aggregate(soon).into_iter().for_each(fetch);
                    }
                    let pair = logits.pair(group, hidden);
                    of_groups[number] = T::logit(simd, pair, logits.relation(group), logits.out);
                }
                for (alpha, &group) in alpha.iter_mut().zip(groups.of()) {
                    *alpha = of_groups[group];
                }
                let mut padding = None;
                if padded > 0 {
                    hidden.fill(T::ZERO);
                    let logit = T::logit(simd, logits.pair, hidden, logits.out);
                    padding = Some((logit, T::of(padded as f64)));
                }
                *to.padding = softmax(alpha, padding);
            }
            (None, Attn::Sum) => alpha.fill(T::ONE),
            (None, _) => {
                let share = T::ONE / T::of((edges.len() + padded).max(1) as f64);
                alpha.fill(share);
                *to.padding = share * T::of(padded as f64);
            }
        }
        ahead.fetch(usize::MAX);
        add_up(alpha, groups.of(), of_groups);
        let relations: Vec<&[T]> = groups.iter().filter_map(|group| of.aggregate(group)).collect();
        T::weighted_sum(simd, to.relation_sum, of_groups, &relations);
        T::weighted_sum(simd, to.entity_sum, alpha, rows);
    }
}

/// Rows of the next entity's neighbours to bring into the cache with every group of this one's.
const AHEAD: usize = 2;

/// How many groups ahead the values of a relation are prefetched. The values of all relations do not fit the
/// first-level cache.
const SOON: usize = 2;

/// Sums values over the neighbours of each group.
#[inline(always)]
fn add_up<T: Real>(each: &[T], groups: &[usize], to: &mut [T]) {
    to.fill(T::ZERO);
    for (&value, &group) in each.iter().zip(groups) {
        to[group] += value;
    }
}

/// The gradients that the backward pass adds to.
pub(super) struct AttendGradients<'o, T> {
    /// Of `Wa r + b1`.
    pub(super) pair: &'o mut [T],
    /// Of `Wb ρ`, for every relation.
    pub(super) projected: &'o mut [T],
    /// Of W2.
    pub(super) out: &'o mut [T],
    /// Takes that of the hidden layer before its activation, at every neighbour, if attention looks at them.
    pub(super) hidden: Option<&'o mut [T]>,
    /// Of W3 of every relation; of no use unless relations are summed.
    pub(super) aggregate: &'o mut [T],
    /// Of the neighbours' rows, one after the other, if they learn.
    pub(super) entities: Option<&'o mut [T]>,
    pub(super) scratch: &'o mut AttendScratch<T>,
}

/// The backward pass.
pub(super) struct Backward<'a, 'o, 'w, T> {
    pub(super) of: Attend<'a, T>,
    pub(super) alpha: &'a [T],
    pub(super) padding: T,
    /// The gradient of `Σ α W3 ρ`.
    pub(super) relation_sum: &'a [T],
    /// The gradient of `Σ α c`.
    pub(super) entity_sum: &'a [T],
    pub(super) to: AttendGradients<'o, T>,
    pub(super) ahead: RowsAhead<'w, 'a, T>,
}

impl<T: Real> WithSimd for Backward<'_, '_, '_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { of, alpha, padding, relation_sum, entity_sum, mut to, mut ahead } = self;
        let Neighbours { edges, groups, rows } = of.neighbours;
        let AttendScratch { hidden, slopes, of_groups } = to.scratch;
        let (alpha, slopes) = (&alpha[..edges.len()], &mut slopes[..edges.len()]);
        let dim = of.inputs.dim();
        if let Some(to) = to.entities.as_deref_mut() {
            for (to, &alpha) in to.chunks_exact_mut(dim).zip(alpha) {
                T::add_scaled_by(simd, to, alpha, entity_sum);
            }
        }
        add_up(alpha, groups.of(), of_groups);
        for (number, group) in groups.iter().enumerate() {
            let Some(relation) = of.aggregate(group) else {
                of_groups[number] = T::ZERO;
                continue;
            };
            if let Some(soon) = groups.get(number + SOON) {
                of.aggregate(soon).into_iter().for_each(fetch);
                fetch(&to.aggregate[soon.relation * dim..][..dim]);
            }
            let gradient = &mut to.aggregate[group.relation * dim..][..dim];
            T::add_scaled_by(simd, gradient, of_groups[number], relation_sum);
            of_groups[number] = T::dot_by(simd, relation_sum, relation);
        }
        let Some(logits) = &of.logits else { return };
        // Through the softmax: ∂m = α (∂α − Σ α ∂α).
        let mut mean = T::ZERO;
        for (at, slope) in slopes.iter_mut().enumerate() {
            *slope = of_groups[groups.of()[at]] + T::dot_by(simd, entity_sum, rows[at]);
            mean += alpha[at] * *slope;
        }
        for (slope, &alpha) in slopes.iter_mut().zip(alpha) {
            *slope = alpha * (*slope - mean);
        }
        add_up(slopes, groups.of(), of_groups);
        let size = logits.out.len();
        for (number, group) in groups.iter().enumerate() {
            ahead.fetch(AHEAD);
            if let Some(soon) = groups.get(number + SOON) {
                fetch(logits.relation(soon));
                fetch(&to.projected[soon.relation * size..][..size]);
            }
            let slope = of_groups[number];
            let of_relation = &mut to.projected[group.relation * size..][..size];
            let mut own = to.hidden.as_deref_mut().map(|hidden| &mut hidden[group.first * size..][..size]);
            let rows = HiddenRows {
                pair: logits.pair(group, hidden),
                other: logits.relation(group),
                out: logits.out,
                out_gradient: to.out,
                pair_gradient: to.pair,
                other_gradient: own.as_deref_mut().unwrap_or(of_relation),
            };
            T::add_logit_gradient(simd, slope, rows);
            if let Some(own) = own {
                T::add_scaled_by(simd, &mut to.projected[group.relation * size..][..size], T::ONE, own);
            }
        }
        ahead.fetch(usize::MAX);
        if of.padded() > 0 {
            hidden.fill(T::ZERO);
            let mut nowhere = vec![T::ZERO; size];
            let rows = HiddenRows {
                pair: logits.pair,
                other: hidden,
                out: logits.out,
                out_gradient: to.out,
                pair_gradient: to.pair,
                other_gradient: &mut nowhere,
            };
            T::add_logit_gradient(simd, -padding * mean, rows);
        }
    }
}
