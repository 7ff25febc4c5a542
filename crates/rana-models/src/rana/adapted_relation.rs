//! [`RanaRelation`]: a relation as RANA sees it after its support, with what it looked at.

use std::sync::OnceLock;

use rana_fewshot::{AdaptedRelation, AttentionWeight, Reasons, Support};
use rana_graph::{EntityId, Pair, RelationId};

use super::inspection::Inspection;
use super::model::RanaModel;

/// Neighbours that a reason names; more would not be read.
const MOST_NEIGHBOURS: usize = 8;

/// A relation as RANA sees it after its support.
pub(super) struct RanaRelation {
    model: RanaModel,
    scorer: Box<dyn AdaptedRelation>,
    support: OwnSupport,
    /// What was looked at, made when it is first asked for.
    inspection: OnceLock<Inspection>,
}

/// A support that lives on its own.
struct OwnSupport {
    relation: Option<RelationId>,
    pairs: Vec<Pair>,
    candidates: Vec<EntityId>,
    rejected: Vec<Pair>,
    seed: u64,
}

impl RanaRelation {
    pub(super) fn new(model: RanaModel, scorer: Box<dyn AdaptedRelation>, support: &Support<'_>) -> Self {
        let support = OwnSupport {
            relation: support.relation,
            pairs: support.pairs.to_vec(),
            candidates: support.candidates.to_vec(),
            rejected: support.rejected.to_vec(),
            seed: support.seed,
        };
        Self { model, scorer, support, inspection: OnceLock::new() }
    }

    /// What RANA looked at.
    ///
    /// Inspecting works on many threads. A thread that waits for others may begin another explanation of the same
    /// relation; with `get_or_init` alone it would wait for itself for ever, here it inspects once more.
    fn inspection(&self) -> &Inspection {
        match self.inspection.get() {
            Some(made) => made,
            None => {
                let OwnSupport { relation, pairs, candidates, rejected, seed } = &self.support;
                let support = Support { relation: *relation, pairs, candidates, rejected, seed: *seed };
                let made = self.model.inspect(&support);
                self.inspection.get_or_init(|| made)
            }
        }
    }
}

impl AdaptedRelation for RanaRelation {
    fn scores(&self, heads: &[EntityId], candidates: &[EntityId], out: &mut [f32]) {
        self.scorer.scores(heads, candidates, out);
    }

    fn kept_bytes(&self) -> usize {
        self.scorer.kept_bytes() + size_of_val(&self.support.candidates[..])
    }

    /// The pair of the support that it resembles most, and the neighbours that attention looked at there.
    fn reasons(&self, pair: Pair, _: &[EntityId]) -> Reasons {
        let inspection = self.inspection();
        let parts = self.model.score_parts(inspection, pair);
        let nearest = parts.by_support.iter().enumerate().min_by(|(_, one), (_, other)| one.total_cmp(other));
        let Some((at, &distance)) = nearest else { return Reasons::default() };
        let of = &inspection.support[at];
        let ends = [(of.pair.head, true, &of.head), (of.pair.tail, false, &of.tail)];
        let mut attention: Vec<AttentionWeight> = ends
            .into_iter()
            .flat_map(|(of, is_head, all)| {
                all.iter().map(move |at| AttentionWeight { of, is_head, edge: at.edge, weight: at.weight })
            })
            .collect();
        attention.sort_by(|one, other| other.weight.total_cmp(&one.weight));
        attention.truncate(MOST_NEIGHBOURS);
        Reasons { resembles: Some((of.pair, distance)), attention, sources: Vec::new() }
    }
}
