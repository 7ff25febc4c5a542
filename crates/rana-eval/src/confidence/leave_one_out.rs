//! The leave-one-out rank of a model on a support: how well it finds each pair by the others. `support_record.rs` of
//! `rana-models`, `fused/`, measures each source of evidence alone.

use rana_fewshot::{FewShotModel, LeftOut, Support, SupportError};

/// At most this many candidates are ranked; the mean is over a few ranks, so more would not make it more precise.
const MOST_CANDIDATES: usize = 1024;

/// The mean reciprocal rank of the tails of a support, each ranked by the model adapted to the other pairs; none for a
/// single pair.
///
/// # Errors
/// If the model cannot answer for other supports than its own.
pub fn leave_one_out_rank(
    model: &dyn FewShotModel,
    support: &Support<'_>,
) -> Result<Option<f32>, SupportError> {
    let all = LeftOut::each(support, MOST_CANDIDATES);
    if all.is_empty() {
        return Ok(None);
    }
    let mut sum = 0.0;
    for one in &all {
        let relation = model.adapt(&one.support(support))?;
        let mut scores = vec![0.0; one.candidates.len()];
        relation.scores(&[one.asked.head], &one.candidates, &mut scores);
        sum += 1.0 / (1.0 + LeftOut::ahead(scores.into_iter()) * one.stands_for as f32);
    }
    Ok(Some(sum / all.len() as f32))
}
