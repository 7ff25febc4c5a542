//! [`AttentiveBiLstm`]: from the encoded pairs of a support to its relation, on a tape.
//!
//! A Bi-LSTM of some layers runs over the pairs. The final state of each layer attends to the outputs of the last one;
//! what all layers found becomes the relation by a linear map.

use super::config::{FinalState, GanaConfig, StateReading};
use crate::real::Real;
use crate::tape::{Heads, Lstm, LstmState, Segments, Tape, Var};
use crate::training::{Block, WeightBlocks};

/// The weights of the Bi-LSTM and of its attention.
#[derive(Clone, Debug)]
pub(super) struct AttentiveBiLstm {
    /// By layer, the forward and the backward cell.
    layers: Vec<[Lstm; 2]>,
    hidden: usize,
    output: Block,
    output_bias: Block,
    dropout: f32,
    final_state: FinalState,
    state_reading: StateReading,
}

impl AttentiveBiLstm {
    pub(super) fn new(blocks: &mut WeightBlocks, config: &GanaConfig, dim: usize) -> Self {
        let (hidden, count) = (config.lstm_hidden, config.lstm_layers);
        let layers = (0..count)
            .map(|layer| {
                let inputs = if layer == 0 { 2 * dim } else { 2 * hidden };
                ["forward", "backward"]
                    .map(|direction| Lstm::new(blocks, &format!("lstm{layer}.{direction}"), inputs, hidden))
            })
            .collect();
        let fan = (2 * hidden * count, dim);
        Self {
            layers,
            hidden,
            output: blocks.matrix("relation", dim, fan.0, fan),
            output_bias: blocks.bias("relation_bias", dim, fan),
            dropout: config.lstm_dropout,
            final_state: config.final_state,
            state_reading: config.state_reading,
        }
    }

    /// A relation for each task. `pairs` has the pairs of one task after those of another, as many of each.
    pub(super) fn relations<T: Real>(&self, tape: &mut Tape<'_, T>, pairs: Var, tasks: usize) -> Var {
        let shots = tape.shape(pairs).0 / tasks;
        assert_eq!(tape.shape(pairs).0, tasks * shots, "the supports of a batch have the same size");
        // First all first pairs, then all second ones: a step of the LSTM is a block of rows.
        let by_place = (0..shots).flat_map(|place| (0..tasks).map(move |task| (task * shots + place) as u32));
        let mut rows = tape.gather_rows(pairs, by_place.collect());
        let mut states = Vec::new();
        for (number, [forward, backward]) in self.layers.iter().enumerate() {
            if number > 0 {
                rows = tape.dropout(rows, self.dropout);
            }
            let forward = run(forward, tape, rows, shots, 0..shots);
            let mut backward = run(backward, tape, rows, shots, (0..shots).rev());
            for run in [&forward, &backward] {
                states.extend(run.last().map(|state| match self.final_state {
                    FinalState::Hidden => state.hidden,
                    FinalState::Cell => state.cell,
                }));
            }
            backward.reverse();
            let outputs: Vec<Var> = forward
                .iter()
                .zip(&backward)
                .map(|(forward, backward)| tape.concat_columns(&[forward.hidden, backward.hidden]))
                .collect();
            rows = tape.concat_rows(&outputs);
        }
        let by_task = (0..tasks).flat_map(|task| (0..shots).map(move |place| (place * tasks + task) as u32));
        let outputs = tape.gather_rows(rows, by_task.collect());
        let queries = self.queries(tape, &states);
        let heads =
            Heads { queries: Segments::equal(tasks, 1), keys: Segments::equal(tasks, shots), heads: 1 };
        let found: Vec<Var> = queries
            .into_iter()
            .map(|query| {
                let weights = tape.attention_weights(query, outputs, &heads, 1.0);
                tape.attend(weights, outputs, &heads)
            })
            .collect();
        let found = tape.concat_columns(&found);
        let (output, bias) = (tape.weight(&self.output), tape.weight(&self.output_bias));
        tape.linear(found, output, Some(bias))
    }

    /// One query per layer, a row for each task.
    fn queries<T: Real>(&self, tape: &mut Tape<'_, T>, states: &[Var]) -> Vec<Var> {
        match self.state_reading {
            StateReading::ByLayer => states.chunks_exact(2).map(|both| tape.concat_columns(both)).collect(),
            StateReading::Memory => {
                let all = tape.concat_rows(states);
                let all = tape.reshape(all, self.layers.len());
                (0..self.layers.len())
                    .map(|layer| {
                        let column = tape.slice_columns(all, layer..layer + 1);
                        tape.reshape(column, 2 * self.hidden)
                    })
                    .collect()
            }
        }
    }
}

/// The states of a cell after each place, in the order they are visited. `rows` has a block of rows per place.
fn run<T: Real>(
    cell: &Lstm,
    tape: &mut Tape<'_, T>,
    rows: Var,
    places: usize,
    order: impl Iterator<Item = usize>,
) -> Vec<LstmState> {
    let gates = cell.input(tape, rows);
    let block = tape.shape(gates).0 / places;
    let mut states: Vec<LstmState> = Vec::with_capacity(places);
    for place in order {
        let at_place = (place * block..(place + 1) * block).map(|row| row as u32).collect();
        let input = tape.gather_rows(gates, at_place);
        let state = match states.last() {
            None => cell.first_step(tape, input),
            Some(&before) => cell.step(tape, input, before),
        };
        states.push(state);
    }
    states
}
