//! [`LayerNorm`] and [`SelfAttention`]: the parts of a transformer that learner and contexts have, on a tape.

use crate::real::Real;
use crate::tape::{Heads, Segments, Spread, Tape, Var};
use crate::training::{Block, WeightBlocks};

/// Added to the variance of a row, as in PyTorch.
const EPSILON: f64 = 1e-5;

/// The weights of a layer norm.
#[derive(Clone, Debug)]
pub(super) struct LayerNorm {
    scale: Block,
    shift: Block,
}

impl LayerNorm {
    pub(super) fn new(blocks: &mut WeightBlocks, name: &str, width: usize) -> Self {
        Self {
            scale: blocks.bias(&format!("{name}.scale"), width, (width, width)),
            shift: blocks.bias(&format!("{name}.shift"), width, (width, width)),
        }
    }

    /// At first it changes neither scale nor mean.
    pub(super) fn start(&self, weights: &mut [f32]) {
        self.scale.of_mut(weights).fill(1.0);
        self.shift.of_mut(weights).fill(0.0);
    }

    pub(super) fn of<T: Real>(&self, tape: &mut Tape<'_, T>, x: Var) -> Var {
        let (scale, shift) = (tape.weight(&self.scale), tape.weight(&self.shift));
        tape.layer_norm(x, scale, shift, Spread::Variance(EPSILON))
    }
}

/// The weights of a linear map.
#[derive(Clone, Debug)]
pub(super) struct Linear {
    weight: Block,
    bias: Block,
}

impl Linear {
    pub(super) fn new(blocks: &mut WeightBlocks, name: &str, inputs: usize, outputs: usize) -> Self {
        let fan = (inputs, outputs);
        Self {
            weight: blocks.matrix(name, outputs, inputs, fan),
            bias: blocks.bias(&format!("{name}_bias"), outputs, fan),
        }
    }

    pub(super) fn of<T: Real>(&self, tape: &mut Tape<'_, T>, x: Var) -> Var {
        let (weight, bias) = (tape.weight(&self.weight), tape.weight(&self.bias));
        tape.linear(x, weight, Some(bias))
    }
}

/// Self-attention with one head within groups of rows.
#[derive(Clone, Debug)]
pub(super) struct SelfAttention {
    width: usize,
    /// Queries, keys and values.
    inputs: Linear,
    output: Linear,
    attention_dropout: f32,
    dropout: f32,
}

/// The result of self-attention.
pub(super) struct Attended {
    /// A row for each row.
    pub(super) rows: Var,
    /// How much each row attends to each of its group.
    pub(super) weights: Var,
    pub(super) heads: Heads,
}

impl SelfAttention {
    pub(super) fn new(
        blocks: &mut WeightBlocks,
        name: &str,
        width: usize,
        [attention_dropout, dropout]: [f32; 2],
    ) -> Self {
        Self {
            width,
            inputs: Linear::new(blocks, &format!("{name}.inputs"), width, 3 * width),
            output: Linear::new(blocks, &format!("{name}.output"), width, width),
            attention_dropout,
            dropout,
        }
    }

    pub(super) fn of<T: Real>(&self, tape: &mut Tape<'_, T>, x: Var, groups: &Segments) -> Attended {
        let width = self.width;
        let inputs = self.inputs.of(tape, x);
        let [queries, keys, values] =
            [0, 1, 2].map(|part| tape.slice_columns(inputs, part * width..(part + 1) * width));
        let heads = Heads::within(groups, 1);
        let weights = tape.attention_weights(queries, keys, &heads, 1.0 / (width as f64).sqrt());
        let weights = tape.dropout(weights, self.attention_dropout);
        let sums = tape.attend(weights, values, &heads);
        let rows = self.output.of(tape, sums);
        Attended { rows: tape.dropout(rows, self.dropout), weights, heads }
    }
}

/// Drops all rows of about this share of the groups (drop path).
pub(super) fn drop_groups<T: Real>(tape: &mut Tape<'_, T>, x: Var, groups: &Segments, share: f32) -> Var {
    let ones = tape.constant(vec![T::ONE; groups.count()], 1);
    let kept = tape.dropout(ones, share);
    if kept == ones {
        return x;
    }
    let kept = tape.gather_rows(kept, groups.owners());
    tape.multiply_by_column(x, kept)
}
