//! [`PairEncoder`]: from two encoded ends to a pair.

use crate::real::Real;
use crate::tape::{Spread, Tape, Var};
use crate::training::{Block, WeightBlocks};

/// The epsilon of the norm in the public code.
const EPSILON: f64 = 1e-3;

/// Pairs as `[h; t]`, with or without a small network above.
#[derive(Clone, Debug)]
pub(crate) struct PairEncoder {
    dim: usize,
    layers: Option<Layers>,
}

/// `x ↦ norm(x + drop(W₂ ReLU(W₁ x + b₁) + b₂))`. W₁ stands in two parts, one for each end, so that an end is
/// multiplied once for all its pairs.
#[derive(Clone, Debug)]
struct Layers {
    of_head: Block,
    of_tail: Block,
    inner_bias: Block,
    outer: Block,
    outer_bias: Block,
    scale: Block,
    shift: Block,
    dropout: f32,
}

/// Encoded entities that can be ends of pairs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ends {
    encoded: Var,
    /// `W₁ x` as a head and as a tail.
    inner: Option<[Var; 2]>,
}

impl PairEncoder {
    /// Only `[h; t]`.
    pub(crate) fn plain(dim: usize) -> Self {
        Self { dim, layers: None }
    }

    /// With two layers and a norm.
    pub(crate) fn with_layers(blocks: &mut WeightBlocks, dim: usize, dropout: f32) -> Self {
        let (pair, inner) = (2 * dim, 4 * dim);
        let (to_inner, to_pair) = ((pair, inner), (inner, pair));
        let layers = Layers {
            of_head: blocks.matrix("pair.head", inner, dim, to_inner),
            of_tail: blocks.matrix("pair.tail", inner, dim, to_inner),
            inner_bias: blocks.bias("pair.inner_bias", inner, to_inner),
            outer: blocks.matrix("pair.outer", pair, inner, to_pair),
            outer_bias: blocks.bias("pair.outer_bias", pair, to_pair),
            scale: blocks.bias("pair.norm_scale", pair, to_pair),
            shift: blocks.bias("pair.norm_shift", pair, to_pair),
            dropout,
        };
        Self { dim, layers: Some(layers) }
    }

    /// Sets what does not start at random: the scale of the norm is one and its shift zero.
    pub(super) fn start(&self, weights: &mut [f32]) {
        if let Some(layers) = &self.layers {
            layers.scale.of_mut(weights).fill(1.0);
            layers.shift.of_mut(weights).fill(0.0);
        }
    }

    /// Numbers of an end.
    pub(super) fn dim(&self) -> usize {
        self.dim
    }

    /// What pairs need of their ends.
    pub(super) fn ends<T: Real>(&self, tape: &mut Tape<'_, T>, encoded: Var) -> Ends {
        let inner = self.layers.as_ref().map(|layers| {
            let (head, tail) = (tape.weight(&layers.of_head), tape.weight(&layers.of_tail));
            let bias = tape.weight(&layers.inner_bias);
            [tape.linear(encoded, head, Some(bias)), tape.linear(encoded, tail, None)]
        });
        Ends { encoded, inner }
    }

    /// The same ends as constants of another tape.
    pub(super) fn ends_of<'w, T: Real>(from: &'w Tape<'_, T>, ends: Ends, to: &mut Tape<'w, T>) -> Ends {
        let mut copied = |var: Var| to.constant(from.values(var), from.shape(var).1);
        Ends { encoded: copied(ends.encoded), inner: ends.inner.map(|inner| inner.map(&mut copied)) }
    }

    /// Pairs of ends, by the numbers of their heads and tails.
    pub(super) fn pairs<T: Real>(
        &self,
        tape: &mut Tape<'_, T>,
        ends: &Ends,
        heads: Vec<u32>,
        tails: Vec<u32>,
    ) -> Var {
        let (head, tail) =
            (tape.gather_rows(ends.encoded, heads.clone()), tape.gather_rows(ends.encoded, tails.clone()));
        let pair = tape.concat_columns(&[head, tail]);
        let (Some(layers), Some([of_head, of_tail])) = (&self.layers, ends.inner) else { return pair };
        let (head, tail) = (tape.gather_rows(of_head, heads), tape.gather_rows(of_tail, tails));
        let inner = tape.add(head, tail);
        let inner = tape.relu(inner);
        let (outer, bias) = (tape.weight(&layers.outer), tape.weight(&layers.outer_bias));
        let output = tape.linear(inner, outer, Some(bias));
        let output = tape.dropout(output, layers.dropout);
        let sum = tape.add(output, pair);
        let (scale, shift) = (tape.weight(&layers.scale), tape.weight(&layers.shift));
        tape.layer_norm(sum, scale, shift, Spread::Deviation(EPSILON))
    }
}
