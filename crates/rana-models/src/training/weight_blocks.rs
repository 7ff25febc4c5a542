//! [`WeightBlocks`]: the layout of a model's dense weights, named matrices and biases in one vector; and how they start.

use std::ops::Range;

use rand::{Rng, RngExt};

use crate::choices::choices;
use crate::seed::{Purpose, rng};

choices!(
    /// How weight matrices start (D7 of `docs/open-points.md`).
    Init, "initialisation", {
        /// Normal, with variance 2 / (inputs + outputs); biases are zero.
        #[default]
        XavierNormal => "xavier_normal",
        /// Uniform in ±1/√inputs, as PyTorch's linear layers do; biases too.
        Torch => "torch",
    }
);

/// One matrix or bias in the vector of all weights.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Its name in files.
    pub name: String,
    /// Outputs.
    pub rows: usize,
    /// Inputs; 1 for a bias.
    pub columns: usize,
    start: usize,
    /// The inputs and outputs of the whole map it is a part of.
    fan: (usize, usize),
    is_bias: bool,
}

impl Block {
    /// Its values.
    #[must_use]
    pub fn of<'w, T>(&self, weights: &'w [T]) -> &'w [T] {
        &weights[self.range()]
    }

    /// Its values, to change.
    #[must_use]
    pub fn of_mut<'w, T>(&self, weights: &'w mut [T]) -> &'w mut [T] {
        &mut weights[self.range()]
    }

    /// Starts it as a table of vectors, one per row (Glorot and Bengio, 2010).
    pub fn start_as_table(&self, weights: &mut [f32], rng: &mut impl Rng) {
        let bound = (6.0 / (self.rows + self.columns) as f64).sqrt() as f32;
        self.of_mut(weights).fill_with(|| rng.random_range(-bound..bound));
    }

    /// Starts a square matrix as a multiple of the identity.
    pub fn start_as_identity(&self, weights: &mut [f32], factor: f32) {
        for (at, value) in self.of_mut(weights).iter_mut().enumerate() {
            *value = if at / self.columns == at % self.columns { factor } else { 0.0 };
        }
    }

    /// Where it stands in the vector of all weights.
    #[must_use]
    pub fn range(&self) -> Range<usize> {
        self.start..self.start + self.rows * self.columns
    }
}

/// The blocks of a model, in the order they were added.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WeightBlocks {
    blocks: Vec<Block>,
    len: usize,
}

impl WeightBlocks {
    /// Adds a matrix. `fan` has the inputs and outputs of the whole map, where the matrix is a part of one.
    pub fn matrix(&mut self, name: &str, rows: usize, columns: usize, fan: (usize, usize)) -> Block {
        self.block(name, rows, columns, fan, false)
    }

    /// Adds a bias.
    pub fn bias(&mut self, name: &str, rows: usize, fan: (usize, usize)) -> Block {
        self.block(name, rows, 1, fan, true)
    }

    fn block(
        &mut self,
        name: &str,
        rows: usize,
        columns: usize,
        fan: (usize, usize),
        is_bias: bool,
    ) -> Block {
        let block = Block { name: name.to_owned(), rows, columns, start: self.len, fan, is_bias };
        self.len += rows * columns;
        self.blocks.push(block.clone());
        block
    }

    /// How many weights there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no weights.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Every block, in order.
    #[must_use]
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// The weights that training starts from.
    #[must_use]
    pub fn initial(&self, init: Init, seed: u64) -> Vec<f32> {
        let mut weights = vec![0.0; self.len];
        for (number, block) in self.blocks.iter().enumerate() {
            let mut rng = rng(seed, Purpose::Weights, [number as u64, 0]);
            let (inputs, outputs) = (block.fan.0 as f64, block.fan.1 as f64);
            let values = block.of_mut(&mut weights);
            match init {
                Init::XavierNormal if block.is_bias => {}
                Init::XavierNormal => {
                    let deviation = (2.0 / (inputs + outputs)).sqrt();
                    values.fill_with(|| (deviation * normal(&mut rng)) as f32);
                }
                Init::Torch => {
                    let bound = 1.0 / inputs.sqrt();
                    values.fill_with(|| rng.random_range(-bound..bound) as f32);
                }
            }
        }
        weights
    }
}

/// A number from the standard normal distribution, by the method of Box and Muller.
fn normal(rng: &mut impl rand::Rng) -> f64 {
    let radius = (-2.0 * (1.0 - rng.random::<f64>()).ln()).sqrt();
    radius * (std::f64::consts::TAU * rng.random::<f64>()).cos()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn initial_weights_have_the_stated_spread() {
        let mut blocks = WeightBlocks::default();
        let matrix = blocks.matrix("w", 50, 50, (50, 50));
        let bias = blocks.bias("b", 50, (50, 50));
        let weights = blocks.initial(Init::XavierNormal, 3);
        let values = matrix.of(&weights);
        let variance = values.iter().map(|&w| f64::from(w).powi(2)).sum::<f64>() / values.len() as f64;
        assert!((variance / (2.0 / 100.0) - 1.0).abs() < 0.1, "{variance}");
        assert!(bias.of(&weights).iter().all(|&b| b == 0.0));
        assert_eq!(weights, blocks.initial(Init::XavierNormal, 3));
        assert_ne!(weights, blocks.initial(Init::XavierNormal, 4));
        let bound = 1.0 / 50f32.sqrt();
        let uniform = blocks.initial(Init::Torch, 3);
        assert!(uniform.iter().all(|w| w.abs() <= bound) && bias.of(&uniform).iter().any(|&b| b != 0.0));
    }
}
