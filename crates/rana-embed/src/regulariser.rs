//! [`Regulariser`]: the penalty on the rows of true facts.

use pulp::{Arch, Simd, WithSimd};
use serde::{Deserialize, Serialize};

use crate::config_error::{ConfigError, not_negative};
use crate::model::Layout;

/// A penalty on the rows of true facts, added to the loss of each fact.
///
/// The angles of RotatE's relations are not penalised.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Regulariser {
    /// No penalty.
    #[default]
    None,
    /// `weight · Σ x²`.
    L2 {
        /// The weight.
        weight: f32,
    },
    /// `weight · Σ |x|³`, over the moduli of complex coordinates if the rows are complex (Lacroix et al., 2018).
    N3 {
        /// The weight.
        weight: f32,
    },
}

impl Regulariser {
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        match *self {
            Self::None => Ok(()),
            Self::L2 { weight } | Self::N3 { weight } => not_negative("regulariser.weight", weight),
        }
    }

    /// Adds the gradients at many contiguous rows.
    pub(crate) fn add_gradients(self, width: usize, layout: Layout, rows: &[f32], gradients: &mut [f32]) {
        if self == Self::None {
            return;
        }
        Arch::new().dispatch(Penalties { regulariser: self, width, layout, rows, gradients });
    }

    /// Adds the gradient at one row. Call it only from vectorised code.
    #[inline(always)]
    pub(crate) fn add_gradient(self, layout: Layout, row: &[f32], gradient: &mut [f32]) {
        match (self, layout) {
            (Self::None, _) => {}
            (Self::L2 { weight }, _) => {
                for (gradient, value) in gradient.iter_mut().zip(row) {
                    *gradient += 2.0 * weight * value;
                }
            }
            (Self::N3 { weight }, Layout::Real) => {
                for (gradient, value) in gradient.iter_mut().zip(row) {
                    *gradient += 3.0 * weight * value.abs() * value;
                }
            }
            (Self::N3 { weight }, Layout::Complex) => {
                let half = row.len() / 2;
                let ((re, im), (d_re, d_im)) = (row.split_at(half), gradient.split_at_mut(half));
                for ((re, im), (d_re, d_im)) in re.iter().zip(im).zip(d_re.iter_mut().zip(d_im)) {
                    let scale = 3.0 * weight * (re * re + im * im).sqrt();
                    *d_re += scale * re;
                    *d_im += scale * im;
                }
            }
        }
    }
}

struct Penalties<'a> {
    regulariser: Regulariser,
    width: usize,
    layout: Layout,
    rows: &'a [f32],
    gradients: &'a mut [f32],
}

impl WithSimd for Penalties<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let gradients = self.gradients.chunks_exact_mut(self.width);
        for (row, gradient) in self.rows.chunks_exact(self.width).zip(gradients) {
            self.regulariser.add_gradient(self.layout, row, gradient);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regularisers_have_the_slope_of_their_definition() {
        let row = [0.5f64, -1.5, 2.0, 0.75];
        let modulus = |re: f64, im: f64| re.hypot(im).powi(3);
        type Value = fn(&[f64], &dyn Fn(f64, f64) -> f64) -> f64;
        let cases: [(Regulariser, Layout, Value); 3] = [
            (Regulariser::L2 { weight: 0.3 }, Layout::Real, |x, _| x.iter().map(|x| 0.3 * x * x).sum()),
            (Regulariser::N3 { weight: 0.3 }, Layout::Real, |x, _| {
                x.iter().map(|x| 0.3 * x.abs().powi(3)).sum()
            }),
            (Regulariser::N3 { weight: 0.3 }, Layout::Complex, |x, modulus| {
                0.3 * (modulus(x[0], x[2]) + modulus(x[1], x[3]))
            }),
        ];
        for (regulariser, layout, value) in cases {
            let mut gradient = [1.0; 4];
            regulariser.add_gradients(4, layout, &row.map(|x| x as f32), &mut gradient);
            for at in 0..4 {
                let moved = |by: f64| {
                    let mut row = row;
                    row[at] += by;
                    value(&row, &modulus)
                };
                let expected = 1.0 + (moved(1e-6) - moved(-1e-6)) / 2e-6;
                assert!((f64::from(gradient[at]) - expected).abs() < 1e-5, "{regulariser:?} at {at}");
            }
        }
    }
}
