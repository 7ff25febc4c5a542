//! [`Averages`]: the four numbers that few-shot results are published as, and their [`Spread`].

use rana_embed::link_prediction::Metrics;
use serde::{Deserialize, Serialize};

use crate::few_shot_report::MacroMetrics;

/// The four usual numbers, or something about each of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Averages<T = f64> {
    /// The mean reciprocal rank.
    pub mrr: T,
    /// The share of ranks up to 1.
    #[serde(rename = "hits1")]
    pub hits_at_1: T,
    /// The share of ranks up to 5.
    #[serde(rename = "hits5")]
    pub hits_at_5: T,
    /// The share of ranks up to 10.
    #[serde(rename = "hits10")]
    pub hits_at_10: T,
}

impl From<&Metrics> for Averages {
    fn from(metrics: &Metrics) -> Self {
        let &Metrics { mrr, hits_at_1, hits_at_5, hits_at_10, .. } = metrics;
        Self { mrr, hits_at_1, hits_at_5, hits_at_10 }
    }
}

impl From<&MacroMetrics> for Averages {
    fn from(metrics: &MacroMetrics) -> Self {
        let &MacroMetrics { mrr, hits_at_1, hits_at_5, hits_at_10, .. } = metrics;
        Self { mrr, hits_at_1, hits_at_5, hits_at_10 }
    }
}

/// A mean over draws, and how far single draws are from it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// The mean.
    pub mean: f64,
    /// The sample standard deviation; 0 for a single value.
    pub sd: f64,
}

impl Spread {
    /// The spread of some values. All fields are zero if there are no values.
    #[must_use]
    pub fn of(values: impl Iterator<Item = f64> + Clone) -> Self {
        let count = values.clone().count() as f64;
        let mean = values.clone().sum::<f64>() / count.max(1.0);
        let squares: f64 = values.map(|value| (value - mean).powi(2)).sum();
        Self { mean, sd: (squares / (count - 1.0).max(1.0)).sqrt() }
    }
}

impl Averages<Spread> {
    /// The spread of each of the four. All fields are zero if there are no values.
    #[must_use]
    pub fn of(draws: &[Averages]) -> Self {
        let spread = |of: fn(&Averages) -> f64| Spread::of(draws.iter().map(of));
        Self {
            mrr: spread(|draw| draw.mrr),
            hits_at_1: spread(|draw| draw.hits_at_1),
            hits_at_5: spread(|draw| draw.hits_at_5),
            hits_at_10: spread(|draw| draw.hits_at_10),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spread_is_that_of_a_sample() {
        // Squares about the mean 5: 9, 1, 1, 1, 0, 0, 4, 16; 32 / 7.
        let values = [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0];
        let Spread { mean, sd } = Spread::of(values.into_iter());
        assert_eq!(mean, 5.0);
        assert!((sd - (32.0_f64 / 7.0).sqrt()).abs() < 1e-12);
        assert_eq!(Spread::of([0.25].into_iter()), Spread { mean: 0.25, sd: 0.0 });
        assert_eq!(Spread::of([].into_iter()), Spread::default());
    }
}
