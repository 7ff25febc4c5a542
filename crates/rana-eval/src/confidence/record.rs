//! The record of a model on a support: how well it finds each pair by the others.

use rana_fewshot::{FewShotModel, Support, SupportError};
use rana_graph::{EntityId, Pair};

/// A record is a mean over few ranks; so many candidates tell them well enough.
const MOST_CANDIDATES: usize = 1024;

/// Nor are more pairs needed.
const MOST_PAIRS: usize = 8;

/// The mean reciprocal rank of the tails of a support, each ranked by the pairs that are left; none for a single pair.
///
/// # Errors
/// If the model cannot answer for other supports than its own.
pub fn support_record(model: &dyn FewShotModel, support: &Support<'_>) -> Result<Option<f32>, SupportError> {
    let pairs = support.pairs;
    if pairs.len() < 2 {
        return Ok(None);
    }
    // Evenly among all, so that they are always the same.
    let step = support.candidates.len().div_ceil(MOST_CANDIDATES).max(1);
    let mut sum = 0.0;
    let every = pairs.len().div_ceil(MOST_PAIRS);
    let count = pairs.len().div_ceil(every);
    for (at, &asked) in pairs.iter().enumerate().step_by(every) {
        let mut left: Vec<Pair> = pairs.to_vec();
        left.remove(at);
        let relation = model.adapt(&Support { pairs: &left, ..*support })?;
        let is_right = |tail: EntityId| pairs.contains(&Pair { tail, ..asked });
        let rivals = support.candidates.iter().copied().step_by(step).filter(|&tail| !is_right(tail));
        let candidates: Vec<EntityId> = std::iter::once(asked.tail).chain(rivals).collect();
        let mut scores = vec![0.0; candidates.len()];
        relation.scores(&[asked.head], &candidates, &mut scores);
        // Ties count half, as in an evaluation.
        let ahead: f32 = scores[1..]
            .iter()
            .map(|&score| if score > scores[0] { 1.0 } else { 0.5 * f32::from(score == scores[0]) })
            .sum();
        sum += 1.0 / (1.0 + ahead * step as f32);
    }
    Ok(Some(sum / count as f32))
}
