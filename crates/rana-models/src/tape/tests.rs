//! Every operation against central finite differences in `f64`, a small network of many of them, the same bits with any
//! number of threads, and rows that do not depend on their batch.

use rand::RngExt;

use super::{DropoutKey, Heads, Lstm, Segments, Spread, Tape, Var};
use crate::real::Real;
use crate::seed::{Purpose, rng};
use crate::training::WeightBlocks;

/// What an operation is tested on: the shapes of its inputs, and how it is called.
struct Case {
    name: &'static str,
    shapes: &'static [(usize, usize)],
    run: fn(&mut Tape<'_, f64>, &[Var]) -> Var,
}

fn random(len: usize, stream: u64) -> Vec<f64> {
    let mut rng = rng(5, Purpose::Weights, [stream, 0]);
    (0..len).map(|_| rng.random_range(-1.5..1.5)).collect()
}

const KEY: DropoutKey = DropoutKey { seed: 1, step: 2, tape: 3 };

fn groups() -> Segments {
    Segments::of_lengths([2, 0, 3, 1])
}

fn heads() -> Heads {
    Heads { queries: Segments::of_lengths([2, 1, 0]), keys: Segments::of_lengths([3, 2, 1]), heads: 2 }
}

const CASES: &[Case] = &[
    Case { name: "linear", shapes: &[(3, 4), (2, 4), (2, 1)], run: |t, v| t.linear(v[0], v[1], Some(v[2])) },
    Case {
        name: "add_linear",
        shapes: &[(3, 2), (3, 4), (2, 4)],
        run: |t, v| t.add_linear(v[0], v[1], v[2]),
    },
    Case { name: "product", shapes: &[(3, 4), (4, 2)], run: |t, v| t.product(v[0], v[1]) },
    Case {
        name: "product_transposed",
        shapes: &[(3, 4), (5, 4)],
        run: |t, v| t.product_transposed(v[0], v[1]),
    },
    Case { name: "product with itself", shapes: &[(3, 4)], run: |t, v| t.product_transposed(v[0], v[0]) },
    Case { name: "add", shapes: &[(2, 3), (2, 3)], run: |t, v| t.add(v[0], v[1]) },
    Case { name: "subtract", shapes: &[(2, 3), (2, 3)], run: |t, v| t.subtract(v[0], v[1]) },
    Case { name: "add_scaled", shapes: &[(2, 3), (2, 3)], run: |t, v| t.add_scaled(v[0], 0.7, v[1]) },
    Case { name: "scale", shapes: &[(2, 3)], run: |t, v| t.scale(v[0], -1.7) },
    Case { name: "multiply", shapes: &[(2, 3), (2, 3)], run: |t, v| t.multiply(v[0], v[1]) },
    Case { name: "divide", shapes: &[(2, 3), (2, 3)], run: |t, v| t.divide(v[0], v[1]) },
    Case { name: "square", shapes: &[(2, 3)], run: |t, v| t.multiply(v[0], v[0]) },
    Case { name: "add_row", shapes: &[(3, 2), (1, 2)], run: |t, v| t.add_row(v[0], v[1]) },
    Case {
        name: "multiply_by_column",
        shapes: &[(3, 2), (3, 1)],
        run: |t, v| t.multiply_by_column(v[0], v[1]),
    },
    Case { name: "tanh", shapes: &[(2, 3)], run: |t, v| t.tanh(v[0]) },
    Case { name: "sigmoid", shapes: &[(2, 3)], run: |t, v| t.sigmoid(v[0]) },
    Case { name: "relu", shapes: &[(2, 3)], run: |t, v| t.relu(v[0]) },
    Case { name: "leaky_relu", shapes: &[(2, 3)], run: |t, v| t.leaky_relu(v[0], 0.01) },
    Case { name: "gelu", shapes: &[(2, 3)], run: |t, v| t.gelu(v[0]) },
    Case { name: "exp", shapes: &[(2, 3)], run: |t, v| t.exp(v[0]) },
    Case {
        name: "ln",
        shapes: &[(2, 3)],
        run: |t, v| {
            let positive = t.exp(v[0]);
            let sum = t.add(positive, positive);
            t.ln(sum)
        },
    },
    Case { name: "gather_rows", shapes: &[(3, 2)], run: |t, v| t.gather_rows(v[0], vec![2, 0, 2, 2]) },
    Case {
        name: "concat_columns",
        shapes: &[(2, 3), (2, 1), (2, 2)],
        run: |t, v| t.concat_columns(&[v[0], v[1], v[2], v[0]]),
    },
    Case { name: "concat_rows", shapes: &[(2, 3), (1, 3)], run: |t, v| t.concat_rows(&[v[1], v[0], v[1]]) },
    Case { name: "slice_columns", shapes: &[(2, 5)], run: |t, v| t.slice_columns(v[0], 1..3) },
    Case { name: "reshape", shapes: &[(2, 6)], run: |t, v| t.reshape(v[0], 3) },
    Case { name: "segment_sum", shapes: &[(6, 2)], run: |t, v| t.segment_sum(v[0], &groups()) },
    Case { name: "segment_mean", shapes: &[(6, 2)], run: |t, v| t.segment_mean(v[0], &groups()) },
    Case { name: "segment_max", shapes: &[(6, 2)], run: |t, v| t.segment_max(v[0], &groups()) },
    Case { name: "segment_softmax", shapes: &[(6, 2)], run: |t, v| t.segment_softmax(v[0], &groups()) },
    Case { name: "softmax", shapes: &[(3, 4)], run: |t, v| t.softmax(v[0]) },
    Case {
        name: "attention_weights",
        shapes: &[(3, 4), (6, 4)],
        run: |t, v| t.attention_weights(v[0], v[1], &heads(), 0.6),
    },
    Case {
        name: "attend",
        // Two heads: 2 · (2 · 3 + 1 · 2) weights.
        shapes: &[(16, 1), (6, 4)],
        run: |t, v| t.attend(v[0], v[1], &heads()),
    },
    Case {
        name: "layer norm by variance",
        shapes: &[(3, 4), (4, 1), (4, 1)],
        run: |t, v| t.layer_norm(v[0], v[1], v[2], Spread::Variance(1e-2)),
    },
    Case {
        name: "layer norm by deviation",
        shapes: &[(3, 4), (4, 1), (4, 1)],
        run: |t, v| t.layer_norm(v[0], v[1], v[2], Spread::Deviation(1e-2)),
    },
    Case { name: "dropout", shapes: &[(6, 5)], run: |t, v| t.dropout(v[0], 0.4) },
    Case { name: "row_dot", shapes: &[(3, 4), (3, 4)], run: |t, v| t.row_dot(v[0], v[1]) },
    Case { name: "row_square", shapes: &[(3, 4)], run: |t, v| t.row_square(v[0]) },
    Case { name: "row_length", shapes: &[(3, 4)], run: |t, v| t.row_length(v[0]) },
    Case { name: "margin_loss", shapes: &[(5, 1), (5, 1)], run: |t, v| t.margin_loss(v[0], v[1], 0.3) },
    Case { name: "sum", shapes: &[(2, 3)], run: |t, v| t.sum(v[0]) },
    Case { name: "mean", shapes: &[(2, 3)], run: |t, v| t.mean(v[0]) },
];

/// The result of an operation and the loss made of it: each number of the result counts differently.
fn loss(case: &Case, tape: &mut Tape<'_, f64>, inputs: &[Vec<f64>]) -> (Vec<Var>, Var) {
    let leaves: Vec<Var> =
        inputs.iter().zip(case.shapes).map(|(values, shape)| tape.rows(values.clone(), shape.1)).collect();
    let result = (case.run)(tape, &leaves);
    let (rows, columns) = tape.shape(result);
    let factors = tape.constant(random(rows * columns, 99), columns);
    let weighted = tape.multiply(result, factors);
    (leaves, tape.sum(weighted))
}

fn close(found: f64, expected: f64, what: &str) {
    assert!((found - expected).abs() < 1e-7 * (1.0 + expected.abs()), "{what}: {found}, expected {expected}");
}

#[test]
fn gradients_of_all_operations_are_those_of_finite_differences() {
    for case in CASES {
        let sizes = case.shapes.iter().map(|(rows, columns)| rows * columns);
        let mut inputs: Vec<Vec<f64>> = sizes.zip(1..).map(|(size, stream)| random(size, stream)).collect();
        let evaluate = |inputs: &[Vec<f64>]| {
            let mut tape = Tape::new(&[]).with_dropout(Some(KEY));
            let (_, loss) = loss(case, &mut tape, inputs);
            tape.scalar(loss)
        };
        let mut tape = Tape::new(&[]).with_dropout(Some(KEY));
        let (leaves, of) = loss(case, &mut tape, &inputs);
        let gradients = tape.backward(of);
        let mut is_flat = true;
        for (input, &leaf) in leaves.iter().enumerate() {
            let found = gradients.of(leaf).unwrap().to_vec();
            for (at, &found) in found.iter().enumerate() {
                let size = 1e-5;
                inputs[input][at] += size;
                let above = evaluate(&inputs);
                inputs[input][at] -= 2.0 * size;
                let below = evaluate(&inputs);
                inputs[input][at] += size;
                close(
                    found,
                    (above - below) / (2.0 * size),
                    &format!("{}, input {input}, at {at}", case.name),
                );
                is_flat &= found == 0.0;
            }
        }
        assert!(!is_flat, "{} has no slope here, so nothing was tested", case.name);
    }
}

/// A small network: an LSTM of two steps over gathered rows, a norm, attention and a margin loss.
struct Network {
    blocks: WeightBlocks,
    lstm: Lstm,
    scale: crate::training::Block,
    shift: crate::training::Block,
}

const DIM: usize = 4;

impl Network {
    fn new() -> Self {
        let mut blocks = WeightBlocks::default();
        let lstm = Lstm::new(&mut blocks, "lstm", DIM, DIM);
        let scale = blocks.bias("scale", DIM, (DIM, DIM));
        let shift = blocks.bias("shift", DIM, (DIM, DIM));
        Self { blocks, lstm, scale, shift }
    }

    /// The leaf of the rows, and a score for each group of two rows.
    fn scores<T: Real>(&self, tape: &mut Tape<'_, T>, rows: &[T]) -> (Var, Var) {
        let leaf = tape.rows(rows.to_vec(), DIM);
        let dropped = tape.dropout(leaf, 0.3);
        let input = self.lstm.input(tape, dropped);
        let first = self.lstm.first_step(tape, input);
        let second = self.lstm.step(tape, input, first);
        let (scale, shift) = (tape.weight(&self.scale), tape.weight(&self.shift));
        let normed = tape.layer_norm(second.hidden, scale, shift, Spread::Variance(1e-5));
        let heads = Heads::within(&Segments::equal(rows.len() / DIM / 2, 2), 2);
        let weights = tape.attention_weights(normed, normed, &heads, 0.5);
        let attended = tape.attend(weights, normed, &heads);
        let score = tape.row_dot(attended, leaf);
        (leaf, tape.segment_sum(score, &heads.queries))
    }

    fn loss<T: Real>(&self, tape: &mut Tape<'_, T>, rows: &[T]) -> (Var, Var) {
        let (leaf, scores) = self.scores(tape, rows);
        let (count, _) = tape.shape(scores);
        let (positive, negative) = (tape.reshape(scores, 2), tape.zeros(count / 2, 1));
        let positive = tape.slice_columns(positive, 1..2);
        let losses = tape.margin_loss(positive, negative, 20.0);
        (leaf, tape.mean(losses))
    }
}

#[test]
fn gradients_of_a_network_are_those_of_finite_differences() {
    let network = Network::new();
    let (mut weights, mut rows) = (random(network.blocks.len(), 1), random(8 * DIM, 2));
    let evaluate = |weights: &[f64], rows: &[f64]| {
        let mut tape = Tape::new(weights).with_dropout(Some(KEY));
        let (_, loss) = network.loss(&mut tape, rows);
        tape.scalar(loss)
    };
    let (of_weights, of_rows) = {
        let mut tape = Tape::new(&weights).with_dropout(Some(KEY));
        let (leaf, loss) = network.loss(&mut tape, &rows);
        let gradients = tape.backward(loss);
        (gradients.weights.clone(), gradients.of(leaf).unwrap().to_vec())
    };
    let size = 1e-5;
    for at in 0..weights.len() {
        weights[at] += size;
        let above = evaluate(&weights, &rows);
        weights[at] -= 2.0 * size;
        let below = evaluate(&weights, &rows);
        weights[at] += size;
        close(of_weights[at], (above - below) / (2.0 * size), &format!("weight {at}"));
    }
    for at in 0..rows.len() {
        rows[at] += size;
        let above = evaluate(&weights, &rows);
        rows[at] -= 2.0 * size;
        let below = evaluate(&weights, &rows);
        rows[at] += size;
        close(of_rows[at], (above - below) / (2.0 * size), &format!("row {at}"));
    }
}

fn narrow(values: Vec<f64>) -> Vec<f32> {
    values.into_iter().map(|value| value as f32).collect()
}

#[test]
fn the_same_inputs_give_the_same_bits_with_any_number_of_threads() {
    let network = Network::new();
    let (weights, rows) = (narrow(random(network.blocks.len(), 1)), narrow(random(20_000 * DIM, 2)));
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut tape = Tape::new(&weights).with_dropout(Some(KEY));
            let (leaf, loss) = network.loss(&mut tape, &rows);
            let gradients = tape.backward(loss);
            (tape.scalar(loss), gradients.weights.clone(), gradients.of(leaf).unwrap().to_vec())
        })
    };
    assert_eq!(with(1), with(3));
}

/// Also where a chunk of rows has few of them, or one.
#[test]
fn a_row_does_not_depend_on_its_batch() {
    let (wide, outputs) = (100, 700);
    let mut blocks = WeightBlocks::default();
    let weight = blocks.matrix("w", outputs, wide, (wide, outputs));
    let back = blocks.matrix("v", wide, outputs, (wide, outputs));
    let one = blocks.matrix("one", 1, wide, (wide, 1));
    let weights = narrow(random(blocks.len(), 1));
    let rows = narrow(random(300 * wide, 2));
    let scores = |rows: &[f32]| {
        let mut tape = Tape::forward_only(&weights);
        let x = tape.constant(rows.to_vec(), wide);
        let (w, v, one) = (tape.weight(&weight), tape.weight(&back), tape.weight(&one));
        let y = tape.linear(x, w, None);
        let y = tape.tanh(y);
        let y = tape.linear(y, v, None);
        let others = tape.constant(narrow(random(3 * wide, 7)), wide);
        let z = tape.product_transposed(y, others);
        let y = tape.linear(y, one, None);
        let both = tape.concat_columns(&[y, z]);
        tape.values(both).to_vec()
    };
    let all = scores(&rows);
    let columns = all.len() / 300;
    for count in [1, 2, 3, 7, 16, 31, 95, 96, 97, 192, 193, 299] {
        for start in [0, 1, 300 - count] {
            let found = scores(&rows[start * wide..(start + count) * wide]);
            assert_eq!(found, all[start * columns..(start + count) * columns], "{count} rows from {start}");
        }
    }
}

#[test]
fn a_tape_without_a_key_drops_nothing_and_one_that_only_looks_forward_keeps_no_way_back() {
    let weights = [1.0f64, 2.0];
    let mut blocks = WeightBlocks::default();
    let block = blocks.matrix("w", 1, 2, (2, 1));
    let mut tape = Tape::new(&weights);
    let x = tape.constant(vec![3.0, 4.0], 2);
    assert_eq!(tape.dropout(x, 0.5), x);
    let w = tape.weight(&block);
    let y = tape.linear(x, w, None);
    assert_eq!((tape.scalar(y), tape.backward(y).weights), (11.0, vec![3.0, 4.0]));
    let detached = tape.detached(y);
    assert_eq!(tape.backward(detached).weights, [0.0, 0.0]);
    let mut tape = Tape::forward_only(&weights);
    let (x, w) = (tape.rows(vec![3.0, 4.0], 2), tape.weight(&block));
    let y = tape.linear(x, w, None);
    assert_eq!((tape.scalar(y), tape.backward(y).weights), (11.0, vec![0.0, 0.0]));
}

/// About the share that was asked for is dropped, the mean stays, and another key drops others.
#[test]
fn dropout_keeps_the_mean() {
    let dropped = |key: DropoutKey| {
        let mut tape = Tape::<f64>::new(&[]).with_dropout(Some(key));
        let ones = tape.constant(vec![1.0; 40_000], 100);
        let once = tape.dropout(ones, 0.25);
        let twice = tape.dropout(ones, 0.25);
        assert_ne!(tape.values(once), tape.values(twice));
        tape.values(once).to_vec()
    };
    let values = dropped(KEY);
    let zeros = values.iter().filter(|&&value| value == 0.0).count() as f64 / values.len() as f64;
    assert!((zeros - 0.25).abs() < 0.01, "{zeros}");
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    assert!((mean - 1.0).abs() < 0.02, "{mean}");
    assert_ne!(values, dropped(DropoutKey { tape: 4, ..KEY }));
}
