//! [`pool`]: the threads that work runs on.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use rayon::ThreadPool;

use crate::failure::{Failure, Outcome};

/// The pools of this process, by process and number of threads. Threads do not survive a fork, so a child process, such as a
/// worker of `multiprocessing`, starts its own.
static POOLS: Mutex<Vec<Kept>> = Mutex::new(Vec::new());

struct Kept {
    process: u32,
    pools: HashMap<usize, Arc<ThreadPool>>,
}

/// A pool of so many threads, or as many as processors.
pub(crate) fn pool(threads: Option<usize>) -> Outcome<Arc<ThreadPool>> {
    let threads = threads.unwrap_or(0);
    let mut kept = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
    let process = std::process::id();
    let at = kept.iter().position(|of| of.process == process).unwrap_or_else(|| {
        kept.push(Kept { process, pools: HashMap::new() });
        kept.len() - 1
    });
    let pools = &mut kept[at].pools;
    if let Some(pool) = pools.get(&threads) {
        return Ok(Arc::clone(pool));
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool =
        Arc::new(pool.map_err(|error| Failure::new("RanaError", format!("cannot start threads: {error}")))?);
    pools.insert(threads, Arc::clone(&pool));
    Ok(pool)
}
