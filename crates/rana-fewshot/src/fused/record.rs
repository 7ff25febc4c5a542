//! The record of a source: how well it would have found each pair of a support by the others.

use super::evidence::{Evidence, EvidenceKind};
use super::matrix::matrix;
use super::sources::Sources;
use crate::left_out::LeftOut;
use crate::model::{Support, SupportError};

/// A record is a mean over few ranks; so many candidates tell them well enough.
const MOST_CANDIDATES: usize = 512;

/// For each source the mean reciprocal rank of the tails of a support, each ranked by the pairs that are left; zero
/// if there is only one pair.
pub(super) fn records(
    sources: &Sources<'_>,
    kinds: &[EvidenceKind],
    support: &Support<'_>,
) -> Result<Vec<f32>, SupportError> {
    let mut records = vec![0.0; kinds.len()];
    let all = LeftOut::each(support, MOST_CANDIDATES);
    for one in &all {
        let left = one.support(support);
        let evidence =
            kinds.iter().map(|&kind| sources.adapt(kind, &left)).collect::<Result<Vec<Evidence<'_>>, _>>()?;
        let rows = matrix(&evidence, &[one.asked.head], &one.candidates);
        for (source, record) in records.iter_mut().enumerate() {
            let ahead = LeftOut::ahead(rows.iter().skip(source).step_by(kinds.len()).copied());
            *record += 1.0 / ((1.0 + ahead) * all.len() as f32);
        }
    }
    Ok(records)
}
