//! [`FaanRelation`]: a relation after its support.
//!
//! What an entity looks like depends on the pair it is in, so each pair of a head and a candidate goes through the encoder
//! and the transformer: FAAN ranks slowly by design. Shared is what can be: see `prepared_entities.rs`. Pairs go through
//! the transformer in blocks, which run in parallel.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use rana_fewshot::AdaptedRelation;
use rana_graph::{EntityId, Pair};
use rayon::prelude::*;

use super::matching::Matching;
use super::model::FaanModel;
use super::neighbourhood::Hidden;
use super::prepared_entities::PreparedEntities;
use crate::tape::{Segments, Tape, Var};

/// Pairs that are scored at once. Their scores do not depend on it.
const BLOCK: usize = 96;
/// Candidates that are prepared at once; more are taken in parts, to bound memory.
const PART: usize = 1 << 16;
/// The most scores to keep.
const MOST_KEPT: usize = 1 << 23;

/// A relation after its support.
pub(super) struct FaanRelation {
    model: FaanModel,
    hidden: Hidden,
    /// The encoded pairs of the support, one row each.
    references: Vec<f32>,
    kept: Mutex<Kept>,
}

/// What the last list of candidates has told: queries of a relation share candidates, and often heads.
#[derive(Default)]
struct Kept {
    candidates: Vec<EntityId>,
    tails: Arc<Vec<PreparedEntities>>,
    /// By head, a score for each candidate.
    scores: HashMap<EntityId, Arc<[f32]>>,
}

impl FaanRelation {
    pub(super) fn new(model: FaanModel, hidden: Hidden, support: &[Pair]) -> Self {
        let mut this = Self { model, hidden, references: Vec::new(), kept: Mutex::default() };
        let [heads, tails] = [|pair: &Pair| pair.head, |pair: &Pair| pair.tail].map(|end| {
            let entities: Vec<EntityId> = support.iter().map(end).collect();
            PreparedEntities::new(&this.model, &entities, hidden)
        });
        let pairs: Vec<(usize, usize)> = (0..support.len()).map(|at| (at, at)).collect();
        let (model, mut tape) = (this.model.clone(), Tape::forward_only(&this.model.parameters.weights));
        let encoded = model.encode(&mut tape, &heads, &tails, &pairs);
        this.references = tape.values(encoded).to_vec();
        this
    }

    fn prepare(&self, candidates: &[EntityId]) -> Vec<PreparedEntities> {
        let blocks = candidates.par_chunks(BLOCK);
        blocks.map(|block| PreparedEntities::new(&self.model, block, self.hidden)).collect()
    }

    /// The score of every candidate for one of the heads.
    fn of_head(&self, heads: &PreparedEntities, head: usize, tails: &[PreparedEntities], out: &mut [f32]) {
        let (weights, width) = (&self.model.parameters.weights, self.model.network.transformer.width());
        out.par_chunks_mut(BLOCK).zip(tails).for_each(|(out, tails)| {
            let pairs: Vec<(usize, usize)> = (0..out.len()).map(|tail| (head, tail)).collect();
            let mut tape = Tape::forward_only(weights);
            let queries = self.model.encode(&mut tape, heads, tails, &pairs);
            let references = tape.constant(&self.references[..], width);
            let matching = Matching {
                queries: Segments::of_lengths([out.len()]),
                references: Segments::of_lengths([self.references.len() / width]),
                scale: self.model.network.config.reference_scale,
            };
            let scores = matching.scores(&mut tape, queries, references);
            out.copy_from_slice(tape.values(scores));
        });
    }

    /// The scores of all candidates for each head.
    fn of_heads(&self, heads: &[EntityId], tails: &[PreparedEntities], count: usize) -> Vec<Arc<[f32]>> {
        let prepared = PreparedEntities::new(&self.model, heads, self.hidden);
        let of_head = |head| {
            let mut out = vec![0.0; count];
            self.of_head(&prepared, head, tails, &mut out);
            Arc::from(out)
        };
        (0..heads.len()).into_par_iter().map(of_head).collect()
    }

    /// Scores candidates of a list that is short enough to be kept.
    fn scores_of_part(&self, heads: &[EntityId], candidates: &[EntityId]) -> HashMap<EntityId, Arc<[f32]>> {
        let mut missing = heads.to_vec();
        missing.sort_unstable();
        missing.dedup();
        let mut known = HashMap::new();
        // No lock is held while something is computed: a thread that waits for others may begin a task that asks for it.
        let tails = {
            let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            (kept.candidates == candidates).then(|| {
                missing.retain(|head| match kept.scores.get(head) {
                    Some(scores) => known.insert(*head, Arc::clone(scores)).is_some(),
                    None => true,
                });
                Arc::clone(&kept.tails)
            })
        };
        if missing.is_empty() {
            return known;
        }
        let tails = tails.unwrap_or_else(|| Arc::new(self.prepare(candidates)));
        let found = self.of_heads(&missing, &tails, candidates.len());
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.candidates != candidates {
            *kept = Kept { candidates: candidates.to_vec(), tails, scores: HashMap::new() };
        }
        for (head, scores) in missing.into_iter().zip(found) {
            if (kept.scores.len() + 1) * candidates.len() <= MOST_KEPT {
                kept.scores.insert(head, Arc::clone(&scores));
            }
            known.insert(head, scores);
        }
        known
    }
}

impl AdaptedRelation for FaanRelation {
    fn scores(&self, heads: &[EntityId], candidates: &[EntityId], out: &mut [f32]) {
        for (number, part) in candidates.chunks(PART).enumerate() {
            let known = self.scores_of_part(heads, part);
            let start = number * PART;
            for (out, head) in out.chunks_exact_mut(candidates.len()).zip(heads) {
                out[start..start + part.len()].copy_from_slice(&known[head]);
            }
        }
    }

    fn kept_bytes(&self) -> usize {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let scores: usize = kept.scores.values().map(|scores| size_of_val(&scores[..])).sum();
        let tails: usize = kept.tails.iter().map(PreparedEntities::bytes).sum();
        scores + tails + size_of_val(&kept.candidates[..])
    }
}

impl FaanModel {
    /// A row for each pair of a prepared head and a prepared tail.
    fn encode<'w>(
        &'w self,
        tape: &mut Tape<'w, f32>,
        heads: &PreparedEntities,
        tails: &PreparedEntities,
        pairs: &[(usize, usize)],
    ) -> Var {
        let encoder = &self.network.encoder;
        let dim = encoder.dim;
        let mut sums = vec![0.0; 2 * pairs.len() * dim];
        let mut entities = Vec::new();
        let (mut weak, mut logits) = (vec![0.0; dim], Vec::new());
        for (&(head, tail), sums) in pairs.iter().zip(sums.chunks_exact_mut(2 * dim)) {
            let (of_head, of_tail) = sums.split_at_mut(dim);
            tails.weak_relation(tail, heads, head, &mut weak);
            for (end, at, to) in [(heads, head, of_head), (tails, tail, of_tail)] {
                end.sum(at, &weak, &self.parameters.relations, &mut logits, to);
                if encoder.norm.is_some() {
                    entities.extend_from_slice(&end.rows[at * dim..(at + 1) * dim]);
                }
            }
        }
        let sums = tape.constant(sums, dim);
        let entities = encoder.norm.is_some().then(|| tape.constant(entities, dim));
        let ends = encoder.output(tape, sums, entities);
        self.network.transformer.encode(tape, ends)
    }
}
