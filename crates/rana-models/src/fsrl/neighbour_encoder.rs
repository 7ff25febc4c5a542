//! [`NeighbourEncoder`]: an entity by attention over its neighbours.
//!
//! ```text
//! u_k = w · tanh(W [ρ_k; c_k] + b),   α = softmax(u),   e' = tanh(Σ α_k c_k)
//! ```

use super::config::{FsrlConfig, Padding};
use crate::matching::Slots;
use crate::real::Real;
use crate::tape::{Segments, Tape, Var};
use crate::training::{Block, WeightBlocks};

/// An entity by attention over its neighbours.
#[derive(Clone, Debug)]
pub(super) struct NeighbourEncoder {
    /// The places there are for neighbours.
    places: usize,
    padding: Padding,
    dropout: f32,
    hidden: Block,
    hidden_bias: Block,
    /// w. It needs no bias, because the softmax would not see it.
    logit: Block,
}

impl NeighbourEncoder {
    pub(super) fn new(config: &FsrlConfig, blocks: &mut WeightBlocks, dim: usize) -> Self {
        let fan = (2 * dim, dim);
        Self {
            places: config.neighbours,
            padding: config.padding,
            dropout: config.neighbour_dropout,
            hidden: blocks.matrix("neighbour.hidden", dim, 2 * dim, fan),
            hidden_bias: blocks.bias("neighbour.hidden_bias", dim, fan),
            logit: blocks.matrix("neighbour.logit", 1, dim, (dim, 1)),
        }
    }

    /// A row for each entity; zeros for one without neighbours.
    pub(super) fn encode<T: Real>(&self, tape: &mut Tape<'_, T>, slots: &Slots) -> Var {
        let relations = tape.dropout(slots.relations, self.dropout);
        let entities = tape.dropout(slots.entities, self.dropout);
        let neighbours = tape.concat_columns(&[relations, entities]);
        let (weight, bias) = (tape.weight(&self.hidden), tape.weight(&self.hidden_bias));
        let hidden = tape.linear(neighbours, weight, Some(bias));
        let hidden = tape.tanh(hidden);
        let logit = tape.weight(&self.logit);
        let logits = tape.linear(hidden, logit, None);
        let weights = match self.padding {
            Padding::Masked => tape.segment_softmax(logits, &slots.segments),
            Padding::Attended => {
                let bias = tape.reshape(bias, self.hidden_bias.rows);
                let of_zeros = tape.tanh(bias);
                let of_zeros = tape.linear(of_zeros, logit, None);
                self.with_padding(tape, logits, of_zeros, &slots.segments)
            }
        };
        let weighted = tape.multiply_by_column(entities, weights);
        let sums = tape.segment_sum(weighted, &slots.segments);
        tape.tanh(sums)
    }

    /// The softmax over neighbours and empty places, without the weights of the latter. All empty places of an entity
    /// are one, with a logit that is larger by the logarithm of their number.
    fn with_padding<T: Real>(
        &self,
        tape: &mut Tape<'_, T>,
        logits: Var,
        of_zeros: Var,
        segments: &Segments,
    ) -> Var {
        // Empty places stand behind all neighbours, then behind those of their own entity.
        let (mut order, mut lengths, mut empty, mut kept) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for entity in 0..segments.count() {
            let range = segments.range(entity);
            let missing = self.places.saturating_sub(range.len());
            kept.extend((order.len()..order.len() + range.len()).map(|at| at as u32));
            lengths.push(range.len() + usize::from(missing > 0));
            order.extend(range.map(|slot| slot as u32));
            if missing > 0 {
                order.push((segments.rows() + empty.len()) as u32);
                empty.push(T::of((missing as f64).ln()));
            }
        }
        if empty.is_empty() {
            return tape.segment_softmax(logits, segments);
        }
        let times = tape.constant(empty, 1);
        let of_empty = tape.add_row(times, of_zeros);
        let all = tape.concat_rows(&[logits, of_empty]);
        let all = tape.gather_rows(all, order);
        let weights = tape.segment_softmax(all, &Segments::of_lengths(lengths));
        tape.gather_rows(weights, kept)
    }
}
