//! [`ContextLearner`]: the contrastive loss of contexts, on a tape.
//!
//! The context of a pair is made of the neighbours of both entities, rows `[ρ; c]`. Self-attention runs over them. The
//! context vector is the attention-weighted sum of these rows, averaged over all queries. The loss (InfoNCE) makes the
//! pair's vector more similar to its true context than to corrupted contexts, whose relations are random.
//!
//! Contexts read the vectors that training started from. The public code gives contexts their own trainable copy of these
//! vectors, which only this loss updates and only contexts read.

use rana_graph::{EntityId, Pair, RelationId};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::config::HireConfig;
use super::transformer::{LayerNorm, Linear, SelfAttention, drop_groups};
use crate::real::Real;
use crate::relation_meta::Surroundings;
use crate::tape::{Segments, Tape, Var};
use crate::training::WeightBlocks;

/// Added to the product of norms, so that the cosine never divides by zero.
const EPSILON: f64 = 1e-12;

/// The weights of the context learner.
#[derive(Clone, Debug)]
pub(super) struct ContextLearner {
    norms: [LayerNorm; 2],
    attention: SelfAttention,
    output: Linear,
    drop_path: f32,
    temperature: f32,
    corrupted: usize,
}

/// A support pair, and the relation that is asked for, if the graph has a name for it.
pub(super) type AskedPair = (Pair, Option<RelationId>);

/// The neighbours of pairs, those of a pair next to each other.
struct Contexts {
    /// The relation and the entity of each.
    edges: Vec<(usize, EntityId)>,
    /// How many each pair has.
    lengths: Vec<usize>,
}

impl Contexts {
    /// Those of pairs, their relations random if there is a generator.
    fn new<T: Real>(
        surroundings: Surroundings<'_, T>,
        pairs: &[AskedPair],
        dim: usize,
        mut corrupted: Option<&mut ChaCha8Rng>,
    ) -> Self {
        let count = surroundings.relations.len() / dim;
        let mut contexts = Self { edges: Vec::new(), lengths: Vec::with_capacity(pairs.len()) };
        for &(pair, asked) in pairs {
            let before = contexts.edges.len();
            for entity in [pair.head, pair.tail] {
                for edge in surroundings.neighbours.of(entity, asked) {
                    let relation = match &mut corrupted {
                        None => edge.relation.index(),
                        Some(rng) => rng.random_range(0..count),
                    };
                    contexts.edges.push((relation, edge.entity));
                }
            }
            contexts.lengths.push(contexts.edges.len() - before);
        }
        contexts
    }

    /// A row `[ρ; c]` for each.
    fn rows<T: Real>(&self, surroundings: Surroundings<'_, T>, dim: usize) -> Vec<T> {
        let mut rows = Vec::with_capacity(self.edges.len() * 2 * dim);
        for &(relation, entity) in &self.edges {
            rows.extend_from_slice(&surroundings.relations[relation * dim..(relation + 1) * dim]);
            rows.extend_from_slice(surroundings.rows.row(entity));
        }
        rows
    }
}

impl ContextLearner {
    pub(super) fn new(blocks: &mut WeightBlocks, config: &HireConfig, dim: usize) -> Self {
        let width = 2 * dim;
        let dropouts = [config.attention_dropout, config.dropout];
        Self {
            norms: ["context.norm1", "context.norm2"].map(|name| LayerNorm::new(blocks, name, width)),
            attention: SelfAttention::new(blocks, "context.attention", width, dropouts),
            output: Linear::new(blocks, "context.output", width, dim),
            drop_path: config.drop_path,
            temperature: config.temperature,
            corrupted: config.corrupted_contexts,
        }
    }

    pub(super) fn start(&self, weights: &mut [f32]) {
        self.norms.iter().for_each(|norm| norm.start(weights));
    }

    /// The relations of the corrupted contexts of pairs, as [`loss`](Self::loss) draws them: one list after another.
    pub(super) fn corrupted_relations<T: Real>(
        &self,
        surroundings: Surroundings<'_, T>,
        pairs: &[AskedPair],
        dim: usize,
        rng: &mut ChaCha8Rng,
    ) -> Vec<u32> {
        let all = (0..self.corrupted).map(|_| Contexts::new(surroundings, pairs, dim, Some(rng)).edges);
        all.flatten().map(|(relation, _)| relation as u32).collect()
    }

    /// A vector for each context.
    fn encode<T: Real>(
        &self,
        tape: &mut Tape<'_, T>,
        surroundings: Surroundings<'_, T>,
        contexts: &Contexts,
        dim: usize,
    ) -> Var {
        let groups = Segments::of_lengths(contexts.lengths.iter().copied());
        let rows = tape.constant(contexts.rows(surroundings, dim), 2 * dim);
        let normed = self.norms[0].of(tape, rows);
        let attended = self.attention.of(tape, normed, &groups);
        let rows = drop_groups(tape, attended.rows, &groups, self.drop_path);
        // Weighting by the mean attention equals averaging the attention-weighted sums.
        let sums = tape.attend(attended.weights, rows, &attended.heads);
        let sum = tape.segment_mean(sums, &groups);
        let normed = self.norms[1].of(tape, sum);
        let output = self.output.of(tape, normed);
        let each = Segments::equal(groups.count(), 1);
        drop_groups(tape, output, &each, self.drop_path)
    }

    /// The sum of the contrastive losses of pairs, given what the learner found for each.
    pub(super) fn loss<T: Real>(
        &self,
        tape: &mut Tape<'_, T>,
        surroundings: Surroundings<'_, T>,
        pairs: &[AskedPair],
        found: Var,
        rng: &mut ChaCha8Rng,
    ) -> Var {
        let dim = tape.shape(found).1;
        let mut similarities = Vec::with_capacity(1 + self.corrupted);
        for number in 0..=self.corrupted {
            let corrupted = (number > 0).then_some(&mut *rng);
            let contexts = Contexts::new(surroundings, pairs, dim, corrupted);
            let contexts = self.encode(tape, surroundings, &contexts, dim);
            let products = tape.row_dot(found, contexts);
            let (one, other) = (tape.row_length(found), tape.row_length(contexts));
            let lengths = tape.multiply(one, other);
            let least = tape.constant(vec![T::of(EPSILON); pairs.len()], 1);
            let lengths = tape.add(lengths, least);
            let cosine = tape.divide(products, lengths);
            similarities.push(tape.scale(cosine, T::of(1.0 / f64::from(self.temperature))));
        }
        let similarities = tape.concat_columns(&similarities);
        let shares = tape.softmax(similarities);
        let of_true = tape.slice_columns(shares, 0..1);
        let logarithm = tape.ln(of_true);
        let sum = tape.sum(logarithm);
        tape.scale(sum, -T::ONE)
    }
}
