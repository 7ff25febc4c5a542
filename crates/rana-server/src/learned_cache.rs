//! [`LearnedCache`]: a cache of learned relations.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use rana::predictor::{LearnedRelation, RelationRequest};

use crate::problem::Problem;

/// The most candidates of all cached relations together. Beyond it, the least recently used are dropped.
const MOST_CANDIDATES: usize = 32 * 1024 * 1024;

/// A cache of the most recently used learned relations.
pub(crate) struct LearnedCache {
    kept: Mutex<Kept>,
    most: usize,
}

#[derive(Default)]
struct Kept {
    by_request: HashMap<RelationRequest, Entry>,
    /// Counts requests, to find the least recently used relation.
    clock: u64,
}

type Relation = Arc<LearnedRelation>;

struct Entry {
    /// Empty while the relation is being learned; other requests for it wait.
    relation: Arc<OnceLock<Result<Relation, Problem>>>,
    used: u64,
}

impl Entry {
    fn candidates(&self) -> usize {
        match self.relation.get() {
            Some(Ok(relation)) => relation.candidates().len(),
            _ => 0,
        }
    }
}

impl LearnedCache {
    pub(crate) fn new(most: usize) -> Self {
        Self { kept: Mutex::default(), most }
    }

    /// The relation of a request, if it is in the cache.
    pub(crate) fn ready(&self, request: &RelationRequest) -> Option<Relation> {
        let mut kept = self.lock();
        kept.clock += 1;
        let used = kept.clock;
        let entry = kept.by_request.get_mut(request)?;
        entry.used = used;
        entry.relation.get()?.as_ref().ok().cloned()
    }

    /// The relation of a request; `learn` learns it if it is not in the cache.
    pub(crate) fn get(
        &self,
        request: &RelationRequest,
        learn: impl FnOnce() -> Result<LearnedRelation, Problem>,
    ) -> Result<Relation, Problem> {
        let cell = self.cell(request);
        let outcome = cell.get_or_init(|| learn().map(Arc::new)).clone();
        if outcome.is_err() {
            // Errors are not cached: they are found quickly, and their cause may change.
            self.lock().by_request.remove(request);
        } else {
            self.shrink();
        }
        outcome
    }

    fn cell(&self, request: &RelationRequest) -> Arc<OnceLock<Result<Relation, Problem>>> {
        let mut kept = self.lock();
        kept.clock += 1;
        let used = kept.clock;
        let entry = kept
            .by_request
            .entry(request.clone())
            .or_insert_with(|| Entry { relation: Arc::default(), used });
        entry.used = used;
        Arc::clone(&entry.relation)
    }

    /// Drops the least recently used relations until the rest fits. Requests that use one keep it.
    fn shrink(&self) {
        let mut kept = self.lock();
        let candidates = |kept: &Kept| kept.by_request.values().map(Entry::candidates).sum::<usize>();
        while kept.by_request.len() > self.most
            || (kept.by_request.len() > 1 && candidates(&kept) > MOST_CANDIDATES)
        {
            let oldest = kept.by_request.iter().min_by_key(|(_, entry)| entry.used);
            let Some(request) = oldest.map(|(request, _)| request.clone()) else { break };
            kept.by_request.remove(&request);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
