//! [`FaanModel`]: FAAN with fixed parameters, turning supports into relations.

use std::sync::Arc;

use rana_fewshot::{AdaptedRelation, FewShotModel, Support, SupportError};

use super::adapted_relation::FaanRelation;
use super::neighbourhood::Neighbourhood;
use super::network::Network;
use crate::training::Parameters;

/// FAAN with fixed parameters.
#[derive(Clone)]
pub(super) struct FaanModel {
    pub(super) network: Arc<Network>,
    pub(super) neighbourhood: Arc<Neighbourhood>,
    pub(super) parameters: Arc<Parameters>,
}

impl FewShotModel for FaanModel {
    /// # Panics
    /// If the support is empty.
    fn adapt(&self, support: &Support<'_>) -> Result<Box<dyn AdaptedRelation>, SupportError> {
        assert!(!support.pairs.is_empty(), "a relation is learned from at least one pair");
        let hidden = self.neighbourhood.hidden(support.relation);
        Ok(Box::new(FaanRelation::new(self.clone(), hidden, support.pairs)))
    }
}
