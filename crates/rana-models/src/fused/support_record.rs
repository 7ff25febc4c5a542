//! The record of a source on a support: how well it finds each pair by the other pairs. `leave_one_out.rs` of
//! `rana-eval`, `confidence/`, measures a whole model.

use rana_fewshot::{LeftOut, Support, SupportError};

use super::evidence::Evidence;
use super::evidence_kind::EvidenceKind;
use super::evidence_matrix::evidence_matrix;
use super::sources::Sources;

/// At most this many candidates are ranked; the mean is over a few ranks, so more would not make it more precise.
const MOST_CANDIDATES: usize = 512;
/// A pair that stands out more than this many deviations tells no more.
const MOST_DEVIATIONS: f32 = 6.0;

/// How well a source finds the pairs of a support, each by the others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SupportRecord {
    /// The mean reciprocal rank of the pairs.
    pub(super) reciprocal_rank: f32,
    /// By how many standard deviations of its rivals a pair stands out, in the mean.
    pub(super) separation: f32,
    /// What the values of the source are divided by: the standard deviation of rivals, or 1 if values mean the same for
    /// all supports.
    pub(super) spread: f32,
}

impl SupportRecord {
    /// Of a support that says nothing.
    pub(super) const NONE: Self = Self { reciprocal_rank: 0.0, separation: 0.0, spread: 1.0 };
}

/// The records of all sources on a support. A single pair has no others to be found by.
pub(super) fn support_records(
    sources: &Sources,
    kinds: &[EvidenceKind],
    support: &Support<'_>,
) -> Result<Vec<SupportRecord>, SupportError> {
    let mut records = vec![SupportRecord::NONE; kinds.len()];
    let mut left_out = LeftOut::each(support, MOST_CANDIDATES);
    let is_alone = left_out.is_empty();
    if is_alone {
        left_out.extend(LeftOut::none(support, MOST_CANDIDATES));
    }
    let mut spreads = vec![0.0; kinds.len()];
    for one in &left_out {
        let left = one.support(support);
        let evidence =
            kinds.iter().map(|&kind| sources.adapt(kind, &left)).collect::<Result<Vec<Evidence>, _>>()?;
        let rows = evidence_matrix(&evidence, &[one.asked.head], &one.candidates);
        let share = 1.0 / left_out.len() as f32;
        for (source, (record, spread)) in records.iter_mut().zip(&mut spreads).enumerate() {
            let values = || rows.iter().skip(source).step_by(kinds.len()).copied();
            let (mean, deviation) = mean_and_deviation(values().skip(1));
            *spread += share * deviation;
            if is_alone {
                continue;
            }
            record.reciprocal_rank += share / (1.0 + LeftOut::ahead(values()));
            let lead = values().next().map_or(0.0, |right| right - mean);
            if deviation > 0.0 {
                record.separation += share * (lead / deviation).clamp(-MOST_DEVIATIONS, MOST_DEVIATIONS);
            } else if lead > 0.0 {
                record.separation += share * MOST_DEVIATIONS;
            }
        }
    }
    for ((record, &kind), spread) in records.iter_mut().zip(kinds).zip(spreads) {
        if !sources.scales_by_support() {
            record.separation = 0.0;
        } else if kind.is_of_vectors() && spread > 0.0 {
            record.spread = spread;
        }
    }
    Ok(records)
}

fn mean_and_deviation(values: impl Iterator<Item = f32> + Clone) -> (f32, f32) {
    let (mut count, mut sum, mut squares) = (0.0_f64, 0.0_f64, 0.0_f64);
    for value in values.map(f64::from) {
        count += 1.0;
        sum += value;
        squares += value * value;
    }
    let mean = sum / count.max(1.0);
    let variance = (squares / count.max(1.0) - mean * mean).max(0.0);
    // What is left of equal values is an error of rounding.
    let deviation = if variance > 1e-10 * (1.0 + mean * mean) { variance.sqrt() } else { 0.0 };
    (mean as f32, deviation as f32)
}
