//! [`SupportAggregator`]: a support by a recurrent autoencoder and attention over its pairs.
//!
//! ```text
//! m₁ … m_K = LSTM(x₁ … x_K),   d₁ … d_K = LSTM from m_K on,   reconstruction = mean of (x_k − d_k)²
//! y_k = x_k + m_k,   β = softmax(w · tanh(W y_k + b)),   reference = Σ β_k y_k
//! ```
//! The first input of the decoder is `m_K`, each other one its own last output.

use std::collections::BTreeMap;

use super::config::FsrlConfig;
use crate::real::Real;
use crate::tape::{Lstm, LstmState, Segments, Tape, Var};
use crate::training::{Block, WeightBlocks};

/// A support by a recurrent autoencoder and attention over its pairs.
#[derive(Clone, Debug)]
pub(super) struct SupportAggregator {
    reconstruction: f32,
    detach_decoder: bool,
    encoder: Lstm,
    decoder: Lstm,
    hidden: Block,
    hidden_bias: Block,
    logit: Block,
}

/// What the autoencoder finds for the pairs of some supports.
struct Found {
    /// `y`, one row per pair.
    rows: Var,
    /// The sum of squared differences, 1 × 1.
    squares: Var,
}

impl SupportAggregator {
    pub(super) fn new(config: &FsrlConfig, blocks: &mut WeightBlocks, dim: usize) -> Self {
        let (width, fan) = (2 * dim, (2 * dim, dim));
        Self {
            reconstruction: config.reconstruction,
            detach_decoder: config.detach_decoder,
            encoder: Lstm::new(blocks, "support.encoder", width, width),
            decoder: Lstm::new(blocks, "support.decoder", width, width),
            hidden: blocks.matrix("support.hidden", dim, width, fan),
            hidden_bias: blocks.bias("support.hidden_bias", dim, fan),
            logit: blocks.matrix("support.logit", 1, dim, (dim, 1)),
        }
    }

    /// A reference for each support, and the loss of the autoencoder.
    pub(super) fn aggregate<T: Real>(
        &self,
        tape: &mut Tape<'_, T>,
        pairs: Var,
        shots: &Segments,
    ) -> (Var, Var) {
        // Supports of one size are read side by side.
        let mut by_size: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for support in 0..shots.count() {
            by_size.entry(shots.range(support).len()).or_default().push(shots.range(support).start);
        }
        let (mut parts, mut squares) = (Vec::new(), tape.zeros(1, 1));
        // Where the row of each pair stands among those of all parts.
        let mut places = vec![0; shots.rows()];
        let mut done = 0;
        for (size, starts) in by_size {
            let found = self.autoencode(tape, pairs, size, &starts);
            for shot in 0..size {
                for start in &starts {
                    places[start + shot] = done;
                    done += 1;
                }
            }
            parts.push(found.rows);
            squares = tape.add(squares, found.squares);
        }
        let rows = tape.concat_rows(&parts);
        let rows = tape.gather_rows(rows, places);
        let (weight, bias) = (tape.weight(&self.hidden), tape.weight(&self.hidden_bias));
        let hidden = tape.linear(rows, weight, Some(bias));
        let hidden = tape.tanh(hidden);
        let weight = tape.weight(&self.logit);
        let logits = tape.linear(hidden, weight, None);
        let weights = tape.segment_softmax(logits, shots);
        let weighted = tape.multiply_by_column(rows, weights);
        let references = tape.segment_sum(weighted, shots);
        let count = tape.values(pairs).len().max(1) as f64;
        let loss = tape.scale(squares, T::of(f64::from(self.reconstruction) / count));
        (references, loss)
    }

    /// Runs the autoencoder over supports of one size: all first pairs, then all second ones, and so on.
    fn autoencode<T: Real>(
        &self,
        tape: &mut Tape<'_, T>,
        pairs: Var,
        size: usize,
        starts: &[usize],
    ) -> Found {
        let inputs: Vec<Var> = (0..size)
            .map(|shot| tape.gather_rows(pairs, starts.iter().map(|start| (start + shot) as u32).collect()))
            .collect();
        let mut state: Option<LstmState> = None;
        let mut rows = Vec::with_capacity(size);
        for &input in &inputs {
            let gates = self.encoder.input(tape, input);
            let next = match state {
                None => self.encoder.first_step(tape, gates),
                Some(state) => self.encoder.step(tape, gates, state),
            };
            rows.push(tape.add(input, next.hidden));
            state = Some(next);
        }
        let mut squares = tape.zeros(1, 1);
        if let Some(mut state) = state {
            for &input in &inputs {
                let gates = self.decoder.input(tape, state.hidden);
                state = self.decoder.step(tape, gates, state);
                let decoded = if self.detach_decoder { tape.detached(state.hidden) } else { state.hidden };
                let difference = tape.subtract(input, decoded);
                let square = tape.row_square(difference);
                let sum = tape.sum(square);
                squares = tape.add(squares, sum);
            }
        }
        Found { rows: tape.concat_rows(&rows), squares }
    }
}
