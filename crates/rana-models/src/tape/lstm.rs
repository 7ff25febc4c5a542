//! [`Lstm`]: the cell of an LSTM (Hochreiter and Schmidhuber, 1997), with gates in the order of PyTorch.

use rayon::prelude::*;

use super::elementwise::sigmoid;
use super::tape::{Tape, Var};
use crate::real::Real;
use crate::training::{Block, WeightBlocks};

/// The weights of an LSTM cell.
#[derive(Clone, Debug)]
pub(crate) struct Lstm {
    hidden: usize,
    of_input: Block,
    of_hidden: Block,
    /// PyTorch has one for the input and one for the hidden state; only their sum matters.
    bias: Block,
}

/// The state of an LSTM: n × hidden each.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LstmState {
    /// The output of the last step.
    pub(crate) hidden: Var,
    /// The memory.
    pub(crate) cell: Var,
}

/// Rows that are worked on at once. Their results do not depend on it.
const CHUNK: usize = 32;

impl Lstm {
    /// Adds the weights of a cell: its blocks begin with `name`.
    pub(crate) fn new(blocks: &mut WeightBlocks, name: &str, inputs: usize, hidden: usize) -> Self {
        // PyTorch starts all weights of a cell uniformly in ±1/√hidden.
        let fan = (hidden, hidden);
        Self {
            hidden,
            of_input: blocks.matrix(&format!("{name}.input"), 4 * hidden, inputs, fan),
            of_hidden: blocks.matrix(&format!("{name}.hidden"), 4 * hidden, hidden, fan),
            bias: blocks.bias(&format!("{name}.bias"), 4 * hidden, fan),
        }
    }

    /// What the input adds to the gates: n × 4 hidden. It serves all steps that see the same input.
    pub(crate) fn input<T: Real>(&self, tape: &mut Tape<'_, T>, input: Var) -> Var {
        let (weight, bias) = (tape.weight(&self.of_input), tape.weight(&self.bias));
        tape.linear(input, weight, Some(bias))
    }

    /// One step, given what the input adds to the gates.
    pub(crate) fn step<T: Real>(&self, tape: &mut Tape<'_, T>, input: Var, state: LstmState) -> LstmState {
        let weight = tape.weight(&self.of_hidden);
        let recurrent = tape.linear(state.hidden, weight, None);
        let gates = tape.add(input, recurrent);
        self.after_gates(tape, gates, state.cell)
    }

    /// The first step from a state of zeros, given what the input adds to the gates.
    pub(crate) fn first_step<T: Real>(&self, tape: &mut Tape<'_, T>, input: Var) -> LstmState {
        let cell = tape.zeros(tape.shape(input).0, self.hidden);
        self.after_gates(tape, input, cell)
    }

    fn after_gates<T: Real>(&self, tape: &mut Tape<'_, T>, gates: Var, cell: Var) -> LstmState {
        let both = tape.lstm_state(gates, cell);
        LstmState {
            hidden: tape.slice_columns(both, 0..self.hidden),
            cell: tape.slice_columns(both, self.hidden..2 * self.hidden),
        }
    }
}

/// A unit of the hidden state: its gates after their activations, its new cell and the tangent of that.
struct Unit<T> {
    input: T,
    forget: T,
    proposal: T,
    output: T,
    cell: T,
    tanh: T,
}

/// The units of a row, from the sums of its gates and its old cell.
#[inline(always)]
fn units<'r, T: Real>(gates: &'r [T], cells: &'r [T]) -> impl Iterator<Item = Unit<T>> + 'r {
    let size = cells.len();
    let [input, forget, proposal, output] = [0, 1, 2, 3].map(|gate| &gates[gate * size..(gate + 1) * size]);
    let sums = input.iter().zip(forget).zip(proposal.iter().zip(output));
    sums.zip(cells).map(|(((&input, &forget), (&proposal, &output)), &cell)| {
        let (input, forget, output) = (sigmoid(input), sigmoid(forget), sigmoid(output));
        let proposal = proposal.tanh();
        let cell = forget * cell + input * proposal;
        Unit { input, forget, proposal, output, cell, tanh: cell.tanh() }
    })
}

impl<T: Real> Tape<'_, T> {
    /// From the sums of the gates (input, forget, proposal, output; n × 4 hidden) and the old cell (n × hidden) to
    /// `[hidden; cell]` (n × 2 hidden). The way back computes the activations again.
    pub(crate) fn lstm_state(&mut self, gates: Var, cell: Var) -> Var {
        let (rows, size) = self.shape(cell);
        assert_eq!(self.shape(gates), (rows, 4 * size), "gates do not fit the cell");
        let mut states = vec![T::ZERO; rows * 2 * size];
        let inputs = self.values(gates).par_chunks(4 * size).zip(self.values(cell).par_chunks(size));
        let all = states.par_chunks_mut(2 * size).zip(inputs).with_min_len(CHUNK);
        all.for_each(|(state, (gates, cells))| {
            let (hidden, cell) = state.split_at_mut(size);
            for ((hidden, cell), unit) in hidden.iter_mut().zip(cell).zip(units(gates, cells)) {
                (*hidden, *cell) = (unit.output * unit.tanh, unit.cell);
            }
        });
        self.push((rows, 2 * size), states, &[gates, cell], move |pass| {
            let (gradient, gate_values, cell_values) = (pass.gradient, pass.values(gates), pass.values(cell));
            // Per row, the gradients of its four gates and of its old cell.
            let mut found = vec![T::ZERO; rows * 5 * size];
            let inputs = gate_values.par_chunks(4 * size).zip(cell_values.par_chunks(size));
            let all = found.par_chunks_mut(5 * size).zip(inputs).zip(gradient.par_chunks(2 * size));
            all.with_min_len(CHUNK).for_each(|((found, (gates, cells)), gradient)| {
                for (at, unit) in units(gates, cells).enumerate() {
                    let at_hidden = gradient[at];
                    let at_cell =
                        gradient[size + at] + at_hidden * unit.output * (T::ONE - unit.tanh * unit.tanh);
                    let before_sigmoid = |gradient: T, value: T| gradient * value * (T::ONE - value);
                    found[at] = before_sigmoid(at_cell * unit.proposal, unit.input);
                    found[size + at] = before_sigmoid(at_cell * cells[at], unit.forget);
                    found[2 * size + at] = at_cell * unit.input * (T::ONE - unit.proposal * unit.proposal);
                    found[3 * size + at] = before_sigmoid(at_hidden * unit.tanh, unit.output);
                    found[4 * size + at] = at_cell * unit.forget;
                }
            });
            for (input, range) in [(gates, 0..4 * size), (cell, 4 * size..5 * size)] {
                if let Some(at) = pass.at(input) {
                    for (at, found) in at.chunks_exact_mut(range.len()).zip(found.chunks_exact(5 * size)) {
                        at.iter_mut().zip(&found[range.clone()]).for_each(|(at, &found)| *at += found);
                    }
                }
            }
        })
    }
}
