//! Layer norm (Ba, Kiros and Hinton, 2016).

use rayon::prelude::*;

use super::tape::{Tape, Var};
use crate::real::{Real, dot};

/// How the spread of a row is measured, by which it is divided.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Spread {
    /// `√(variance + ε)`, the variance over all numbers, as PyTorch's layer norm has it.
    Variance(f64),
    /// `deviation + ε`, the deviation over all numbers but one, as in the public code of GMatching.
    Deviation(f64),
}

impl Spread {
    /// The spread of a row whose squared differences from its mean have this sum, and its slope by that sum.
    fn of(self, squares: f64, columns: usize) -> (f64, f64) {
        match self {
            Self::Variance(epsilon) => {
                let spread = (squares / columns as f64 + epsilon).sqrt();
                (spread, 0.5 / (spread * columns as f64))
            }
            Self::Deviation(epsilon) => {
                let count = columns.max(2) as f64 - 1.0;
                let deviation = (squares / count).sqrt();
                // A row of equal numbers has no direction in which its deviation falls.
                let slope = if deviation > 0.0 { 0.5 / (deviation * count) } else { 0.0 };
                (deviation + epsilon, slope)
            }
        }
    }
}

/// Rows that are worked on at once. Their results do not depend on it.
const CHUNK: usize = 64;

impl<T: Real> Tape<'_, T> {
    /// Each row minus its mean, over its spread, times `scale`, plus `shift`, which have a number per column.
    pub(crate) fn layer_norm(&mut self, x: Var, scale: Var, shift: Var, spread: Spread) -> Var {
        let (rows, columns) = self.shape(x);
        assert_eq!(self.values(scale).len(), columns, "one scale per column is needed");
        let mut normalised = self.values(x).to_vec();
        // Per row, one over its spread, and what its gradient along itself is scaled by.
        let mut factors = vec![(T::ZERO, T::ZERO); rows];
        let all = normalised.par_chunks_mut(columns).zip(&mut factors).with_min_len(CHUNK);
        all.for_each(|(row, factors)| {
            let mean = row.iter().copied().sum::<T>() * T::of(1.0 / columns as f64);
            row.iter_mut().for_each(|value| *value -= mean);
            let (spread, slope) = spread.of(dot(row, row).wide(), columns);
            let over = T::of(1.0 / spread);
            row.iter_mut().for_each(|value| *value *= over);
            // d(1/spread) by a difference is −2 slope · difference / spread², and the difference is normalised · spread.
            *factors = (over, T::of(2.0 * slope * spread));
        });
        let mut values = normalised.clone();
        let (scales, shifts) = (self.values(scale), self.values(shift));
        for row in values.chunks_exact_mut(columns) {
            let affine = scales.iter().zip(shifts);
            row.iter_mut().zip(affine).for_each(|(value, (&scale, &shift))| *value = scale * *value + shift);
        }
        self.push((rows, columns), values, &[x, scale, shift], move |pass| {
            let (gradient, scales) = (pass.gradient, pass.values(scale));
            if let Some(at) = pass.at(x) {
                let rows = at.par_chunks_mut(columns).zip(gradient.par_chunks(columns));
                let rows = rows.zip(normalised.par_chunks(columns)).zip(&factors).with_min_len(CHUNK);
                rows.for_each(|(((at, gradient), normalised), &(over, along))| {
                    let scaled: Vec<T> =
                        gradient.iter().zip(scales).map(|(&gradient, &scale)| gradient * scale).collect();
                    let mean = scaled.iter().copied().sum::<T>() * T::of(1.0 / columns as f64);
                    let product = dot(&scaled, normalised) * along;
                    for (at, (&gradient, &value)) in at.iter_mut().zip(scaled.iter().zip(normalised)) {
                        *at += over * (gradient - mean - product * value);
                    }
                });
            }
            for (input, of_normalised) in [(scale, true), (shift, false)] {
                if let Some(at) = pass.at(input) {
                    let rows = gradient.chunks_exact(columns).zip(normalised.chunks_exact(columns));
                    for (gradient, normalised) in rows {
                        for (at, (&gradient, &value)) in at.iter_mut().zip(gradient.iter().zip(normalised)) {
                            *at += if of_normalised { gradient * value } else { gradient };
                        }
                    }
                }
            }
        })
    }
}
