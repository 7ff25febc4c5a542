//! [`Loss`]: the loss functions of training.

use pulp::{Arch, Simd, WithSimd};
use serde::{Deserialize, Serialize};

use crate::config_error::{ConfigError, not_negative, positive};
use crate::elementary_functions::{exp, softplus_and_sigmoid};

/// The loss of one true fact with score `p` against negatives with scores `n`.
///
/// `γ` is added to all scores first, so a distance is compared with `γ`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Loss {
    /// The mean of `max(0, margin − p + n)` over the negatives (TransE).
    Margin {
        /// How much higher than a negative a true fact has to be.
        margin: f32,
    },
    /// `(softplus(−γ − p) + mean softplus(γ + n)) / 2`.
    Logistic {
        /// The shift of the scores.
        gamma: f32,
    },
    /// The logistic loss with each negative weighted by the softmax of `temperature · n`; the
    /// weights are constants to the gradient (RotatE).
    SelfAdversarial {
        /// The shift of the scores.
        gamma: f32,
        /// How much hard negatives are preferred.
        temperature: f32,
    },
    /// The cross-entropy of the true fact among itself and its negatives.
    Softmax,
}

impl Default for Loss {
    fn default() -> Self {
        Self::SelfAdversarial { gamma: 6.0, temperature: 1.0 }
    }
}

impl Loss {
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        match *self {
            Self::Margin { margin } => positive("loss.margin", margin),
            Self::Logistic { gamma } => not_negative("loss.gamma", gamma),
            Self::SelfAdversarial { gamma, temperature } => {
                not_negative("loss.gamma", gamma)?;
                positive("loss.temperature", temperature)
            }
            Self::Softmax => Ok(()),
        }
    }

    /// The distance at which this loss does not distinguish true from false. It sets the scale of the first rows.
    pub(crate) fn scale(&self) -> f32 {
        match *self {
            Self::Margin { margin } => margin,
            Self::Logistic { gamma } | Self::SelfAdversarial { gamma, .. } => gamma,
            Self::Softmax => 0.0,
        }
    }

    /// Writes the gradients at all scores and gives the sum of the losses.
    ///
    /// `negatives` holds `count` scores for each of `positives`; minus infinity marks a negative that is left out.
    pub(crate) fn gradients(
        self,
        count: usize,
        positives: &[f32],
        negatives: &[f32],
        positive_gradients: &mut [f32],
        negative_gradients: &mut [f32],
    ) -> f64 {
        assert_eq!(positives.len() * count, negatives.len());
        Arch::new().dispatch(Gradients {
            loss: self,
            count,
            positives,
            negatives,
            positive_gradients,
            negative_gradients,
        })
    }
}

impl Loss {
    /// Writes the gradients at the negatives `n` of one fact, and gives its loss and the gradient at its score `p`.
    /// `terms` is a buffer as long as `n`.
    #[inline(always)]
    pub(crate) fn of_fact(self, p: f32, n: &[f32], dn: &mut [f32], terms: &mut [f32]) -> (f32, f32) {
        match self {
            Self::Margin { margin } => margin_ranking(margin, p, n, dn, terms),
            Self::Logistic { gamma } => logistic(gamma, 0.0, p, n, dn, terms),
            Self::SelfAdversarial { gamma, temperature } => logistic(gamma, temperature, p, n, dn, terms),
            Self::Softmax => softmax(p, n, dn),
        }
    }
}

struct Gradients<'a> {
    loss: Loss,
    count: usize,
    positives: &'a [f32],
    negatives: &'a [f32],
    positive_gradients: &'a mut [f32],
    negative_gradients: &'a mut [f32],
}

impl WithSimd for Gradients<'_> {
    type Output = f64;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> f64 {
        let Self { count, .. } = self;
        let scores = self.positives.iter().zip(self.negatives.chunks_exact(count));
        let for_positives = self.positive_gradients.iter_mut();
        let gradients = for_positives.zip(self.negative_gradients.chunks_exact_mut(count));
        let mut terms = vec![0.0; count];
        let mut sum = 0.0;
        for ((&p, n), (dp, dn)) in scores.zip(gradients) {
            let (loss, gradient) = self.loss.of_fact(p, n, dn, &mut terms);
            *dp = gradient;
            sum += f64::from(loss);
        }
        sum
    }
}

// The functions below make several simple passes over the negatives, with the losses in `terms`. The compiler can
// vectorise such passes, but not one complex loop.

#[inline(always)]
fn margin_ranking(margin: f32, p: f32, n: &[f32], dn: &mut [f32], terms: &mut [f32]) -> (f32, f32) {
    // With one negative, as in the paper, the mean is the negative itself. The branch on the loss is hard to predict,
    // so its condition is computed early.
    if let ([n], [dn]) = (n, &mut *dn) {
        let short = margin - p + n;
        *dn = if short > 0.0 { 1.0 } else { 0.0 };
        return (short.max(0.0), -*dn);
    }
    let weight = 1.0 / counted(n, terms).max(1.0);
    for ((dn, term), &n) in dn.iter_mut().zip(terms.iter_mut()).zip(n) {
        let short = margin - p + n;
        *term = short.max(0.0);
        *dn = if short > 0.0 { weight } else { 0.0 };
    }
    (weight * sum(terms), -sum(dn))
}

/// With temperature zero all negatives have the same weight.
#[inline(always)]
fn logistic(
    gamma: f32,
    temperature: f32,
    p: f32,
    n: &[f32],
    dn: &mut [f32],
    terms: &mut [f32],
) -> (f32, f32) {
    // First the weights, then the gradients in the same buffer.
    let valid = counted(n, terms);
    if valid == 0.0 {
        dn.fill(0.0);
    } else if temperature == 0.0 {
        dn.fill(0.5 / valid);
    } else {
        let top = temperature * largest(n);
        for (dn, &n) in dn.iter_mut().zip(n) {
            *dn = exp(temperature * n - top);
        }
        let scale = 0.5 / sum(dn);
        for dn in dn.iter_mut() {
            *dn *= scale;
        }
    }
    for ((dn, term), &n) in dn.iter_mut().zip(terms.iter_mut()).zip(n) {
        let (softplus, sigmoid) = softplus_and_sigmoid(gamma + n);
        *term = *dn * softplus;
        *dn *= sigmoid;
    }
    let (softplus, sigmoid) = softplus_and_sigmoid(-gamma - p);
    (0.5 * softplus + sum(terms), -0.5 * sigmoid)
}

#[inline(always)]
fn softmax(p: f32, n: &[f32], dn: &mut [f32]) -> (f32, f32) {
    let top = largest(n).max(p);
    for (dn, &n) in dn.iter_mut().zip(n) {
        *dn = exp(n - top);
    }
    let own = exp(p - top);
    let others = sum(dn);
    let scale = 1.0 / (own + others);
    for dn in dn.iter_mut() {
        *dn *= scale;
    }
    ((own + others).ln() + top - p, -others * scale)
}

/// The number of negatives that are not left out.
#[inline(always)]
fn counted(n: &[f32], terms: &mut [f32]) -> f32 {
    for (term, &n) in terms.iter_mut().zip(n) {
        *term = if n == f32::NEG_INFINITY { 0.0 } else { 1.0 };
    }
    sum(terms)
}

/// A sum of eight parallel partial sums, as many as a vector register holds.
#[inline(always)]
fn sum(values: &[f32]) -> f32 {
    let (eights, rest) = values.as_chunks::<8>();
    let mut total = 0.0;
    // A short input needs no partial sums.
    if !eights.is_empty() {
        let mut strands = [0.0; 8];
        for eight in eights {
            for at in 0..8 {
                strands[at] += eight[at];
            }
        }
        for strand in strands {
            total += strand;
        }
    }
    for value in rest {
        total += value;
    }
    total
}

#[inline(always)]
fn largest(values: &[f32]) -> f32 {
    let mut strands = [f32::NEG_INFINITY; 8];
    let (eights, rest) = values.as_chunks::<8>();
    for eight in eights {
        for at in 0..8 {
            strands[at] = if eight[at] > strands[at] { eight[at] } else { strands[at] };
        }
    }
    let mut most = f32::NEG_INFINITY;
    for &value in strands.iter().chain(rest) {
        most = if value > most { value } else { most };
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOSSES: [Loss; 5] = [
        Loss::Margin { margin: 1.5 },
        Loss::Logistic { gamma: 2.0 },
        Loss::SelfAdversarial { gamma: 3.0, temperature: 0.7 },
        Loss::SelfAdversarial { gamma: 0.0, temperature: 1.0 },
        Loss::Softmax,
    ];

    /// The loss by its definition, with given weights of the negatives.
    fn reference(loss: Loss, weights: &[f64], p: f64, n: &[f64]) -> f64 {
        let softplus = |x: f64| x.exp().ln_1p();
        let weighted = |f: &dyn Fn(f64) -> f64| weights.iter().zip(n).map(|(w, &n)| w * f(n)).sum::<f64>();
        match loss {
            Loss::Margin { margin } => weighted(&|n| (f64::from(margin) - p + n).max(0.0)),
            Loss::Logistic { gamma } | Loss::SelfAdversarial { gamma, .. } => {
                let gamma = f64::from(gamma);
                0.5 * (softplus(-gamma - p) + weighted(&|n| softplus(gamma + n)))
            }
            Loss::Softmax => (p.exp() + n.iter().map(|n| n.exp()).sum::<f64>()).ln() - p,
        }
    }

    fn weights(loss: Loss, n: &[f64]) -> Vec<f64> {
        let temperature = match loss {
            Loss::SelfAdversarial { temperature, .. } => f64::from(temperature),
            _ => 0.0,
        };
        let exps: Vec<f64> = n.iter().map(|n| (temperature * n).exp()).collect();
        let sum: f64 = exps.iter().sum();
        exps.iter().map(|exp| exp / sum).collect()
    }

    #[test]
    fn gradients_agree_with_finite_differences_and_masked_negatives_do_not_count() {
        let p = -2.25f32;
        let scores: Vec<f32> = (0..21).map(|at| -3.0 + 0.31 * at as f32 * (1.0 - 0.09 * at as f32)).collect();
        for loss in LOSSES {
            let mut masked = scores.clone();
            masked.extend([f32::NEG_INFINITY; 4]);
            let (mut dp, mut dn) = ([0.0], vec![0.0; masked.len()]);
            let value = loss.gradients(masked.len(), &[p], &masked, &mut dp, &mut dn);
            let (p, n): (f64, Vec<f64>) = (p.into(), scores.iter().map(|&n| n.into()).collect());
            let weights = weights(loss, &n);
            let expected = reference(loss, &weights, p, &n);
            assert!((value - expected).abs() < 1e-5 * expected.abs(), "{loss:?}: {value} for {expected}");
            let step = 1e-6;
            let slope = |up: f64, down: f64| (up - down) / (2.0 * step);
            let expected =
                slope(reference(loss, &weights, p + step, &n), reference(loss, &weights, p - step, &n));
            assert!((f64::from(dp[0]) - expected).abs() < 1e-5, "{loss:?}");
            for at in 0..n.len() {
                let moved = |by: f64| {
                    let mut n = n.clone();
                    n[at] += by;
                    reference(loss, &weights, p, &n)
                };
                let expected = slope(moved(step), moved(-step));
                assert!((f64::from(dn[at]) - expected).abs() < 1e-5, "{loss:?} at {at}");
            }
            assert!(dn[n.len()..].iter().all(|dn| dn.abs() < 1e-30), "{loss:?}");
        }
    }

    #[test]
    fn no_negative_that_counts_is_no_nan() {
        for loss in LOSSES {
            let (mut dp, mut dn) = ([0.0], [0.0; 3]);
            let value = loss.gradients(3, &[0.5], &[f32::NEG_INFINITY; 3], &mut dp, &mut dn);
            assert!(value.is_finite() && dp[0].is_finite(), "{loss:?}");
            assert!(dn.iter().all(|dn| dn.abs() < 1e-30), "{loss:?}");
        }
    }
}
