//! [`EncodedTranslation`]: scores pairs by a translation between their encoded ends.

use std::sync::{Arc, Mutex, PoisonError};

use rana_fewshot::AdaptedRelation;
use rana_graph::{EntityId, Pair};
use rayon::prelude::*;

use super::config::RScope;
use super::encoder::{CHUNK, End};
use super::model::RanaModel;
use crate::real::{add_scaled, dot};

/// A translation between the encoded ends of each pair.
pub(super) struct EncodedTranslation {
    model: RanaModel,
    support: Vec<Pair>,
    relation: Vec<f32>,
    /// The candidates that were last asked for, encoded: all queries of an evaluation have the same.
    last_tails: Mutex<Option<Arc<EncodedTails>>>,
}

/// Candidates as they are encoded with `r` over the support, whatever the head.
struct EncodedTails {
    entities: Vec<EntityId>,
    encoded: Vec<f32>,
}

impl EncodedTranslation {
    pub(super) fn new(model: RanaModel, support: Vec<Pair>, relation: Vec<f32>) -> Self {
        Self { model, support, relation, last_tails: Mutex::new(None) }
    }

    /// The score of a pair by what its ends were encoded as.
    fn score(&self, head: &[f32], tail: &[f32]) -> f32 {
        let mut difference = head.to_vec();
        add_scaled(&mut difference, 1.0, &self.relation);
        add_scaled(&mut difference, -1.0, tail);
        -dot(&difference, &difference).sqrt()
    }

    /// Scores pairs whose ends are encoded with the pair's own `r`.
    fn score_pairs(&self, pairs: &[Pair], out: &mut [f32]) {
        let chunk = self.model.encode_answers(&self.support, pairs);
        for (at, out) in out.iter_mut().enumerate() {
            *out = self.score(chunk.encoded(at, End::Head), chunk.encoded(at, End::Tail));
        }
    }

    /// Candidates, encoded once as long as the same are asked for.
    fn tails(&self, candidates: &[EntityId]) -> Arc<EncodedTails> {
        let last = || self.last_tails.lock().unwrap_or_else(PoisonError::into_inner);
        let known = last().clone();
        if let Some(known) = known.filter(|known| known.entities == candidates) {
            return known;
        }
        let encoded = self.model.encode_entities(&self.support, candidates, End::Tail);
        let tails = Arc::new(EncodedTails { entities: candidates.to_vec(), encoded });
        // A single pair is cheap to encode again, and would push out the candidates of all others.
        if candidates.len() > 1 {
            *last() = Some(Arc::clone(&tails));
        }
        tails
    }
}

impl AdaptedRelation for EncodedTranslation {
    fn scores(&self, heads: &[EntityId], candidates: &[EntityId], out: &mut [f32]) {
        match self.model.config().r_scope {
            RScope::Pair => {
                let pairs: Vec<Pair> = heads
                    .iter()
                    .flat_map(|&head| candidates.iter().map(move |&tail| Pair { head, tail }))
                    .collect();
                pairs
                    .par_chunks(CHUNK)
                    .zip(out.par_chunks_mut(CHUNK))
                    .for_each(|(pairs, out)| self.score_pairs(pairs, out));
            }
            RScope::TaskMean => {
                let dim = self.relation.len();
                let tails = self.tails(candidates);
                let heads = self.model.encode_entities(&self.support, heads, End::Head);
                heads.par_chunks_exact(dim).zip(out.par_chunks_exact_mut(candidates.len().max(1))).for_each(
                    |(head, out)| {
                        for (tail, out) in tails.encoded.chunks_exact(dim).zip(out) {
                            *out = self.score(head, tail);
                        }
                    },
                );
            }
        }
    }

    fn kept_bytes(&self) -> usize {
        let last = self.last_tails.lock().unwrap_or_else(PoisonError::into_inner);
        last.as_ref().map_or(0, |of| size_of_val(&of.entities[..]) + size_of_val(&of.encoded[..]))
    }
}
