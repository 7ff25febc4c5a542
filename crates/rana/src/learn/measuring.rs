//! How good models are on one relation that was left out.

use rana_fewshot::{FewShotModel, Support, SupportError};
use rana_graph::{EntityId, Graph, Pair, Task};
use rana_models::fused::FusedModel;
use rayon::prelude::*;

use super::quality::WithheldRelation;
use super::withheld_relations::WithheldRelations;

/// Pairs that are given of a relation.
pub(super) const SHOTS: usize = 5;
/// The most facts of a relation that are asked for.
const QUERIES: usize = 20;

/// The quality of models on one relation; none if it has too few facts.
pub(super) fn measure(
    graph: &Graph,
    withheld: &WithheldRelations,
    task: &Task<'_>,
    models: &[FusedModel],
    seed: u64,
) -> Result<Option<WithheldRelation>, SupportError> {
    let Some((support, queries)) = withheld.episode(task.relation) else { return Ok(None) };
    let support = Support::of_task(task, &support, seed);
    let queries = &queries[..queries.len().min(QUERIES)];
    let mut relation = WithheldRelation {
        name: graph.relation_name(task.relation).to_owned(),
        facts: task.facts.len(),
        queries: queries.len(),
        mrr: Vec::new(),
        hits_at_10: Vec::new(),
    };
    for model in models {
        let adapted = model.adapt(&support)?;
        let ranks: Vec<f64> = queries
            .par_iter()
            .map(|&query| {
                let mut scores = vec![0.0; task.candidates.len()];
                adapted.scores(&[query.head], task.candidates, &mut scores);
                let mut right = [0.0];
                adapted.scores(&[query.head], &[query.tail], &mut right);
                rank(
                    task.candidates,
                    &scores,
                    right[0],
                    query,
                    withheld.tasks().known_tails(query.head, task.relation),
                )
            })
            .collect();
        let count = ranks.len() as f64;
        relation.mrr.push(ranks.iter().map(|rank| 1.0 / rank).sum::<f64>() / count);
        relation.hits_at_10.push(ranks.iter().filter(|&&rank| rank <= 10.0).count() as f64 / count);
    }
    Ok(Some(relation))
}

/// The rank of the right tail among candidates without the other known tails; ties count half.
fn rank(candidates: &[EntityId], scores: &[f32], right: f32, query: Pair, known: &[EntityId]) -> f64 {
    let is_rival = |tail: EntityId| tail != query.tail && known.binary_search(&tail).is_err();
    let (mut better, mut tied) = (0.0, 0.0);
    for (&tail, &score) in candidates.iter().zip(scores) {
        if score >= right && is_rival(tail) {
            if score > right {
                better += 1.0;
            } else {
                tied += 1.0;
            }
        }
    }
    1.0 + better + tied / 2.0
}
