//! [`MeanTranslation`]: a relation as the mean of t − h over its support, without training.

use rana_embed::{Norm, Table};
use rana_fewshot::{AdaptedRelation, FewShotModel, Support, SupportError};

use crate::translation::Translation;

/// The training-free probe of entity vectors: the relation is the mean of `t − h` over the support,
/// and a tail is the better the closer it is to `h + R`.
///
/// The vectors may be of any model, though only those of TransE are made for it.
#[derive(Clone, Debug)]
pub struct MeanTranslation {
    entities: Table,
    norm: Norm,
}

impl MeanTranslation {
    /// The probe of these vectors, distances measured by `norm`.
    #[must_use]
    pub fn new(entities: &Table, norm: Norm) -> Self {
        Self { entities: entities.clone(), norm }
    }
}

impl FewShotModel for MeanTranslation {
    fn adapt(&self, support: &Support<'_>) -> Result<Box<dyn AdaptedRelation>, SupportError> {
        let mut relation = vec![0.0; self.entities.dim()];
        for pair in support.pairs {
            let (head, tail) = (self.entities.row(pair.head.index()), self.entities.row(pair.tail.index()));
            for ((sum, tail), head) in relation.iter_mut().zip(tail).zip(head) {
                *sum += (tail - head) / support.pairs.len() as f32;
            }
        }
        Ok(Box::new(Translation::new(self.entities.clone(), self.norm, relation)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rana_graph::{EntityId, Pair};

    #[test]
    fn an_exact_translation_is_found() {
        // Entities on a grid of step 1; the relation is one step to the right.
        let table = Table::new(6, 2, vec![0., 0., 1., 0., 2., 0., 0., 1., 1., 1., 2., 1.]).unwrap();
        for norm in [Norm::L1, Norm::L2] {
            let model = MeanTranslation::new(&table, norm);
            let pair = |head, tail| Pair { head: EntityId(head), tail: EntityId(tail) };
            let candidates: Vec<EntityId> = (0..6).map(EntityId).collect();
            let pairs = [pair(0, 1), pair(1, 2)];
            let relation = model
                .adapt(&Support {
                    relation: None,
                    pairs: &pairs,
                    candidates: &candidates,
                    rejected: &[],
                    seed: 0,
                })
                .unwrap();
            let mut scores = [0.0; 6];
            relation.scores(&[EntityId(3)], &candidates, &mut scores);
            assert_eq!(scores[4], 0.0);
            assert!(scores.iter().enumerate().all(|(at, &score)| at == 4 || score <= -1.0), "{scores:?}");
        }
    }
}
