//! Evidence in vectors: the score of a trained model, and products of the vectors of another.

use rana_embed::{Blocks, Similarity, Table};
use rana_fewshot::{AdaptedRelation, FewShotModel, Support, SupportError};
use rana_graph::EntityId;

use super::evidence::{Evidence, Values};
use super::evidence_kind::EvidenceKind;
use super::reason::Reason;
use crate::gathered_rows::{Gathered, gather};

/// The score of a model that translates heads to tails.
pub(super) fn translation(
    kind: EvidenceKind,
    model: &dyn FewShotModel,
    support: &Support<'_>,
) -> Result<Evidence, SupportError> {
    Ok(Evidence {
        kind,
        values: Values::Pairs(model.adapt(support)?),
        reason: Box::new(|_, _, value| Some(Reason::Leads { distance: -value })),
    })
}

/// The sum of `h·r·t` over all numbers of the vectors, where `r` is the mean of `h·t` over the support at length 1:
/// DistMult's score with the relation that the support alone gives.
pub(super) fn product(table: &Table, support: &Support<'_>) -> Evidence {
    let mut relation = vec![0.0; table.dim()];
    for pair in support.pairs {
        let ends = table.row(pair.head.index()).iter().zip(table.row(pair.tail.index()));
        relation.iter_mut().zip(ends).for_each(|(sum, (head, tail))| *sum += head * tail);
    }
    let norm = relation.iter().map(|value| value * value).sum::<f32>().sqrt().max(f32::MIN_POSITIVE);
    relation.iter_mut().for_each(|value| *value /= norm);
    Evidence {
        kind: EvidenceKind::Product,
        values: Values::Pairs(Box::new(Product {
            table: table.clone(),
            relation,
            gathered: Gathered::default(),
        })),
        reason: Box::new(|_, _, product| Some(Reason::Agrees { product })),
    }
}

struct Product {
    table: Table,
    relation: Vec<f32>,
    gathered: Gathered,
}

impl AdaptedRelation for Product {
    fn scores(&self, heads: &[EntityId], candidates: &[EntityId], out: &mut [f32]) {
        let dim = self.table.dim();
        let row = |entity: EntityId| self.table.row(entity.index());
        let mut queries = gather(heads, row);
        for query in queries.chunks_exact_mut(dim) {
            query.iter_mut().zip(&self.relation).for_each(|(value, relation)| *value *= relation);
        }
        let shape = Blocks::one(heads.len(), candidates.len(), dim);
        let span = |first: EntityId, count| self.table.span(first.index(), count);
        Similarity::Dot.scores(shape, &queries, &self.gathered.rows(candidates, row, span), out);
    }

    fn kept_bytes(&self) -> usize {
        self.gathered.kept_bytes()
    }
}
