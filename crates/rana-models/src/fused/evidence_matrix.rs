//! [`evidence_matrix`]: the values of all sources for the candidates of some heads.

use rana_fewshot::CandidatePlaces;
use rana_graph::EntityId;

use super::evidence::{Evidence, Values};

/// The values of each source for each head and candidate: `rows[(head * candidates + candidate) * sources + source]`.
pub(super) fn evidence_matrix(
    evidence: &[Evidence],
    heads: &[EntityId],
    candidates: &[EntityId],
) -> Vec<f32> {
    let (sources, width) = (evidence.len(), candidates.len());
    let mut rows = vec![0.0; heads.len() * width * sources];
    let places = CandidatePlaces::new(candidates);
    let mut scores = Vec::new();
    for (source, of) in evidence.iter().enumerate() {
        let mut set = |head: usize, place: usize, value: f32| {
            rows[(head * width + place) * sources + source] = value;
        };
        match &of.values {
            Values::Tails(value) => {
                for (place, &tail) in candidates.iter().enumerate() {
                    let value = value(tail);
                    (0..heads.len()).for_each(|head| set(head, place, value));
                }
            }
            Values::Few(values) => {
                for (at, &head) in heads.iter().enumerate() {
                    values(head, &mut |tail, value| {
                        places.of(candidates, tail).for_each(|place| set(at, place, value));
                    });
                }
            }
            Values::Pairs(relation) => {
                scores.resize(heads.len() * width, 0.0);
                relation.scores(heads, candidates, &mut scores);
                for (at, row) in scores.chunks_exact(width).enumerate() {
                    row.iter().enumerate().for_each(|(place, &value)| set(at, place, value));
                }
            }
        }
    }
    rows
}
