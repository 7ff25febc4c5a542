//! [`Lstm`]: the cell of an LSTM (Hochreiter and Schmidhuber, 1997), with gates in the order of PyTorch.

use rayon::prelude::*;

use super::elementwise::sigmoid;
use super::tape::{Tape, Var};
use crate::real::Real;
use crate::training::{Block, WeightBlocks};
use crate::vector_kernels::wide;

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
        let gates = tape.add_linear(input, state.hidden, weight);
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

/// Numbers per hidden unit that a row of gates turns into: the gates after their activations (input, forget, proposal,
/// output), the new cell and the tangent of that.
const ACTIVATED: usize = 6;

/// Which gate has a tangent for its activation.
const PROPOSAL: usize = 2;

/// The parts of a row of numbers per hidden unit.
#[inline(always)]
fn parts<const N: usize, T>(row: &[T]) -> [&[T]; N] {
    let size = row.len() / N;
    std::array::from_fn(|part| &row[part * size..(part + 1) * size])
}

/// Fills a row of [`ACTIVATED`] numbers per unit, from the sums of the gates and the old cells. Plain loops over slices,
/// which the compiler turns into vectors.
#[inline(always)]
fn activate<T: Real>(gates: &[T], cells: &[T], to: &mut [T]) {
    let size = cells.len();
    let (activated, rest) = to.split_at_mut(4 * size);
    for (at, (to, gates)) in activated.chunks_exact_mut(size).zip(gates.chunks_exact(size)).enumerate() {
        if at == PROPOSAL {
            to.iter_mut().zip(gates).for_each(|(to, &gate)| *to = gate.tanh());
        } else {
            to.iter_mut().zip(gates).for_each(|(to, &gate)| *to = sigmoid(gate));
        }
    }
    let [input, forget, proposal, _] = parts(activated);
    let (new, tanh) = rest.split_at_mut(size);
    let kept = forget.iter().zip(cells);
    let added = input.iter().zip(proposal);
    for ((new, (&forget, &cell)), (&input, &proposal)) in new.iter_mut().zip(kept).zip(added) {
        *new = forget * cell + input * proposal;
    }
    tanh.iter_mut().zip(new).for_each(|(tanh, new)| *tanh = new.tanh());
}

impl<T: Real> Tape<'_, T> {
    /// From the sums of the gates (input, forget, proposal, output; n × 4 hidden) and the old cell (n × hidden) to
    /// `[hidden; cell]` (n × 2 hidden). The way back computes the activations again.
    pub(crate) fn lstm_state(&mut self, gates: Var, cell: Var) -> Var {
        let (rows, size) = self.shape(cell);
        assert_eq!(self.shape(gates), (rows, 4 * size), "gates do not fit the cell");
        let mut states = vec![T::ZERO; rows * 2 * size];
        let gate_rows = self.values(gates).par_chunks(CHUNK * 4 * size);
        let inputs = gate_rows.zip(self.values(cell).par_chunks(CHUNK * size));
        states.par_chunks_mut(CHUNK * 2 * size).zip(inputs).for_each(|(states, (gates, cells))| {
            let mut activated = vec![T::ZERO; ACTIVATED * size];
            wide(|| {
                let inputs = gates.chunks_exact(4 * size).zip(cells.chunks_exact(size));
                for (state, (gates, cells)) in states.chunks_exact_mut(2 * size).zip(inputs) {
                    activate(gates, cells, &mut activated);
                    let [_, _, _, output, new, tanh] = parts(&activated);
                    let (hidden, cell) = state.split_at_mut(size);
                    cell.copy_from_slice(new);
                    let values = output.iter().zip(tanh);
                    hidden.iter_mut().zip(values).for_each(|(to, (&output, &tanh))| *to = output * tanh);
                }
            });
        });
        self.push((rows, 2 * size), states, &[gates, cell], move |pass| {
            let (gradient, gate_values, cell_values) = (pass.gradient, pass.values(gates), pass.values(cell));
            // Per row, the gradients of its four gates and of its old cell.
            let mut found = vec![T::ZERO; rows * 5 * size];
            let inputs = gate_values.par_chunks(4 * size).zip(cell_values.par_chunks(size));
            let all = found.par_chunks_mut(5 * size).zip(inputs).zip(gradient.par_chunks(2 * size));
            all.with_min_len(CHUNK).for_each(|((found, (gates, cells)), gradient)| {
                let mut activated = vec![T::ZERO; ACTIVATED * size];
                wide(|| activate(gates, cells, &mut activated));
                let [input, forget, proposal, output, _, tanh] = parts(&activated);
                let before_sigmoid = |gradient: T, value: T| gradient * value * (T::ONE - value);
                for at in 0..size {
                    let at_hidden = gradient[at];
                    let at_cell =
                        gradient[size + at] + at_hidden * output[at] * (T::ONE - tanh[at] * tanh[at]);
                    found[at] = before_sigmoid(at_cell * proposal[at], input[at]);
                    found[size + at] = before_sigmoid(at_cell * cells[at], forget[at]);
                    found[2 * size + at] = at_cell * input[at] * (T::ONE - proposal[at] * proposal[at]);
                    found[3 * size + at] = before_sigmoid(at_hidden * tanh[at], output[at]);
                    found[4 * size + at] = at_cell * forget[at];
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
