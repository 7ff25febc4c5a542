//! [`NeighbourEncoder`]: entities by those neighbours that fit their pair (eqs. 1 to 5).
//!
//! ```text
//! r = t − h                                  (1)
//! ψ_k = rᵀ W ρ_k,   α = softmax_k(ψ)         (2, 3)
//! c = Σ_k α_k c_k                            (4)
//! e' = ReLU(W₁ e + W₂ c)                     (5)
//! ```
//! The bias of eq. 2 is the same for all neighbours and has no effect. An entity without neighbours has `c = 0`.

use super::config::{EntityOutput, FaanConfig};
use super::pair_batch::PairRows;
use crate::real::Real;
use crate::tape::{Heads, Segments, Spread, Tape, Var};
use crate::training::{Block, WeightBlocks};

/// Added to the variance by layer norms, as PyTorch does.
pub(super) const EPSILON: f64 = 1e-5;

/// Encodes the two ends of pairs.
#[derive(Clone, Debug)]
pub(super) struct NeighbourEncoder {
    pub(super) dim: usize,
    dropout: f32,
    /// `Wᵀ` of eq. 2.
    pub(super) attention: Block,
    /// `W₁` of eq. 5.
    pub(super) own: Block,
    /// `W₂` of eq. 5.
    pub(super) context: Block,
    /// The scale and the shift of the layer norm, if there is one.
    pub(super) norm: Option<(Block, Block)>,
}

impl NeighbourEncoder {
    /// Adds the weights for vectors of `dim` numbers.
    pub(super) fn new(blocks: &mut WeightBlocks, config: &FaanConfig, dim: usize) -> Self {
        let mut square = |name: &str| blocks.matrix(name, dim, dim, (dim, dim));
        let (attention, own, context) =
            (square("neighbour.attention"), square("neighbour.own"), square("neighbour.context"));
        let norm = match config.entity_output {
            EntityOutput::Plain => None,
            EntityOutput::ResidualNorm => Some((
                blocks.bias("neighbour.norm.scale", dim, (dim, dim)),
                blocks.bias("neighbour.norm.shift", dim, (dim, dim)),
            )),
        };
        Self { dim, dropout: config.input_dropout, attention, own, context, norm }
    }

    /// The norm starts as one that changes nothing.
    pub(super) fn start(&self, weights: &mut [f32]) {
        if let Some((scale, shift)) = &self.norm {
            scale.of_mut(weights).fill(1.0);
            shift.of_mut(weights).fill(0.0);
        }
    }

    /// Both ends of each pair: the head of the first pair, its tail, the head of the second, and so on.
    pub(super) fn encode<T: Real>(&self, tape: &mut Tape<'_, T>, pairs: &PairRows) -> Var {
        let ends: Vec<u32> =
            pairs.heads.iter().zip(&pairs.tails).flat_map(|(&head, &tail)| [head, tail]).collect();
        // Every product with a matrix that can be made once per entity is: Wᵀ r is Wᵀ t − Wᵀ h.
        let attention = tape.weight(&self.attention);
        let projected = tape.linear(pairs.entities, attention, None);
        let (of_heads, of_tails) = (
            tape.gather_rows(projected, pairs.heads.clone()),
            tape.gather_rows(projected, pairs.tails.clone()),
        );
        let weak = tape.subtract(of_tails, of_heads);
        let of_ends = (0..pairs.heads.len() as u32).flat_map(|pair| [pair, pair]).collect();
        let queries = tape.gather_rows(weak, of_ends);
        let relations =
            tape.gather_dropped_rows(pairs.relations, pairs.slots.relations.clone(), self.dropout);
        let neighbours =
            tape.gather_dropped_rows(pairs.neighbours, pairs.slots.neighbours.clone(), self.dropout);
        let heads =
            Heads { queries: Segments::equal(ends.len(), 1), keys: pairs.slots.segments.clone(), heads: 1 };
        let weights = tape.attention_weights(queries, relations, &heads, 1.0);
        let context = tape.attend(weights, neighbours, &heads);

        let (own, of_context) = (tape.weight(&self.own), tape.weight(&self.context));
        let own = tape.linear(pairs.entities, own, None);
        let own = tape.gather_rows(own, ends.clone());
        let context = tape.linear(context, of_context, None);
        let sum = tape.add(own, context);
        let entities = self.norm.is_some().then(|| tape.gather_rows(pairs.entities, ends));
        self.output(tape, sum, entities)
    }

    /// The end of eq. 5, from `W₁ e + W₂ c`. The entities' own rows are needed if there is a norm.
    pub(super) fn output<T: Real>(&self, tape: &mut Tape<'_, T>, sum: Var, entities: Option<Var>) -> Var {
        let encoded = tape.relu(sum);
        let (Some((scale, shift)), Some(entities)) = (&self.norm, entities) else { return encoded };
        let sum = tape.add(entities, encoded);
        let (scale, shift) = (tape.weight(scale), tape.weight(shift));
        tape.layer_norm(sum, scale, shift, Spread::Variance(EPSILON))
    }
}
