//! [`Network`]: where the weights of HiRe stand, and how a batch of supports becomes relations.

use rana_graph::{EntityId, RelationId};
use rayon::prelude::*;

use super::config::{HireConfig, RelationTransfers};
use super::context_learner::{AskedPair, ContextLearner};
use super::meta_relation_learner::{Learned, MetaRelationLearner};
use super::transfer_distance::TransferDistance;
use crate::real::{Real, add_scaled};
use crate::relation_meta::Surroundings;
use crate::seed::{Purpose, rng};
use crate::tape::{DropoutKey, Segments, Tape, Var};
use crate::training::row_gradients::RowGradients;
use crate::training::{Block, Contrasts, Rows, WeightBlocks};

/// Pairs whose contexts are encoded on one tape.
const CHUNK: usize = 64;

/// The weights of HiRe.
#[derive(Clone, Debug)]
pub(super) struct Network {
    pub(super) dim: usize,
    contexts: ContextLearner,
    /// The weights of contexts are the first so many.
    contexts_len: usize,
    learner: MetaRelationLearner,
    /// The transfer vector that each relation starts from; one for all if they share it. With one of each, the last is
    /// for relations without a name.
    pub(super) transfers: Block,
    pub(super) blocks: WeightBlocks,
}

/// A support, and the relation that it is of, if the graph has a name for it.
pub(super) type NamedSupport<'a> = (Option<RelationId>, &'a Contrasts);

/// The forward pass of a batch.
pub(super) struct Pass<'w, T: Real> {
    tape: Tape<'w, T>,
    /// A row `[h; t]` for each support pair, a leaf of the tape.
    pairs: Var,
    learned: Learned,
    transfer_rows: Vec<usize>,
    /// What is known of the relation of each support, one behind the other.
    pub(super) relations: Vec<T>,
}

/// The contrastive loss of a batch.
#[derive(Default)]
pub(super) struct ContextLoss<T> {
    pub(super) loss: f64,
    /// The gradients of the weights of contexts.
    weights: Vec<T>,
    /// The gradients at what the learner found for each pair; empty without contexts.
    pairs: Vec<T>,
}

impl Network {
    /// `relations` have a name.
    pub(super) fn new(config: &HireConfig, relations: usize, dim: usize) -> Self {
        let mut blocks = WeightBlocks::default();
        let contexts = ContextLearner::new(&mut blocks, config, dim);
        let contexts_len = blocks.len();
        let learner = MetaRelationLearner::new(&mut blocks, config, dim);
        let rows = match config.relation_transfers {
            RelationTransfers::Shared => 1,
            RelationTransfers::PerRelation => relations + 1,
        };
        let transfers = blocks.matrix("transfers", rows, dim, (dim, rows));
        Self { dim, contexts, contexts_len, learner, transfers, blocks }
    }

    /// Sets the weights that do not start at random.
    pub(super) fn start(&self, weights: &mut [f32]) {
        self.contexts.start(weights);
        self.learner.start(weights);
    }

    fn transfer_row(&self, relation: Option<RelationId>) -> usize {
        let last = self.transfers.rows - 1;
        relation.map_or(last, |relation| relation.number().min(last))
    }

    /// The relations of some supports. Without `learns` there is no way back.
    pub(super) fn forward<'w, T: Real>(
        &self,
        weights: &'w [T],
        rows: &dyn Rows<T>,
        supports: &[NamedSupport<'_>],
        distance: TransferDistance,
        dropout: Option<DropoutKey>,
        learns: bool,
    ) -> Pass<'w, T> {
        let dim = self.dim;
        let tape = if learns { Tape::new(weights) } else { Tape::forward_only(weights) };
        let mut tape = tape.with_dropout(dropout);
        let mut pairs = Vec::new();
        for pair in supports.iter().flat_map(|(_, support)| support.pairs()) {
            pairs.extend_from_slice(&rows.row(pair.head)[..dim]);
            pairs.extend_from_slice(&rows.row(pair.tail)[..dim]);
        }
        let pairs = tape.rows(pairs, 2 * dim);
        let groups = Segments::of_lengths(supports.iter().map(|(_, support)| support.pairs().len()));
        let learned = self.learner.of(&mut tape, pairs, &groups);
        let transfer_rows: Vec<usize> =
            supports.iter().map(|&(relation, _)| self.transfer_row(relation)).collect();
        let transfers = self.transfers.of(weights);
        let mut relations = Vec::with_capacity(supports.len() * distance.vectors() * dim);
        let translations = tape.values(learned.relations).chunks_exact(dim);
        for ((translation, &row), (_, support)) in translations.zip(&transfer_rows).zip(supports) {
            relations.extend_from_slice(translation);
            relations.extend_from_slice(&transfers[row * dim..(row + 1) * dim]);
            for entity in first_pair(support, distance) {
                relations.extend_from_slice(&rows.row(entity)[dim..]);
            }
        }
        Pass { tape, pairs, learned, transfer_rows, relations }
    }

    /// The contrastive loss of the contexts of all support pairs, their mean times its weight.
    pub(super) fn context_loss<T: Real>(
        &self,
        weights: &[T],
        surroundings: Surroundings<'_, T>,
        supports: &[NamedSupport<'_>],
        pass: &Pass<'_, T>,
        weight: f32,
        (seed, step, dropout): (u64, u64, Option<DropoutKey>),
    ) -> ContextLoss<T> {
        if weight == 0.0 {
            return ContextLoss { loss: 0.0, weights: Vec::new(), pairs: Vec::new() };
        }
        let pairs = asked_pairs(supports);
        let factor = T::of(f64::from(weight) / pairs.len() as f64);
        let found = pass.tape.values(pass.learned.pairs);
        let chunks = pairs.par_chunks(CHUNK).zip(found.par_chunks(CHUNK * self.dim)).enumerate();
        let results: Vec<(f64, Vec<T>, Vec<T>)> = chunks
            .map(|(chunk, (pairs, found))| {
                let key = dropout.map(|key| DropoutKey { tape: 1 + chunk as u32, ..key });
                let mut tape = Tape::new(&weights[..self.contexts_len]).with_dropout(key);
                let found = tape.rows(found.to_vec(), self.dim);
                let mut rng = rng(seed, Purpose::Neighbours, [step, chunk as u64]);
                let loss = self.contexts.loss(&mut tape, surroundings, pairs, found, &mut rng);
                let loss = tape.scale(loss, factor);
                let gradients = tape.backward(loss);
                let at_found = gradients.of(found).map(<[T]>::to_vec);
                let at_found = at_found.unwrap_or_else(|| vec![T::ZERO; pairs.len() * self.dim]);
                (tape.scalar(loss).wide(), gradients.weights, at_found)
            })
            .collect();
        let mut sum = ContextLoss { loss: 0.0, weights: vec![T::ZERO; self.contexts_len], pairs: Vec::new() };
        for (loss, weights, pairs) in results {
            sum.loss += loss;
            add_scaled(&mut sum.weights, T::ONE, &weights);
            sum.pairs.extend(pairs);
        }
        sum
    }

    /// The relations of the corrupted contexts of all support pairs, as a step of the context loss draws them.
    pub(super) fn corrupted_relations<T: Real>(
        &self,
        surroundings: Surroundings<'_, T>,
        supports: &[NamedSupport<'_>],
        (seed, step): (u64, u64),
    ) -> Vec<u32> {
        let pairs = asked_pairs(supports);
        let of_chunk = |(chunk, pairs): (usize, &[AskedPair])| {
            let mut rng = rng(seed, Purpose::Neighbours, [step, chunk as u64]);
            self.contexts.corrupted_relations(surroundings, pairs, self.dim, &mut rng)
        };
        pairs.chunks(CHUNK).enumerate().flat_map(of_chunk).collect()
    }

    /// The gradients of the weights, given those at the relations of a pass and those of contexts. Those of rows go to
    /// `rows`, if they learn.
    pub(super) fn backward<T: Real>(
        &self,
        mut pass: Pass<'_, T>,
        supports: &[NamedSupport<'_>],
        distance: TransferDistance,
        at_relations: &[T],
        contexts: &ContextLoss<T>,
        rows: Option<&mut RowGradients<T>>,
    ) -> Vec<T> {
        let (dim, width) = (self.dim, distance.vectors() * self.dim);
        let tape = &mut pass.tape;
        let at_translations: Vec<T> =
            at_relations.chunks_exact(width).flat_map(|all| all[..dim].iter().copied()).collect();
        let mut loss = product_with(tape, pass.learned.relations, at_translations);
        if !contexts.pairs.is_empty() {
            let of_contexts = product_with(tape, pass.learned.pairs, contexts.pairs.clone());
            loss = tape.add(loss, of_contexts);
        }
        let back = tape.backward(loss);
        let mut weights = back.weights.clone();
        add_scaled(&mut weights, T::ONE, &contexts.weights);
        let transfers = self.transfers.of_mut(&mut weights);
        for (all, &row) in at_relations.chunks_exact(width).zip(&pass.transfer_rows) {
            add_scaled(&mut transfers[row * dim..(row + 1) * dim], T::ONE, &all[dim..2 * dim]);
        }
        let Some(rows) = rows else { return weights };
        let mut row = vec![T::ZERO; 2 * dim];
        for ((_, support), all) in supports.iter().zip(at_relations.chunks_exact(width)) {
            for (entity, gradient) in first_pair(support, distance).zip(all[2 * dim..].chunks_exact(dim)) {
                row[dim..].copy_from_slice(gradient);
                rows.push(entity, T::ONE, &row);
            }
        }
        row.fill(T::ZERO);
        let ends = supports.iter().flat_map(|(_, support)| support.pairs());
        let ends = ends.flat_map(|pair| [pair.head, pair.tail]);
        for (entity, gradient) in ends.zip(back.of(pass.pairs).unwrap_or_default().chunks_exact(dim)) {
            row[..dim].copy_from_slice(gradient);
            rows.push(entity, T::ONE, &row);
        }
        weights
    }
}

/// The pairs of some supports.
fn asked_pairs(supports: &[NamedSupport<'_>]) -> Vec<AskedPair> {
    let of_support = |&(relation, support): &NamedSupport<'_>| {
        support.pairs().iter().map(move |&pair| (pair, relation)).collect::<Vec<_>>()
    };
    supports.iter().flat_map(of_support).collect()
}

/// The entities whose transfer vectors a relation has: those of the first support pair, or none.
fn first_pair(support: &Contrasts, distance: TransferDistance) -> impl Iterator<Item = EntityId> {
    let ends = support.pairs().first().map(|pair| [pair.head, pair.tail]);
    ends.into_iter().flatten().take(distance.vectors() - 2)
}

/// The product of a matrix with gradients at it: its own gradients are those that lead to these.
fn product_with<T: Real>(tape: &mut Tape<'_, T>, at: Var, gradient: Vec<T>) -> Var {
    let columns = tape.shape(at).1;
    let gradient = tape.constant(gradient, columns);
    let product = tape.multiply(at, gradient);
    tape.sum(product)
}
