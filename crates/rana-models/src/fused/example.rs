//! [`Example`]: one support with its queries, as the fits of trust see it.

use super::support_record::SupportRecord;
use super::trust::{TERMS, terms};

/// One query: the values of all sources for its candidates, the right one first.
#[derive(Debug)]
pub(super) struct ExampleQuery {
    /// `rows[candidate * sources + source]`.
    pub(super) rows: Vec<f32>,
    /// What each candidate stands for, as a logarithm: one that was drawn counts for those that were not.
    pub(super) stands_for: Vec<f32>,
}

/// One support with its queries.
#[derive(Debug)]
pub(super) struct Example {
    /// The record of each source on the support.
    pub(super) records: Vec<SupportRecord>,
    /// How many pairs the support has.
    pub(super) shots: usize,
    pub(super) queries: Vec<ExampleQuery>,
}

impl Example {
    /// What the weights of each source are made of, for values that are not divided by its spread.
    pub(super) fn terms(&self) -> Vec<[f32; TERMS]> {
        self.records.iter().map(|of| terms(of, self.shots).map(|term| term / of.spread)).collect()
    }

    /// How much each source counts, for values that are not divided by `scales`.
    pub(super) fn weights(&self, scales: &[f32], at: &[f64]) -> Vec<f32> {
        let of_source = |(terms, numbers): (&[f32; TERMS], &[f64])| -> f64 {
            numbers.iter().zip(terms).map(|(number, &term)| number * f64::from(term)).sum()
        };
        let all = self.terms();
        let weights = all.iter().zip(at.chunks_exact(TERMS)).map(of_source);
        weights.zip(scales).map(|(weight, scale)| weight as f32 / scale).collect()
    }

    /// The slope by what is learned, given the slope by each weight.
    pub(super) fn by_term(&self, scales: &[f32], slope: &[f64]) -> Vec<f64> {
        let all = self.terms();
        let sources = all.iter().zip(scales).zip(slope);
        let of_source = |((terms, &scale), &slope): ((&[f32; TERMS], &f32), &f64)| {
            terms.map(|term| slope * f64::from(term / scale))
        };
        sources.flat_map(of_source).collect()
    }
}
