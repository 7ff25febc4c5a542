//! [`Sampler`]: draws the negatives of facts.

use rana_graph::{EntityId, Fact, Graph, Lists};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::negatives::{Negatives, Pool};
use crate::side::Side;
use crate::training::{Among, Listed};

/// After this many failed draws a pool counts as having no allowed entity.
const TRIES: usize = 64;

/// Draws the negatives of a training.
pub(crate) struct Sampler<'d> {
    config: Negatives,
    graph: &'d Graph,
    /// The entities of each type; empty unless the pool needs them.
    by_type: Lists<EntityId>,
    /// The known answers of each fact's query, if negatives are filtered.
    known: Option<[Known; 2]>,
    /// The entities that each relation has at its ends, if the pool needs them.
    ranges: Option<[Lists<EntityId>; 2]>,
}

impl<'d> Sampler<'d> {
    pub(crate) fn new(config: Negatives, graph: &'d Graph, facts: &[Fact], relations: usize) -> Self {
        let by_type = match config.pool {
            Pool::Types => entities_by_type(graph),
            _ => Lists::default(),
        };
        let sides = [Side::Head, Side::Tail];
        let known = config.filtered.then(|| sides.map(|side| Known::new(facts, side)));
        let ranges = (config.pool == Pool::Range).then(|| sides.map(|side| range(facts, relations, side)));
        Self { config, graph, by_type, known, ranges }
    }

    /// Draws the negatives of chunks of `shared_by` facts, in ascending order within a chunk.
    ///
    /// Ascending rows are closer together in memory, which helps the cache.
    pub(crate) fn draw(
        &self,
        rng: &mut ChaCha8Rng,
        side: Side,
        facts: &[Listed],
        among: Option<Among<'_>>,
        negatives: &mut [u32],
    ) {
        let Negatives { count, shared_by, pool, .. } = self.config;
        if pool == Pool::All {
            negatives.fill_with(|| self.draw_any(rng, among));
        } else {
            for (chunk, drawn) in facts.chunks(shared_by).zip(negatives.chunks_exact_mut(count)) {
                for (negative, listed) in drawn.iter_mut().zip(chunk.iter().cycle()) {
                    *negative = self.draw_for(rng, side, among, listed.fact);
                }
            }
        }
        if count > 1 {
            for drawn in negatives.chunks_exact_mut(count) {
                drawn.sort_unstable();
            }
        }
    }

    #[inline]
    fn draw_any(&self, rng: &mut ChaCha8Rng, among: Option<Among<'_>>) -> u32 {
        match among {
            None => rng.random_range(0..self.graph.entity_count() as u32),
            Some(Among { members, .. }) => members[rng.random_range(0..members.len() as u32) as usize],
        }
    }

    /// Draws from the pool of a fact, or from all allowed entities if the pool has none of them.
    fn draw_for(&self, rng: &mut ChaCha8Rng, side: Side, among: Option<Among<'_>>, fact: Fact) -> u32 {
        let pool = match self.config.pool {
            Pool::All => &[],
            Pool::Types => match self.graph.types(side.answer(fact)) {
                [] => &[],
                types => self.by_type.get(types[rng.random_range(0..types.len())].index()),
            },
            Pool::Range => self
                .ranges
                .as_ref()
                .map_or(&[][..], |ranges| ranges[side as usize].get(fact.relation.number())),
        };
        let is_allowed = |entity: u32| {
            among.is_none_or(|Among { bucket_of, bucket, .. }| bucket_of[entity as usize] == bucket)
        };
        let tries = if pool.is_empty() { 0 } else { TRIES };
        let mut drawn = (0..tries).map(|_| pool[rng.random_range(0..pool.len())].0);
        match drawn.find(|&entity| is_allowed(entity)) {
            Some(entity) => entity,
            None => self.draw_any(rng, among),
        }
    }

    /// Sets the scores of known facts to minus infinity, if negatives are filtered.
    ///
    /// `scores` has one row per fact of the chunk and one column per negative.
    pub(crate) fn mask(&self, side: Side, chunk: &[Listed], negatives: &[u32], scores: &mut [f32]) {
        let Some(known) = self.known.as_ref().map(|known| &known[side as usize]) else { return };
        for (listed, scores) in chunk.iter().zip(scores.chunks_exact_mut(negatives.len())) {
            let answers = known.answers(listed.position as usize);
            // Search for each element of the shorter list in the longer one.
            if answers.len() < negatives.len() {
                for answer in answers {
                    let from = negatives.partition_point(|&negative| negative < answer.0);
                    let same = negatives[from..].iter().take_while(|&&negative| negative == answer.0).count();
                    scores[from..from + same].fill(f32::NEG_INFINITY);
                }
            } else {
                for (&negative, score) in negatives.iter().zip(scores) {
                    if answers.binary_search(&EntityId(negative)).is_ok() {
                        *score = f32::NEG_INFINITY;
                    }
                }
            }
        }
    }
}

fn entities_by_type(graph: &Graph) -> Lists<EntityId> {
    let entries =
        graph.entities().flat_map(|entity| graph.types(entity).iter().map(move |t| (t.index(), entity)));
    Lists::group(graph.type_names().len(), entries)
}

/// The entities that each relation has at one end, each once, ascending.
pub(crate) fn range(facts: &[Fact], relations: usize, side: Side) -> Lists<EntityId> {
    let entries = facts.iter().map(|&fact| (fact.relation.number(), side.answer(fact)));
    Lists::group(relations, entries)
        .iter()
        .map(|list| {
            let mut list = list.to_vec();
            list.sort_unstable();
            list.dedup();
            list
        })
        .collect()
}

/// The known answers of each fact's query on one side.
struct Known {
    /// The number of each fact's list; facts with the same query share one.
    list_of: Vec<u32>,
    /// Answers in ascending order.
    answers: Lists<EntityId>,
}

impl Known {
    fn new(facts: &[Fact], side: Side) -> Self {
        let query = |at: u32| {
            let fact = facts[at as usize];
            (fact.relation, side.anchor(fact))
        };
        let mut order: Vec<u32> = (0..facts.len() as u32).collect();
        order.sort_unstable_by_key(|&at| (query(at), side.answer(facts[at as usize])));
        let mut list_of = vec![0; facts.len()];
        let lists = order.chunk_by(|&a, &b| query(a) == query(b)).enumerate().map(|(list, members)| {
            members
                .iter()
                .map(|&at| {
                    list_of[at as usize] = list as u32;
                    side.answer(facts[at as usize])
                })
                .collect::<Vec<_>>()
        });
        let answers = lists.collect();
        Self { list_of, answers }
    }

    fn answers(&self, fact: usize) -> &[EntityId] {
        self.answers.get(self.list_of[fact] as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::{Purpose, rng};
    use proptest::prelude::*;
    use rana_graph::{Duplicates, GraphBuilder, RelationId};

    fn graph(facts: &[(u32, u32, u32)]) -> Graph {
        let mut builder = GraphBuilder::new(Duplicates::Keep);
        for entity in 0..12 {
            builder.intern_entity(&entity.to_string());
        }
        for relation in 0..3 {
            builder.intern_relation(&relation.to_string());
        }
        for &(head, relation, tail) in facts {
            builder.add(Fact {
                head: EntityId(head),
                relation: RelationId::forward(relation),
                tail: EntityId(tail),
            });
        }
        for entity in 0..9 {
            builder.add_type(EntityId(entity), ["even", "odd"][entity as usize % 2]);
        }
        builder.finish()
    }

    proptest! {
        #[test]
        fn draws_come_from_the_pool_and_exactly_known_facts_are_masked(
            facts in prop::collection::vec((0u32..12, 0u32..3, 0u32..12), 1..60),
            pool in prop::sample::select(Pool::ALL),
            side in prop::sample::select(&[Side::Head, Side::Tail][..]),
            count in 1usize..40,
            seed in any::<u64>(),
        ) {
            let graph = graph(&facts);
            let facts = graph.facts();
            let config = Negatives { count, pool, shared_by: facts.len(), ..Negatives::default() };
            let sampler = Sampler::new(config, &graph, facts, 3);
            let chunk: Vec<Listed> = Listed::all(facts).step_by(3).collect();
            let mut negatives = vec![0; count];
            sampler.draw(&mut rng(seed, Purpose::Negatives, [0, 0]), side, &chunk, None, &mut negatives);
            prop_assert!(negatives.is_sorted());
            for &negative in &negatives {
                let allowed = chunk.iter().any(|&Listed { fact, .. }| {
                    let truth = side.answer(fact);
                    match pool {
                        Pool::All => true,
                        Pool::Types => {
                            graph.types(truth).is_empty() || graph.types(truth) == graph.types(EntityId(negative))
                        }
                        Pool::Range => facts
                            .iter()
                            .any(|other| other.relation == fact.relation && side.answer(*other).0 == negative),
                    }
                });
                prop_assert!(allowed && negative < 12);
            }
            let mut scores = vec![1.0; chunk.len() * count];
            sampler.mask(side, &chunk, &negatives, &mut scores);
            for (&Listed { fact, .. }, scores) in chunk.iter().zip(scores.chunks_exact(count)) {
                for (&negative, &score) in negatives.iter().zip(scores) {
                    let corrupted = match side {
                        Side::Head => Fact { head: EntityId(negative), ..fact },
                        Side::Tail => Fact { tail: EntityId(negative), ..fact },
                    };
                    prop_assert_eq!(facts.contains(&corrupted), score == f32::NEG_INFINITY);
                }
            }
        }
    }
}
