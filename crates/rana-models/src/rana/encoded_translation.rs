//! [`EncodedTranslation`]: scores pairs by a translation between their encoded ends.

use rana_fewshot::AdaptedRelation;
use rana_graph::{EntityId, Pair};
use rayon::prelude::*;

use super::encoder::{CHUNK, End};
use super::model::RanaModel;
use crate::real::{add_scaled, dot};

/// A translation between the encoded ends of each pair.
pub(super) struct EncodedTranslation {
    model: RanaModel,
    support: Vec<Pair>,
    relation: Vec<f32>,
}

impl EncodedTranslation {
    pub(super) fn new(model: RanaModel, support: Vec<Pair>, relation: Vec<f32>) -> Self {
        Self { model, support, relation }
    }

    fn score(&self, pairs: &[Pair], out: &mut [f32]) {
        let chunk = self.model.encode_answers(&self.support, pairs);
        for (at, out) in out.iter_mut().enumerate() {
            let mut difference = chunk.encoded(at, End::Head).to_vec();
            add_scaled(&mut difference, 1.0, &self.relation);
            add_scaled(&mut difference, -1.0, chunk.encoded(at, End::Tail));
            *out = -dot(&difference, &difference).sqrt();
        }
    }
}

impl AdaptedRelation for EncodedTranslation {
    fn scores(&self, heads: &[EntityId], candidates: &[EntityId], out: &mut [f32]) {
        let pairs: Vec<Pair> =
            heads.iter().flat_map(|&head| candidates.iter().map(move |&tail| Pair { head, tail })).collect();
        pairs
            .par_chunks(CHUNK)
            .zip(out.par_chunks_mut(CHUNK))
            .for_each(|(pairs, out)| self.score(pairs, out));
    }
}
