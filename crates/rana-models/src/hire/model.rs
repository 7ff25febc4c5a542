//! [`HireModel`]: HiRe with fixed parameters, turning supports into relations.

use std::borrow::Cow;
use std::sync::Arc;

use rana_embed::Norm;
use rana_fewshot::{AdaptedRelation, FewShotModel, Support, SupportError};
use rana_graph::EntityId;

use super::stepped_model::Hire;
use super::transfer_distance::{End, TransferDistance};
use crate::relation_meta::support_contrasts;
use crate::training::Parameters;
use crate::translation::{EntityTable, Translation};

/// HiRe with fixed parameters.
pub struct HireModel {
    hire: Hire,
    parameters: Arc<Parameters>,
}

impl HireModel {
    pub(super) fn new(hire: Hire, parameters: Arc<Parameters>) -> Self {
        Self { hire, parameters }
    }
}

impl FewShotModel for HireModel {
    /// # Panics
    /// If the support is empty.
    fn adapt(&self, support: &Support<'_>) -> Result<Box<dyn AdaptedRelation>, SupportError> {
        assert!(!support.pairs.is_empty(), "a relation is learned from at least one pair");
        let Hire { config, network, seed, .. } = &self.hire;
        let contrasts = support_contrasts(support, &self.hire.uniform(), config.test_negatives, *seed);
        let (relation, distance) = self.hire.with_inputs(&self.parameters, |inputs| {
            let (supports, distance) = ([(support.relation, &contrasts)], inputs.distance(false));
            let pass = network.forward(inputs.weights, inputs.rows, &supports, distance, None, false);
            (inputs.objective(&distance).inner_step(&contrasts, &pass.relations, 1), distance)
        });
        let translation = relation[..network.dim].to_vec();
        let rows = ProjectedRows { parameters: Arc::clone(&self.parameters), distance, relation };
        Ok(Box::new(Translation::new(rows, Norm::L2, translation)))
    }
}

/// The rows of entities as a relation projects them.
struct ProjectedRows {
    parameters: Arc<Parameters>,
    distance: TransferDistance,
    relation: Vec<f32>,
}

impl ProjectedRows {
    fn project(&self, entity: EntityId, end: End) -> Cow<'_, [f32]> {
        Cow::Owned(self.distance.project(self.parameters.rows.row(entity), &self.relation, end))
    }
}

impl EntityTable for ProjectedRows {
    fn entity(&self, entity: EntityId) -> Cow<'_, [f32]> {
        self.project(entity, End::Tail)
    }

    fn head(&self, entity: EntityId) -> Cow<'_, [f32]> {
        self.project(entity, End::Head)
    }
}
