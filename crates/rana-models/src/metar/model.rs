//! [`MetarModel`]: MetaR with fixed parameters, turning supports into relations.

use std::sync::Arc;

use rana_embed::Norm;
use rana_fewshot::{AdaptedRelation, FewShotModel, Support, SupportError};

use super::config::MetarConfig;
use super::learner::{Learner, Mode};
use super::step::{mean_relation, pair_rows};
use crate::relation_meta::{Objective, Translated, support_contrasts};
use crate::training::{Parameters, UniformNegatives};
use crate::translation::Translation;

/// MetaR with fixed parameters.
pub struct MetarModel {
    pub(super) config: MetarConfig,
    pub(super) learner: Arc<Learner>,
    pub(super) negatives: UniformNegatives,
    pub(super) seed: u64,
    pub(super) parameters: Arc<Parameters>,
}

impl MetarModel {
    /// The relation of a support after the inner step (eq. 6).
    fn relation(&self, support: &Support<'_>) -> Vec<f32> {
        let parameters = &*self.parameters;
        let choice = self.config.test_negatives;
        let contrasts = support_contrasts(support, &self.negatives, choice, self.seed);
        let shots = self.learner.shots();
        let (input, places) = pair_rows(&parameters.rows, std::iter::once(&contrasts), shots);
        let pass =
            self.learner.forward(&parameters.weights, &parameters.buffers, input, &places, Mode::Evaluate);
        let relation = mean_relation(&pass.output, self.learner.dim);
        let objective = Objective {
            settings: self.config.losses(),
            distance: &Translated,
            rows: &parameters.rows,
            row_width: self.learner.dim,
        };
        objective.inner_step(&contrasts, &relation, 1)
    }
}

impl FewShotModel for MetarModel {
    /// # Panics
    /// If the support is empty.
    fn adapt(&self, support: &Support<'_>) -> Result<Box<dyn AdaptedRelation>, SupportError> {
        assert!(!support.pairs.is_empty(), "a relation is learned from at least one pair");
        let relation = self.relation(support);
        Ok(Box::new(Translation::new(Arc::clone(&self.parameters), Norm::L2, relation)))
    }
}
