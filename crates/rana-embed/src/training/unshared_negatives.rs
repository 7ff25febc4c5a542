//! [`Unshared`]: processes facts with negatives of their own, one after the other.
//!
//! There is little work per fact, so copies and buffers would cost more than the arithmetic. Rows are read in place,
//! and nothing is written for a fact whose loss is zero.

use std::marker::PhantomData;

use pulp::{Arch, Simd, WithSimd};

use super::gradient_shard::{Scratch, Shard};
use super::row_access::{Rows, Tables};
use super::row_listing::Listing;
use super::slice::{Plan, Slice};
use crate::model::{ComplEx, DistMult, Model, ModelKind, Norm, RotatE, SimplE, TransE};
use crate::regulariser::Regulariser;
use crate::similarity::{Dot, Kernel, L1, L2, Modulus, pull_pair, score_pair};

/// How many facts ahead rows are prefetched.
const AHEAD: usize = 4;

/// Some facts, with the list of their rows and negatives.
pub(crate) struct Unshared<'a, T> {
    pub(crate) plan: &'a Plan<'a>,
    pub(crate) slice: Slice<'a>,
    pub(crate) listing: &'a Listing,
    pub(crate) scratch: &'a mut Scratch,
    pub(crate) tables: &'a mut T,
    pub(crate) shard: &'a mut Shard,
}

impl<T: Tables> Unshared<'_, T> {
    /// Computes the loss of all facts and its gradients.
    pub(crate) fn compute(self) {
        let config = self.plan.config;
        match (config.model, config.norm) {
            (ModelKind::TransE, Norm::L1) => self.compute_as::<TransE, L1, 1>(),
            (ModelKind::TransE, Norm::L2) => self.compute_as::<TransE, L2, 1>(),
            (ModelKind::DistMult, _) => self.compute_as::<DistMult, Dot, 1>(),
            (ModelKind::Complex, _) => self.compute_as::<ComplEx, Dot, 1>(),
            (ModelKind::Simple, _) => self.compute_as::<SimplE, Dot, 1>(),
            (ModelKind::RotatE, _) => self.compute_as::<RotatE, Modulus, 2>(),
        }
    }

    fn compute_as<M: Model, K: Kernel<P>, const P: usize>(self) {
        Arch::new().dispatch(Compute::<T, M, K, P> { work: self, kinds: PhantomData });
    }
}

struct Compute<'a, T, M, K, const P: usize> {
    work: Unshared<'a, T>,
    kinds: PhantomData<(M, K)>,
}

impl<T: Tables, M: Model, K: Kernel<P>, const P: usize> WithSimd for Compute<'_, T, M, K, P> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Unshared { plan, slice, listing, scratch, tables, shard } = self.work;
        let config = plan.config;
        let (dim, width) = (config.dim, config.model.relation_width(config.dim));
        let (facts, count) = (slice.facts.len(), config.negatives.count);
        let is_penalised = config.regulariser != Regulariser::None;
        let (anchors, others) = listing.entities.split_at(facts);
        let (answers, drawn) = others.split_at(facts);
        let (query, query_gradient) = (&mut scratch.queries[..dim], &mut scratch.query_gradients[..dim]);
        let (scores, others) = scratch.scores.split_at_mut(count);
        let (score_gradients, terms) = others.split_at_mut(count);
        let mut loss = 0.0;
        for at in 0..facts {
            let (entities, relations) = (tables.entities(), tables.relations());
            if at + AHEAD < facts {
                let ahead = at + AHEAD;
                entities.fetch(anchors[ahead] as usize);
                entities.fetch(answers[ahead] as usize);
                for &negative in &drawn[ahead * count..(ahead + 1) * count] {
                    entities.fetch(negative as usize);
                }
            }
            let drawn = &drawn[at * count..(at + 1) * count];
            let anchor = entities.row(anchors[at] as usize);
            let relation = relations.row(listing.relations[at] as usize);
            let answer = entities.row(answers[at] as usize);
            M::query(listing.side, anchor, relation, query);
            let score = score_pair::<S, K, P>(simd, query, answer);
            for (&negative, score) in drawn.iter().zip(scores.iter_mut()) {
                let negative = entities.row(negative as usize);
                *score = score_pair::<S, K, P>(simd, query, negative);
            }
            plan.sampler.mask(slice.side, &slice.facts[at..=at], drawn, scores);
            let (fact_loss, gradient) = config.loss.of_fact(score, scores, score_gradients, terms);
            loss += f64::from(fact_loss);
            // The gradient at a true fact is zero only if the gradients at all its negatives are zero.
            if gradient == 0.0 && !is_penalised {
                continue;
            }
            query_gradient.fill(0.0);
            let for_answer = shard.entities.next(answers[at], dim);
            let weight = K::weight(score, gradient);
            pull_pair::<S, K, P>(simd, weight, (query, answer), (query_gradient, for_answer));
            config.regulariser.add_gradient(config.model.entity_layout(), answer, for_answer);
            let of_negatives = scores.iter().zip(score_gradients.iter());
            for (&negative, (&score, &gradient)) in drawn.iter().zip(of_negatives) {
                if gradient != 0.0 {
                    let for_negative = shard.entities.next(negative, dim);
                    let negative = entities.row(negative as usize);
                    let weight = K::weight(score, gradient);
                    pull_pair::<S, K, P>(simd, weight, (query, negative), (query_gradient, for_negative));
                }
            }
            let for_anchor = shard.entities.next(anchors[at], dim);
            let for_relation = shard.relations.next(listing.relations[at], width);
            M::backward(listing.side, anchor, relation, query_gradient, for_anchor, for_relation);
            config.regulariser.add_gradient(config.model.entity_layout(), anchor, for_anchor);
            if let Some(layout) = config.model.relation_layout() {
                config.regulariser.add_gradient(layout, relation, for_relation);
            }
            tables.take(shard);
        }
        shard.loss = loss;
    }
}
