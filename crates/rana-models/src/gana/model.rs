//! [`GanaModel`]: GANA with fixed parameters, turning supports into relations.

use std::borrow::Cow;
use std::sync::Arc;

use rana_embed::Norm;
use rana_fewshot::{AdaptedRelation, FewShotModel, Support, SupportError};
use rana_graph::EntityId;

use super::config::GanaConfig;
use super::hyperplane::Hyperplane;
use super::stepped_model::Gana;
use crate::relation_meta::support_contrasts;
use crate::tape::DropoutKey;
use crate::training::Parameters;
use crate::translation::{EntityTable, Translation};

/// GANA with fixed parameters.
pub struct GanaModel {
    gana: Gana,
    parameters: Arc<Parameters>,
}

impl GanaModel {
    pub(super) fn new(gana: Gana, parameters: Arc<Parameters>) -> Self {
        Self { gana, parameters }
    }

    fn distance(&self) -> Hyperplane {
        let GanaConfig { normal_length: length, normal_step: step, .. } = self.gana.config;
        Hyperplane { length, step, is_training: false }
    }

    /// `[R; w]` of a support after the inner step.
    fn relation(&self, support: &Support<'_>) -> Vec<f32> {
        let Gana { config, network, seed, .. } = &self.gana;
        let contrasts = support_contrasts(support, &self.gana.uniform(), config.test_negatives, *seed);
        // The steps of training have other numbers.
        let key = DropoutKey { seed: *seed, step: u64::MAX ^ support.seed, tape: 0 };
        let dropout = config.evaluation_dropout.then_some(key);
        self.gana.with_inputs(&self.parameters, |inputs| {
            let supports = [(support.relation, &contrasts)];
            let pass = network.forward(inputs.weights, inputs.surroundings, &supports, dropout, false);
            inputs.objective(&self.distance()).inner_step(&contrasts, &pass.relations, 1)
        })
    }
}

impl FewShotModel for GanaModel {
    /// # Panics
    /// If the support is empty.
    fn adapt(&self, support: &Support<'_>) -> Result<Box<dyn AdaptedRelation>, SupportError> {
        assert!(!support.pairs.is_empty(), "a relation is learned from at least one pair");
        let mut translation = self.relation(support);
        let normal = translation.split_off(translation.len() / 2);
        let hyperplane = self.distance();
        let rows = ProjectedRows { parameters: Arc::clone(&self.parameters), hyperplane, normal };
        Ok(Box::new(Translation::new(rows, Norm::L2, translation)))
    }
}

/// The rows of entities on the hyperplane of a relation.
struct ProjectedRows {
    parameters: Arc<Parameters>,
    hyperplane: Hyperplane,
    normal: Vec<f32>,
}

impl EntityTable for ProjectedRows {
    fn entity(&self, entity: EntityId) -> Cow<'_, [f32]> {
        let mut row = self.parameters.rows.row(entity).to_vec();
        self.hyperplane.project(&self.normal, &mut row);
        Cow::Owned(row)
    }
}
