//! [`Negatives`]: the negatives of true facts, and how they are drawn.

use rana_graph::{EntityId, Fact, Graph, Lists};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use crate::config_error::{ConfigError, at_least_one};
use crate::side::Side;
use crate::training::{Among, Listed};
use super::negative_sampler::range;

/// The entities that negatives are drawn from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pool {
    /// All entities.
    #[default]
    All,
    /// Entities that share a type with the true one; all entities if it has no type.
    Types,
    /// Entities that some fact of the relation has at this end.
    Range,
}

rana_graph::named!(Pool, "pool of negatives", { All => "all", Types => "types", Range => "range" });

/// For which ends of a fact negatives are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sides {
    /// Head and tail of every fact in every epoch.
    #[default]
    Both,
    /// One end per fact and epoch. The facts of a chunk have the same end, and consecutive chunks alternate.
    Alternating,
    /// The tail only.
    Tail,
}

rana_graph::named!(Sides, "sides", { Both => "both", Alternating => "alternating", Tail => "tail" });

/// How negatives are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Negatives {
    /// Negatives per fact and side.
    pub count: usize,
    /// How many facts share the same negatives; 1 draws new ones for every fact.
    ///
    /// With sharing the scores are a matrix product, which is several times faster.
    pub shared_by: usize,
    /// What they are drawn from. If the pool depends on the fact, the facts of a chunk take turns.
    pub pool: Pool,
    /// Whether negatives that are known facts are left out.
    pub filtered: bool,
    /// For which ends of a fact negatives are drawn.
    pub sides: Sides,
}

impl Default for Negatives {
    /// 256 negatives, shared by 256 facts, filtered, on both sides.
    fn default() -> Self {
        Self { count: 256, shared_by: 256, pool: Pool::All, filtered: true, sides: Sides::Both }
    }
}

impl Negatives {
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        at_least_one("negatives.count", self.count)?;
        at_least_one("negatives.shared_by", self.shared_by)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use super::super::negative_sampler::Sampler;
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
