//! [`Network`]: where the weights of GANA stand, and how a batch of supports becomes relations.

use rana_graph::{EntityId, RelationId};
use rayon::prelude::*;

use super::attentive_bi_lstm::AttentiveBiLstm;
use super::config::{GanaConfig, Normals};
use super::neighbour_aggregator::NeighbourAggregator;
use crate::real::{Real, add_scaled};
use crate::relation_meta::Surroundings;
use crate::tape::{DropoutKey, Tape, Var};
use crate::training::{Block, Contrasts, WeightBlocks};

/// Supports whose entities are encoded on one tape.
const CHUNK: usize = 32;

/// The weights of GANA.
#[derive(Clone, Debug)]
pub(super) struct Network {
    pub(super) dim: usize,
    aggregator: NeighbourAggregator,
    /// The weights of the aggregator are the first so many.
    aggregator_len: usize,
    lstm: AttentiveBiLstm,
    /// The normal that each relation starts from; one for all if they share it. With one of each, the last is for
    /// relations without a name.
    pub(super) normals: Block,
    pub(super) blocks: WeightBlocks,
}

/// A support, and the relation that it is of, if the graph has a name for it.
pub(super) type NamedSupport<'a> = (Option<RelationId>, &'a Contrasts);

/// The forward pass of a batch.
pub(super) struct Pass<'w, T: Real> {
    /// A tape and its encoded entities for each chunk of supports.
    encoded: Vec<(Tape<'w, T>, Var)>,
    tape: Tape<'w, T>,
    /// The encoded pairs, a leaf of the tape.
    pairs: Var,
    translations: Var,
    normal_rows: Vec<usize>,
    /// `[R; w]` of each support, one behind the other.
    pub(super) relations: Vec<T>,
}

impl Network {
    /// `relations` have a name.
    pub(super) fn new(config: &GanaConfig, relations: usize, dim: usize) -> Self {
        let mut blocks = WeightBlocks::default();
        let aggregator = NeighbourAggregator::new(&mut blocks, config, dim);
        let aggregator_len = blocks.len();
        let lstm = AttentiveBiLstm::new(&mut blocks, config, dim);
        let rows = match config.normals {
            Normals::Shared => 1,
            Normals::PerRelation => relations + 1,
        };
        let normals = blocks.matrix("normals", rows, dim, (dim, rows));
        Self { dim, aggregator, aggregator_len, lstm, normals, blocks }
    }

    fn normal_row(&self, relation: Option<RelationId>) -> usize {
        let last = self.normals.rows - 1;
        relation.map_or(last, |relation| relation.number().min(last))
    }

    /// The relations of some supports. Without `learns` there is no way back.
    pub(super) fn forward<'w, T: Real>(
        &self,
        weights: &'w [T],
        surroundings: Surroundings<'_, T>,
        supports: &[NamedSupport<'_>],
        dropout: Option<DropoutKey>,
        learns: bool,
    ) -> Pass<'w, T> {
        let tape = |weights: &'w [T], number: u32| {
            let tape = if learns { Tape::new(weights) } else { Tape::forward_only(weights) };
            tape.with_dropout(dropout.map(|key| DropoutKey { tape: number, ..key }))
        };
        let encode = |(chunk, supports): (usize, &[NamedSupport<'_>])| {
            let mut entities: Vec<(EntityId, Option<RelationId>)> = Vec::new();
            for &(asked, support) in supports {
                let ends = support.pairs().iter().flat_map(|pair| [pair.head, pair.tail]);
                entities.extend(ends.map(|entity| (entity, asked)));
            }
            let mut tape = tape(&weights[..self.aggregator_len], 1 + chunk as u32);
            let encoded = self.aggregator.encode(&mut tape, surroundings, &entities, self.dim);
            (tape, encoded)
        };
        let encoded: Vec<(Tape<'w, T>, Var)> = supports.par_chunks(CHUNK).enumerate().map(encode).collect();
        let mut pairs = Vec::new();
        encoded.iter().for_each(|(tape, encoded)| pairs.extend_from_slice(tape.values(*encoded)));
        let mut tape = tape(weights, 0);
        let pairs = tape.rows(pairs, 2 * self.dim);
        let translations = self.lstm.relations(&mut tape, pairs, supports.len());
        let normal_rows: Vec<usize> =
            supports.iter().map(|&(relation, _)| self.normal_row(relation)).collect();
        let normals = self.normals.of(weights);
        let mut relations = Vec::with_capacity(supports.len() * 2 * self.dim);
        for (translation, &row) in tape.values(translations).chunks_exact(self.dim).zip(&normal_rows) {
            relations.extend_from_slice(translation);
            relations.extend_from_slice(&normals[row * self.dim..(row + 1) * self.dim]);
        }
        Pass { encoded, tape, pairs, translations, normal_rows, relations }
    }

    /// The gradients of the weights, given those at the relations of a pass.
    pub(super) fn backward<T: Real>(&self, mut pass: Pass<'_, T>, at_relations: &[T]) -> Vec<T> {
        let dim = self.dim;
        let at_translations: Vec<T> =
            at_relations.chunks_exact(2 * dim).flat_map(|both| both[..dim].iter().copied()).collect();
        let back = gradients_at(&mut pass.tape, pass.translations, at_translations);
        let mut weights = back.weights.clone();
        if let Some(at_pairs) = back.of(pass.pairs) {
            let mut starts = vec![0];
            for (tape, encoded) in &pass.encoded {
                starts.push(starts[starts.len() - 1] + tape.values(*encoded).len());
            }
            let chunks = pass.encoded.par_iter_mut().zip(starts.par_windows(2));
            let found: Vec<Vec<T>> = chunks
                .map(|((tape, encoded), range)| {
                    gradients_at(tape, *encoded, at_pairs[range[0]..range[1]].to_vec()).weights
                })
                .collect();
            found.iter().for_each(|found| add_scaled(&mut weights, T::ONE, found));
        }
        let normals = self.normals.of_mut(&mut weights);
        for (both, &row) in at_relations.chunks_exact(2 * dim).zip(&pass.normal_rows) {
            add_scaled(&mut normals[row * dim..(row + 1) * dim], T::ONE, &both[dim..]);
        }
        weights
    }
}

/// The gradients that lead to these ones at a matrix: those of its product with them.
fn gradients_at<T: Real>(tape: &mut Tape<'_, T>, at: Var, gradient: Vec<T>) -> crate::tape::Gradients<T> {
    let columns = tape.shape(at).1;
    let gradient = tape.constant(gradient, columns);
    let product = tape.multiply(at, gradient);
    let sum = tape.sum(product);
    tape.backward(sum)
}
