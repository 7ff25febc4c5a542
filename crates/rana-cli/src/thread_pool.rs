//! The threads of a command.

use crate::error::CliError;

/// Runs `work` in a pool of `threads` threads, or as many as processors.
pub(crate) fn in_pool<T: Send>(threads: Option<u16>, work: impl FnOnce() -> T + Send) -> Result<T, CliError> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.unwrap_or(0).into()).build();
    let pool = pool.map_err(|error| CliError::Usage(format!("cannot start the threads: {error}")))?;
    Ok(pool.install(work))
}
