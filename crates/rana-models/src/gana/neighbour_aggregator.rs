//! [`NeighbourAggregator`]: the gated and attentive neighbour aggregator, on a tape.
//!
//! ```text
//! o_k = LeakyReLU(W [ρ_k; c_k] + b),   α = softmax_k(a · o_k),   c = Σ α_k o_k
//! g   = σ(g_w · c + g_b),              e' = g c + (1 − g) e
//! ```
//! It reads the vectors that training started from, which do not learn.

use rana_graph::{EntityId, RelationId};

use super::config::{FreePlaces, GanaConfig};
use crate::real::Real;
use crate::relation_meta::Surroundings;
use crate::tape::{Segments, Tape, Var};
use crate::training::{Block, WeightBlocks};

/// The slope of the activation below zero.
const LEAK: f64 = 0.01;

/// The weights of the aggregator.
#[derive(Clone, Debug)]
pub(super) struct NeighbourAggregator {
    message: Block,
    message_bias: Block,
    attention: Block,
    gate: Block,
    gate_bias: Block,
    free_places: FreePlaces,
    dropout: f32,
}

impl NeighbourAggregator {
    pub(super) fn new(blocks: &mut WeightBlocks, config: &GanaConfig, dim: usize) -> Self {
        let (to_dim, to_one) = ((2 * dim, dim), (dim, 1));
        Self {
            message: blocks.matrix("neighbour.message", dim, 2 * dim, to_dim),
            message_bias: blocks.bias("neighbour.message_bias", dim, to_dim),
            attention: blocks.matrix("neighbour.attention", 1, dim, to_one),
            gate: blocks.matrix("neighbour.gate", 1, dim, to_one),
            gate_bias: blocks.bias("neighbour.gate_bias", 1, to_one),
            free_places: config.free_places,
            dropout: config.dropout,
        }
    }

    /// The encodings of entities, each as a relation that is asked for sees it.
    pub(super) fn encode<T: Real>(
        &self,
        tape: &mut Tape<'_, T>,
        surroundings: Surroundings<'_, T>,
        entities: &[(EntityId, Option<RelationId>)],
        dim: usize,
    ) -> Var {
        let Surroundings { neighbours, rows, relations } = surroundings;
        let (mut edges, mut own) = (Vec::new(), Vec::with_capacity(entities.len() * dim));
        // How many places each row stands for, as a logarithm.
        let (mut places, mut lengths) = (Vec::new(), Vec::with_capacity(entities.len()));
        for &(entity, asked) in entities {
            let before = places.len();
            for edge in neighbours.of(entity, asked) {
                let relation = edge.relation.index() * dim;
                edges.extend_from_slice(&relations[relation..relation + dim]);
                edges.extend_from_slice(rows.row(edge.entity));
                places.push(T::ZERO);
            }
            let taken = places.len() - before;
            let free = neighbours.limit() - taken;
            let is_lost = self.free_places == FreePlaces::Counted && taken == 0;
            if self.free_places == FreePlaces::Counted && free > 0 {
                edges.resize(edges.len() + 2 * dim, T::ZERO);
                places.push(T::of((free as f64).ln()));
            }
            lengths.push(places.len() - before);
            if is_lost {
                own.resize(own.len() + dim, T::ZERO);
            } else {
                own.extend_from_slice(rows.row(entity));
            }
        }
        let segments = Segments::of_lengths(lengths);
        let edges = tape.constant(edges, 2 * dim);
        let edges = tape.dropout(edges, self.dropout);
        let (message, bias) = (tape.weight(&self.message), tape.weight(&self.message_bias));
        let sums = tape.linear(edges, message, Some(bias));
        let messages = tape.leaky_relu(sums, LEAK);
        let attention = tape.weight(&self.attention);
        let logits = tape.linear(messages, attention, None);
        let places = tape.constant(places, 1);
        let logits = tape.add(logits, places);
        let weights = tape.segment_softmax(logits, &segments);
        let weighted = tape.multiply_by_column(messages, weights);
        let context = tape.segment_sum(weighted, &segments);
        let (gate, bias) = (tape.weight(&self.gate), tape.weight(&self.gate_bias));
        let gate = tape.linear(context, gate, Some(bias));
        let gate = tape.sigmoid(gate);
        // g c + (1 − g) e = e + g (c − e)
        let own = tape.constant(own, dim);
        let own = tape.dropout(own, self.dropout);
        let difference = tape.subtract(context, own);
        let gated = tape.multiply_by_column(difference, gate);
        tape.add(own, gated)
    }
}
