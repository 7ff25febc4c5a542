//! [`Optimiser`]: turns the gradient of a row into an update.
//!
//! All optimisers are row-sparse: only rows with a gradient are updated, and each row has its own state.

use serde::{Deserialize, Serialize};

use crate::config_error::ConfigError;
use crate::elementary_functions::inverse_sqrt;

/// Turns the gradient of a row into an update.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Optimiser {
    /// Gradient descent.
    Sgd,
    /// Adagrad: the step of a coordinate shrinks with the sum of its squared gradients (Duchi et al., 2011).
    #[default]
    Adagrad,
    /// Adam: steps along a running mean of gradients, scaled by a running mean of squares (Kingma and Ba, 2015).
    ///
    /// The running means of a row change only when the row has a gradient, and the bias correction counts the updates
    /// of the row.
    Adam {
        /// The decay of the mean of the gradients.
        #[serde(default = "Optimiser::default_beta1")]
        beta1: f32,
        /// The decay of the mean of their squares.
        #[serde(default = "Optimiser::default_beta2")]
        beta2: f32,
    },
}

/// Keeps the first steps of Adagrad and Adam finite.
const EPSILON: f32 = 1e-10;

impl Optimiser {
    const fn default_beta1() -> f32 {
        0.9
    }

    const fn default_beta2() -> f32 {
        0.999
    }

    /// Adam with the published constants.
    #[must_use]
    pub const fn adam() -> Self {
        Self::Adam { beta1: Self::default_beta1(), beta2: Self::default_beta2() }
    }

    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        if let Self::Adam { beta1, beta2 } = *self {
            for (field, value) in [("optimiser.beta1", beta1), ("optimiser.beta2", beta2)] {
                if !(0.0..1.0).contains(&value) {
                    return Err(ConfigError::NoShare { field, value });
                }
            }
        }
        Ok(())
    }

    /// The number of state values of a row of `width` numbers.
    pub(crate) const fn state_width(&self, width: usize) -> usize {
        match self {
            Self::Sgd => 0,
            Self::Adagrad => width,
            // Two means, and the number of updates of the row.
            Self::Adam { .. } => 2 * width + 1,
        }
    }

    /// Updates one row and its state.
    #[inline(always)]
    fn step(self, rate: f32, row: &mut [f32], state: &mut [f32], gradient: &[f32]) {
        match self {
            Self::Sgd => {
                for (value, gradient) in row.iter_mut().zip(gradient) {
                    *value -= rate * gradient;
                }
            }
            Self::Adagrad => {
                for ((value, sum), &gradient) in row.iter_mut().zip(state).zip(gradient) {
                    *sum += gradient * gradient;
                    *value -= rate * gradient * inverse_sqrt(*sum + EPSILON);
                }
            }
            Self::Adam { beta1, beta2 } => {
                let (means, squares) = state.split_at_mut(row.len());
                let Some((steps, squares)) = squares.split_last_mut() else { return };
                *steps += 1.0;
                let steps = *steps as i32;
                let (rate, scale) = (rate / (1.0 - beta1.powi(steps)), 1.0 / (1.0 - beta2.powi(steps)));
                for (((value, mean), square), &gradient) in
                    row.iter_mut().zip(means).zip(squares).zip(gradient)
                {
                    *mean += (1.0 - beta1) * (gradient - *mean);
                    *square += (1.0 - beta2) * (gradient * gradient - *square);
                    *value -= rate * *mean / ((*square * scale).sqrt() + 1e-8);
                }
            }
        }
    }
}

/// How one table is updated: optimiser, learning rate, largest norm.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Update {
    pub(crate) optimiser: Optimiser,
    pub(crate) rate: f32,
    pub(crate) max_norm: Option<f32>,
}

impl Update {
    /// Updates one row and its state. Call it only from vectorised code.
    #[inline(always)]
    pub(crate) fn apply(&self, row: &mut [f32], state: &mut [f32], gradient: &[f32]) {
        self.optimiser.step(self.rate, row, state, gradient);
        self.bound(row);
    }

    /// Scales a row back to the largest norm, if it is longer. Call it only from vectorised code.
    #[inline(always)]
    pub(crate) fn bound(&self, row: &mut [f32]) {
        if let Some(most) = self.max_norm {
            shorten(row, most);
        }
    }
}

#[inline(always)]
fn shorten(row: &mut [f32], most: f32) {
    let mut strands = [0.0; 8];
    let (eights, rest) = row.as_chunks::<8>();
    for eight in eights {
        for at in 0..8 {
            strands[at] += eight[at] * eight[at];
        }
    }
    let mut square = 0.0;
    for strand in strands {
        square += strand;
    }
    for value in rest {
        square += value * value;
    }
    if square > most * most {
        let scale = most / square.sqrt();
        for value in row {
            *value *= scale;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_those_of_the_papers() {
        let gradients: [[f32; 3]; 2] = [[0.5, -1.0, 0.0], [0.25, 2.0, 1.0]];
        let run = |optimiser: Optimiser| {
            let (mut row, mut state) = (vec![1.0f32; 3], vec![0.0; optimiser.state_width(3)]);
            let update = Update { optimiser, rate: 0.1, max_norm: None };
            for gradient in &gradients {
                update.apply(&mut row, &mut state, gradient);
            }
            row
        };
        let expect = |row: Vec<f32>, expected: [f64; 3]| {
            for (value, expected) in row.iter().zip(expected) {
                assert!((f64::from(*value) - expected).abs() < 1e-6, "{row:?} for {expected:?}");
            }
        };
        expect(run(Optimiser::Sgd), [1.0 - 0.075, 1.0 - 0.1, 1.0 - 0.1]);
        expect(
            run(Optimiser::Adagrad),
            [1.0 - 0.1 - 0.025 / 0.3125f64.sqrt(), 1.0 + 0.1 - 0.2 / 5f64.sqrt(), 1.0 - 0.1],
        );
        let adam = |gradients: [f64; 2]| {
            let (mut value, mut mean, mut square) = (1.0, 0.0, 0.0);
            for (step, gradient) in (1..).zip(gradients) {
                mean = 0.9 * mean + 0.1 * gradient;
                square = 0.999 * square + 0.001 * gradient * gradient;
                let corrected = (square / (1.0 - 0.999f64.powi(step))).sqrt() + 1e-8;
                value -= 0.1 * (mean / (1.0 - 0.9f64.powi(step))) / corrected;
            }
            value
        };
        expect(run(Optimiser::adam()), [adam([0.5, 0.25]), adam([-1.0, 2.0]), adam([0.0, 1.0])]);
    }

    #[test]
    fn long_rows_are_shortened_and_short_ones_left() {
        let update = Update { optimiser: Optimiser::Sgd, rate: 1.0, max_norm: Some(1.0) };
        let mut row = vec![2.0; 11];
        update.apply(&mut row, &mut [], &[0.0; 11]);
        assert!((row.iter().map(|value| value * value).sum::<f32>() - 1.0).abs() < 1e-6);
        let mut row = vec![0.1; 11];
        update.apply(&mut row, &mut [], &[0.0; 11]);
        assert_eq!(row, [0.1; 11]);
    }
}
