//! [`MatchedRelation`]: a relation after its support, with what was scored so far.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use rana_fewshot::AdaptedRelation;
use rana_graph::EntityId;
use rayon::prelude::*;

use super::encoded_entities::EncodedEntities;
use super::network::{Network, References};
use super::pair_encoder::PairEncoder;
use super::step::scores;
use crate::tape::{Segments, Tape};

/// Pairs that are scored at once. Their scores do not depend on it.
const CHUNK: usize = 384;
/// Fewer candidates are scored faster than they are looked up.
const FEWEST_KEPT: usize = 64;
/// The most scores and candidates to keep.
const MOST_KEPT: usize = 1 << 23;

/// A relation after its support.
pub(super) struct MatchedRelation<N> {
    entities: Arc<EncodedEntities<N>>,
    /// The references, one row each.
    references: Vec<f32>,
    kept: Mutex<Kept>,
}

/// Scores of heads that may be asked for again: the facts of a task share heads.
#[derive(Default)]
struct Kept {
    /// Lists of candidates that were asked for.
    lists: Vec<Vec<EntityId>>,
    /// By list and head, a score for each candidate.
    scores: HashMap<(usize, EntityId), Arc<[f32]>>,
    /// The numbers in both.
    count: usize,
}

impl Kept {
    /// The number of a list of candidates, unless it is new and there is no room for it.
    fn list(&mut self, candidates: &[EntityId]) -> Option<usize> {
        if let Some(list) = self.lists.iter().position(|list| list == candidates) {
            return Some(list);
        }
        if self.count + candidates.len() > MOST_KEPT {
            return None;
        }
        self.count += candidates.len();
        self.lists.push(candidates.to_vec());
        Some(self.lists.len() - 1)
    }
}

impl<N: Network> MatchedRelation<N> {
    pub(super) fn new(entities: Arc<EncodedEntities<N>>, references: Vec<f32>) -> Self {
        Self { entities, references, kept: Mutex::default() }
    }

    /// The scores of all candidates at some heads.
    ///
    /// Entities with the same neighbours have the same encoding: on NELL-One a third of all candidates. Each distinct
    /// pair of encodings is scored once.
    fn of_heads(&self, heads: &[EntityId], candidates: &[EntityId]) -> Vec<Arc<[f32]>> {
        let network = self.entities.network();
        let (pairs, weights) = (network.pair_encoder(), self.entities.weights());
        let heads = Distinct::new(&self.entities.rows(heads), pairs.dim());
        let tails = Distinct::new(&self.entities.rows(candidates), pairs.dim());
        let mut tape = Tape::forward_only(weights);
        let (head_count, tail_count) = (heads.count(pairs.dim()), tails.count(pairs.dim()));
        let encoded = tape.constant([&heads.rows[..], &tails.rows].concat(), pairs.dim());
        let ends = pairs.ends(&mut tape, encoded);
        let of_head = |head: u32| {
            let mut out = vec![0.0; tail_count];
            out.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, out)| {
                let first = head_count + chunk * CHUNK;
                let tails: Vec<u32> = (first..first + out.len()).map(|tail| tail as u32).collect();
                let mut block = Tape::forward_only(weights);
                let ends = PairEncoder::ends_of(&tape, ends, &mut block);
                let queries = pairs.pairs(&mut block, &ends, vec![head; out.len()], tails);
                let width = 2 * pairs.dim();
                let references = References {
                    rows: block.constant(&self.references[..], width),
                    of_tasks: Segments::of_lengths([self.references.len() / width]),
                    loss: None,
                };
                let found = scores(network, &mut block, queries, &vec![0; out.len()], &references);
                out.copy_from_slice(block.values(found));
            });
            tails.places.iter().map(|&tail| out[tail]).collect::<Arc<[f32]>>()
        };
        let scores: Vec<Arc<[f32]>> = (0..head_count as u32).into_par_iter().map(of_head).collect();
        heads.places.iter().map(|&head| Arc::clone(&scores[head])).collect()
    }
}

/// Rows without those that are equal to the last bit.
struct Distinct {
    rows: Vec<f32>,
    /// Where each of the given rows stands.
    places: Vec<usize>,
}

impl Distinct {
    fn new(all: &[f32], dim: usize) -> Self {
        let (mut rows, mut seen): (Vec<f32>, HashMap<&[u32], usize>) = (Vec::new(), HashMap::new());
        let places = all
            .chunks_exact(dim)
            .map(|row| {
                *seen.entry(bytemuck::cast_slice(row)).or_insert_with(|| {
                    rows.extend_from_slice(row);
                    rows.len() / dim - 1
                })
            })
            .collect();
        Self { rows, places }
    }

    fn count(&self, dim: usize) -> usize {
        self.rows.len() / dim
    }
}

impl<N: Network> AdaptedRelation for MatchedRelation<N> {
    fn kept_bytes(&self) -> usize {
        let count = self.kept.lock().unwrap_or_else(PoisonError::into_inner).count;
        // Encoded entities are mostly shared with the model and other relations.
        count * size_of::<f32>() + self.entities.kept_bytes() / Arc::strong_count(&self.entities)
    }

    fn scores(&self, heads: &[EntityId], candidates: &[EntityId], out: &mut [f32]) {
        if candidates.is_empty() {
            return;
        }
        // No lock is held while scores are computed: see `EncodedEntities`.
        let mut known: HashMap<EntityId, Arc<[f32]>> = HashMap::new();
        let list = Some(candidates).filter(|list| list.len() >= FEWEST_KEPT).and_then(|candidates| {
            let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            let list = kept.list(candidates)?;
            let found =
                heads.iter().filter_map(|&head| Some((head, kept.scores.get(&(list, head))?.clone())));
            known = found.collect();
            Some(list)
        });
        let mut missing: Vec<EntityId> =
            heads.iter().copied().filter(|head| !known.contains_key(head)).collect();
        missing.sort_unstable();
        missing.dedup();
        let computed = self.of_heads(&missing, candidates);
        known.extend(missing.iter().copied().zip(computed.iter().cloned()));
        for (out, head) in out.chunks_exact_mut(candidates.len()).zip(heads) {
            out.copy_from_slice(&known[head]);
        }
        if let Some(list) = list {
            let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            for (head, scores) in missing.into_iter().zip(computed) {
                if kept.count + scores.len() <= MOST_KEPT {
                    kept.count += scores.len();
                    kept.scores.insert((list, head), scores);
                }
            }
        }
    }
}
