//! Evidence as a matrix: the values of all sources for the candidates of some heads.

use rana_graph::EntityId;

use super::evidence::{Evidence, Values};

/// Where entities stand in a list of candidates.
pub(super) struct Places<'c> {
    candidates: &'c [EntityId],
    /// The places in the order of their entities, unless the candidates are in that order themselves.
    order: Option<Vec<u32>>,
}

impl<'c> Places<'c> {
    pub(super) fn new(candidates: &'c [EntityId]) -> Self {
        let order = (!candidates.is_sorted()).then(|| {
            let mut order: Vec<u32> = (0..candidates.len() as u32).collect();
            order.sort_unstable_by_key(|&place| candidates[place as usize]);
            order
        });
        Self { candidates, order }
    }

    /// The places of an entity: none, one, or more if it is a candidate more than once.
    pub(super) fn of(&self, entity: EntityId) -> impl Iterator<Item = usize> + '_ {
        let at = move |rank: usize| self.order.as_ref().map_or(rank, |order| order[rank] as usize);
        let first = match &self.order {
            None => self.candidates.partition_point(|&other| other < entity),
            Some(order) => order.partition_point(|&place| self.candidates[place as usize] < entity),
        };
        let ranks = first..self.candidates.len();
        ranks.map(at).take_while(move |&place| self.candidates[place] == entity)
    }
}

/// The values of each source for each head and candidate: `rows[(head * candidates + candidate) * sources + source]`.
pub(super) fn matrix(evidence: &[Evidence<'_>], heads: &[EntityId], candidates: &[EntityId]) -> Vec<f32> {
    let (sources, width) = (evidence.len(), candidates.len());
    let mut rows = vec![0.0; heads.len() * width * sources];
    let places = Places::new(candidates);
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
                        places.of(tail).for_each(|place| set(at, place, value));
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
