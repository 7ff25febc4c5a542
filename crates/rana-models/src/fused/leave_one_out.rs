//! The leave-one-out score of a source: how well it finds each pair of a support by the other pairs.

use rana_fewshot::{LeftOut, Support, SupportError};

use super::evidence::{Evidence, EvidenceKind};
use super::evidence_matrix::matrix;
use super::sources::Sources;

/// The score is a mean over few ranks, for which this many candidates are exact enough.
const MOST_CANDIDATES: usize = 512;

/// For each source the mean reciprocal rank of the tails of a support, each ranked by the source adapted to the other
/// pairs; zero if there is only one pair.
pub(super) fn leave_one_out(
    sources: &Sources,
    kinds: &[EvidenceKind],
    support: &Support<'_>,
) -> Result<Vec<f32>, SupportError> {
    let mut scores = vec![0.0; kinds.len()];
    let all = LeftOut::each(support, MOST_CANDIDATES);
    for one in &all {
        let left = one.support(support);
        let evidence =
            kinds.iter().map(|&kind| sources.adapt(kind, &left)).collect::<Result<Vec<Evidence>, _>>()?;
        let rows = matrix(&evidence, &[one.asked.head], &one.candidates);
        for (source, score) in scores.iter_mut().enumerate() {
            let ahead = LeftOut::ahead(rows.iter().skip(source).step_by(kinds.len()).copied());
            *score += 1.0 / ((1.0 + ahead) * all.len() as f32);
        }
    }
    Ok(scores)
}
