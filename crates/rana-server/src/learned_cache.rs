//! [`Learned`]: relations that were learned, kept for the next request about them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use rana::predictor::{LearnedRelation, RelationRequest};

use crate::problem::Problem;

/// All candidates of the relations that are kept, beyond which those used longest ago are dropped.
const MOST_CANDIDATES: usize = 32 * 1024 * 1024;

/// Relations that were learned, those asked for most recently.
pub(crate) struct Learned {
    kept: Mutex<Kept>,
    most: usize,
}

#[derive(Default)]
struct Kept {
    by_request: HashMap<RelationRequest, Entry>,
    /// Counts requests, so that the least recent is known.
    clock: u64,
}

type Relation = Arc<LearnedRelation>;

struct Entry {
    /// Empty while it is being learned; other requests for the same relation wait.
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

impl Learned {
    pub(crate) fn new(most: usize) -> Self {
        Self { kept: Mutex::default(), most }
    }

    /// The relation of a request, if it was learned before.
    pub(crate) fn ready(&self, request: &RelationRequest) -> Option<Relation> {
        let mut kept = self.lock();
        kept.clock += 1;
        let used = kept.clock;
        let entry = kept.by_request.get_mut(request)?;
        entry.used = used;
        entry.relation.get()?.as_ref().ok().cloned()
    }

    /// The relation of a request, learned by `learn` if it is not there.
    pub(crate) fn get(
        &self,
        request: &RelationRequest,
        learn: impl FnOnce() -> Result<LearnedRelation, Problem>,
    ) -> Result<Relation, Problem> {
        let cell = self.cell(request);
        let outcome = cell.get_or_init(|| learn().map(Arc::new)).clone();
        if outcome.is_err() {
            // Failing is quick, and what it depended on may change.
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

    /// Drops the least recently used until the rest fits; requests that use one keep it.
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
