//! [`LearnedCache`]: a cache of learned relations.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use rana::predictor::{LearnedRelation, RelationRequest};

use crate::problem::Problem;

/// A cache of the most recently used learned relations, bounded by their number and by their memory.
pub(crate) struct LearnedCache<R = LearnedRelation> {
    kept: Mutex<Kept<R>>,
    most: usize,
    most_bytes: usize,
    bytes: fn(&R) -> usize,
}

struct Kept<R> {
    by_request: HashMap<RelationRequest, Entry<R>>,
    /// Counts requests, to find the least recently used relation.
    clock: u64,
}

struct Entry<R> {
    /// Empty while the relation is being learned; other requests for it wait.
    relation: Arc<OnceLock<Result<Arc<R>, Problem>>>,
    used: u64,
}

impl LearnedCache {
    pub(crate) fn new(most: usize, most_bytes: usize) -> Self {
        Self::measured(most, most_bytes, LearnedRelation::kept_bytes)
    }
}

impl<R> LearnedCache<R> {
    /// A cache of anything whose memory can be told.
    fn measured(most: usize, most_bytes: usize, bytes: fn(&R) -> usize) -> Self {
        Self { kept: Mutex::new(Kept { by_request: HashMap::new(), clock: 0 }), most, most_bytes, bytes }
    }

    /// The relation of a request, if it is in the cache.
    pub(crate) fn ready(&self, request: &RelationRequest) -> Option<Arc<R>> {
        let mut kept = self.lock();
        kept.clock += 1;
        let used = kept.clock;
        let entry = kept.by_request.get_mut(request)?;
        entry.used = used;
        let relation = entry.relation.get()?.as_ref().ok().cloned();
        // Relations grow while they answer.
        self.shrink(&mut kept);
        relation
    }

    /// The relation of a request; `learn` learns it if it is not in the cache.
    pub(crate) fn get(
        &self,
        request: &RelationRequest,
        learn: impl FnOnce() -> Result<R, Problem>,
    ) -> Result<Arc<R>, Problem> {
        let cell = self.cell(request);
        let outcome = cell.get_or_init(|| learn().map(Arc::new)).clone();
        let mut kept = self.lock();
        if outcome.is_err() {
            // Errors are not cached: they are found quickly, and their cause may change.
            kept.by_request.remove(request);
        } else {
            self.shrink(&mut kept);
        }
        outcome
    }

    fn cell(&self, request: &RelationRequest) -> Arc<OnceLock<Result<Arc<R>, Problem>>> {
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

    /// Drops the least recently used relations until the rest fits; the last one stays. Requests that use one keep it.
    fn shrink(&self, kept: &mut Kept<R>) {
        let bytes = |entry: &Entry<R>| match entry.relation.get() {
            Some(Ok(relation)) => (self.bytes)(relation),
            _ => 0,
        };
        let mut total: usize = kept.by_request.values().map(bytes).sum();
        while kept.by_request.len() > self.most || (kept.by_request.len() > 1 && total > self.most_bytes) {
            let oldest = kept.by_request.iter().min_by_key(|(_, entry)| entry.used);
            let Some(request) = oldest.map(|(request, _)| request.clone()) else { break };
            let dropped = kept.by_request.remove(&request);
            total -= dropped.as_ref().map_or(0, bytes).min(total);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Kept<R>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rana::graph::RelationId;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn request(number: u32) -> RelationRequest {
        RelationRequest { relation: Some(RelationId(number)), ..RelationRequest::default() }
    }

    /// Which of the first ten are kept.
    fn kept(cache: &LearnedCache<AtomicUsize>) -> Vec<u32> {
        let kept = cache.lock();
        (0..10).filter(|&number| kept.by_request.contains_key(&request(number))).collect()
    }

    fn get(cache: &LearnedCache<AtomicUsize>, number: u32, bytes: usize) -> Arc<AtomicUsize> {
        cache.get(&request(number), || Ok(AtomicUsize::new(bytes))).unwrap()
    }

    #[test]
    fn memory_is_bounded_and_not_only_the_number() {
        let cache = LearnedCache::measured(5, 1000, |bytes: &AtomicUsize| bytes.load(Ordering::Relaxed));
        (0..7).for_each(|number| drop(get(&cache, number, 10)));
        assert_eq!(kept(&cache), [2, 3, 4, 5, 6]);
        cache.ready(&request(2)).unwrap();
        get(&cache, 7, 965);
        assert_eq!(kept(&cache), [2, 5, 6, 7], "the least recently used ones go");
        // One that is larger than everything is kept alone, and used as any other.
        get(&cache, 8, 5000);
        assert_eq!(kept(&cache), [8]);
        get(&cache, 9, 10);
        assert_eq!(kept(&cache), [9]);
    }

    #[test]
    fn relations_that_grow_are_noticed_when_they_are_used_again() {
        let cache = LearnedCache::measured(5, 1000, |bytes: &AtomicUsize| bytes.load(Ordering::Relaxed));
        let (first, _) = (get(&cache, 0, 10), get(&cache, 1, 10));
        first.store(2000, Ordering::Relaxed);
        cache.ready(&request(0)).unwrap();
        assert_eq!(kept(&cache), [0]);
        let failed = cache.get(&request(3), || Err(Problem::internal("expected by this test")));
        assert!(failed.is_err());
        assert_eq!(kept(&cache), [0]);
    }
}
