//! The record of a source: how well it would have found each pair of a support by the others.

use rana_graph::{EntityId, Pair};

use super::evidence::{Evidence, EvidenceKind};
use super::matrix::matrix;
use super::sources::Sources;
use crate::model::{Support, SupportError};

/// A record is a mean over few ranks; so many candidates tell them well enough.
const MOST_CANDIDATES: usize = 512;

/// Nor are more pairs needed: each one that is left out costs an adaptation to all others.
const MOST_PAIRS: usize = 8;

/// For each source the mean reciprocal rank of the tails of a support, each ranked by the pairs that are left; zero
/// if there is only one pair.
pub(super) fn records(
    sources: &Sources<'_>,
    kinds: &[EvidenceKind],
    support: &Support<'_>,
) -> Result<Vec<f32>, SupportError> {
    let mut records = vec![0.0; kinds.len()];
    if support.pairs.len() < 2 {
        return Ok(records);
    }
    // Evenly among all, so that they are always the same.
    let step = support.candidates.len().div_ceil(MOST_CANDIDATES).max(1);
    let every = support.pairs.len().div_ceil(MOST_PAIRS);
    let count = support.pairs.len().div_ceil(every);
    for (at, &asked) in support.pairs.iter().enumerate().step_by(every) {
        let left: Vec<Pair> = support
            .pairs
            .iter()
            .enumerate()
            .filter(|&(other, _)| other != at)
            .map(|(_, &pair)| pair)
            .collect();
        let left = Support { pairs: &left, ..*support };
        let is_right = |tail: EntityId| support.pairs.contains(&Pair { tail, ..asked });
        let rivals = support.candidates.iter().copied().step_by(step).filter(|&tail| !is_right(tail));
        let candidates: Vec<EntityId> = std::iter::once(asked.tail).chain(rivals).collect();
        let evidence =
            kinds.iter().map(|&kind| sources.adapt(kind, &left)).collect::<Result<Vec<Evidence<'_>>, _>>()?;
        let rows = matrix(&evidence, &[asked.head], &candidates);
        for (source, record) in records.iter_mut().enumerate() {
            let mut values = rows.iter().skip(source).step_by(kinds.len()).copied();
            let right = values.next().unwrap_or(0.0);
            // Ties count half, as in an evaluation.
            let ahead: f32 =
                values.map(|value| if value > right { 1.0 } else { 0.5 * f32::from(value == right) }).sum();
            *record += 1.0 / ((1.0 + ahead) * count as f32);
        }
    }
    Ok(records)
}
