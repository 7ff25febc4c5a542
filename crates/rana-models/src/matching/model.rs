//! [`MatchingModel`]: a matching network with fixed parameters, turning supports into relations.

use std::sync::Arc;

use rana_fewshot::{AdaptedRelation, FewShotModel, Support, SupportError};
use rana_graph::Pair;

use super::encoded_entities::EncodedEntities;
use super::matched_relation::MatchedRelation;
use super::neighbourhoods::Neighbourhoods;
use super::network::Network;
use crate::tape::{Segments, Tape};

/// A matching network with fixed parameters.
pub(super) struct MatchingModel<N> {
    /// With nothing hidden, as all relations outside of the background see them.
    pub(super) entities: Arc<EncodedEntities<N>>,
    pub(super) neighbourhoods: Arc<Neighbourhoods>,
}

impl<N: Network> FewShotModel for MatchingModel<N> {
    /// # Panics
    /// If the support is empty.
    fn adapt(&self, support: &Support<'_>) -> Result<Box<dyn AdaptedRelation>, SupportError> {
        assert!(!support.pairs.is_empty(), "a relation is learned from at least one pair");
        let entities = match self.neighbourhoods.hidden(support.relation) {
            None => Arc::clone(&self.entities),
            hidden => Arc::new(self.entities.hiding(hidden)),
        };
        let references = references(&entities, support.pairs);
        Ok(Box::new(MatchedRelation::new(entities, references)))
    }
}

/// The references of a support.
fn references<N: Network>(entities: &EncodedEntities<N>, pairs: &[Pair]) -> Vec<f32> {
    let network = entities.network();
    let encoder = network.pair_encoder();
    let ends: Vec<_> = pairs.iter().flat_map(|pair| [pair.head, pair.tail]).collect();
    let rows = entities.rows(&ends);
    let mut tape = Tape::forward_only(entities.weights());
    let encoded = tape.constant(rows, encoder.dim());
    let ends = encoder.ends(&mut tape, encoded);
    let [heads, tails] = [0, 1].map(|end| (0..pairs.len() as u32).map(|pair| 2 * pair + end).collect());
    let supports = encoder.pairs(&mut tape, &ends, heads, tails);
    let references = network.references(&mut tape, supports, &Segments::of_lengths([pairs.len()]));
    tape.values(references.rows).to_vec()
}
