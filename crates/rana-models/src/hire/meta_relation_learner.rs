//! [`MetaRelationLearner`]: the transformer over the pairs of a support, on a tape.
//!
//! ```text
//! x_i = [h_i; t_i],   y = x + attention(norm(x)),   z = MLP(norm(y)),   R = mean_i z_i
//! ```

use super::config::{HireConfig, Residual};
use super::transformer::{LayerNorm, Linear, SelfAttention, drop_groups};
use crate::real::Real;
use crate::tape::{Segments, Tape, Var};
use crate::training::WeightBlocks;

/// The weights of the learner.
#[derive(Clone, Debug)]
pub(super) struct MetaRelationLearner {
    norms: [LayerNorm; 2],
    attention: SelfAttention,
    hidden: Linear,
    output: Linear,
    residual: Residual,
    dropout: f32,
    drop_path: f32,
}

/// What the learner finds.
#[derive(Clone, Copy)]
pub(super) struct Learned {
    /// A row for each pair.
    pub(super) pairs: Var,
    /// A row for each support.
    pub(super) relations: Var,
}

impl MetaRelationLearner {
    pub(super) fn new(blocks: &mut WeightBlocks, config: &HireConfig, dim: usize) -> Self {
        let width = 2 * dim;
        let hidden = config.hidden_ratio * width;
        let dropouts = [config.attention_dropout, config.dropout];
        Self {
            norms: ["learner.norm1", "learner.norm2"].map(|name| LayerNorm::new(blocks, name, width)),
            attention: SelfAttention::new(blocks, "learner.attention", width, dropouts),
            hidden: Linear::new(blocks, "learner.hidden", width, hidden),
            output: Linear::new(blocks, "learner.output", hidden, dim),
            residual: config.residual,
            dropout: config.dropout,
            drop_path: config.drop_path,
        }
    }

    pub(super) fn start(&self, weights: &mut [f32]) {
        self.norms.iter().for_each(|norm| norm.start(weights));
    }

    /// `pairs` has a row `[h; t]` for each pair, those of a support next to each other.
    pub(super) fn of<T: Real>(&self, tape: &mut Tape<'_, T>, pairs: Var, supports: &Segments) -> Learned {
        let normed = self.norms[0].of(tape, pairs);
        let attended = self.attention.of(tape, normed, supports).rows;
        let added = match self.residual {
            Residual::Input => pairs,
            Residual::Itself => drop_groups(tape, attended, supports, self.drop_path),
        };
        let sum = tape.add(attended, added);
        let normed = self.norms[1].of(tape, sum);
        let hidden = self.hidden.of(tape, normed);
        let hidden = tape.gelu(hidden);
        let hidden = tape.dropout(hidden, self.dropout);
        let pairs = self.output.of(tape, hidden);
        let pairs = tape.dropout(pairs, self.dropout);
        let pairs = drop_groups(tape, pairs, supports, self.drop_path);
        Learned { pairs, relations: tape.segment_mean(pairs, supports) }
    }
}
