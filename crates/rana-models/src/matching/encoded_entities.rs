//! [`EncodedEntities`]: entities encoded once, when they are first asked for.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use rana_graph::EntityId;
use rayon::prelude::*;

use super::neighbourhoods::{Neighbourhoods, Seen, Tables};
use super::network::Network;
use crate::tape::Tape;
use crate::training::Parameters;

/// Entities that are encoded at once. Their encodings do not depend on it.
const CHUNK: usize = 256;
/// The most numbers to keep; more would fill the memory of a server.
const MOST_KEPT: usize = 1 << 26;

/// Entities as one relation sees them, encoded when they are first asked for.
pub(super) struct EncodedEntities<N> {
    network: Arc<N>,
    neighbourhoods: Arc<Neighbourhoods>,
    parameters: Arc<Parameters>,
    hidden: Option<usize>,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    places: HashMap<EntityId, usize>,
    rows: Vec<f32>,
}

impl<N: Network> EncodedEntities<N> {
    /// None yet. `hidden` is the relation whose edges are not seen.
    pub(super) fn new(
        network: Arc<N>,
        neighbourhoods: Arc<Neighbourhoods>,
        parameters: Arc<Parameters>,
        hidden: Option<usize>,
    ) -> Self {
        Self { network, neighbourhoods, parameters, hidden, kept: Mutex::default() }
    }

    /// The same without what was encoded, for another relation.
    pub(super) fn hiding(&self, hidden: Option<usize>) -> Self {
        let (network, neighbourhoods) = (Arc::clone(&self.network), Arc::clone(&self.neighbourhoods));
        Self::new(network, neighbourhoods, Arc::clone(&self.parameters), hidden)
    }

    pub(super) fn network(&self) -> &N {
        &self.network
    }

    pub(super) fn weights(&self) -> &[f32] {
        &self.parameters.weights
    }

    /// The memory of what was encoded, in bytes.
    pub(super) fn kept_bytes(&self) -> usize {
        size_of_val(&self.kept.lock().unwrap_or_else(PoisonError::into_inner).rows[..])
    }

    /// The encoded rows of entities, one behind the other.
    ///
    /// The lock is not held while entities are encoded: a thread that waits for others there may begin another task
    /// that asks for the same lock.
    pub(super) fn rows(&self, entities: &[EntityId]) -> Vec<f32> {
        let dim = self.network.pair_encoder().dim();
        let mut rows = vec![0.0; entities.len() * dim];
        let mut missing = Vec::new();
        {
            let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            for (at, entity) in entities.iter().enumerate() {
                match kept.places.get(entity) {
                    Some(place) => rows[at * dim..(at + 1) * dim]
                        .copy_from_slice(&kept.rows[place * dim..(place + 1) * dim]),
                    None => missing.push((at, *entity)),
                }
            }
        }
        let found: Vec<Vec<f32>> = missing.par_chunks(CHUNK).map(|chunk| self.encode(chunk)).collect();
        let found = found.concat();
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        for ((at, entity), row) in missing.into_iter().zip(found.chunks_exact(dim)) {
            rows[at * dim..(at + 1) * dim].copy_from_slice(row);
            if kept.rows.len() < MOST_KEPT && !kept.places.contains_key(&entity) {
                let place = kept.rows.len() / dim;
                kept.places.insert(entity, place);
                kept.rows.extend_from_slice(row);
            }
        }
        rows
    }

    fn encode(&self, entities: &[(usize, EntityId)]) -> Vec<f32> {
        let parameters = &*self.parameters;
        let seen: Vec<Seen> =
            entities.iter().map(|&(_, entity)| Seen { entity, hidden: self.hidden }).collect();
        let tables =
            Tables { rows: &parameters.rows, relations: &parameters.relations, dim: parameters.rows.dim() };
        let mut tape = Tape::forward_only(&parameters.weights);
        let slots = self.neighbourhoods.slots(&mut tape, tables, &seen);
        let encoded = self.network.encode(&mut tape, &slots);
        tape.values(encoded).to_vec()
    }
}
