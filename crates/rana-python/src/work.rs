//! [`run`]: work on another thread, while this one keeps Python alive.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use pyo3::prelude::*;

use crate::failure::{Failure, Outcome};
use crate::progress::{Shown, Watch};
use crate::threads::pool;

/// How often Ctrl-C is looked for.
const TICK: Duration = Duration::from_millis(50);
/// How long interrupted work may take to end before Python goes on without it. With the tick this is less than half a second.
const PATIENCE: Duration = Duration::from_millis(300);

/// Interrupted work that has not ended yet: it stops at its next check, and keeps what is done.
static ENDING: Mutex<Vec<JoinHandle<()>>> = Mutex::new(Vec::new());

/// How work is run and shown.
pub(crate) struct Way {
    /// How many threads; as many as processors if not given.
    pub(crate) threads: Option<usize>,
    pub(crate) shown: Shown,
}

/// Runs `work` without the GIL. Ctrl-C asks it to stop and raises `KeyboardInterrupt` within half a second, and so does an
/// exception of what shows the progress.
///
/// If the work needs longer to stop, it goes on ending in the background: its data is its own.
pub(crate) fn run<T: Send + 'static>(
    py: Python<'_>,
    way: Way,
    work: impl FnOnce(&Watch) -> Outcome<T> + Send + 'static,
) -> PyResult<T> {
    let Way { threads, mut shown } = way;
    let pool = pool(threads).map_err(|failure| failure.into_exception(py))?;
    let watch = Arc::new(Watch::default());
    let (sender, mut receiver) = sync_channel(1);
    let worker = {
        let watch = Arc::clone(&watch);
        std::thread::Builder::new().name("rana".to_owned()).spawn(move || {
            let done = catch_unwind(AssertUnwindSafe(|| pool.install(|| work(&watch))));
            // After an interrupt it may be that no one waits for it.
            let _ = sender.send(done.unwrap_or_else(|panic| Err(Failure::panic(&*panic))));
        })?
    };
    loop {
        let waited;
        (receiver, waited) = py.detach(move || {
            let waited = receiver.recv_timeout(TICK);
            (receiver, waited)
        });
        let stopped = match waited {
            Ok(done) => {
                shown.end(py, &watch)?;
                return done.map_err(|failure| failure.into_exception(py));
            }
            Err(RecvTimeoutError::Disconnected) => {
                return Err(Failure::new("InternalError", "a thread ended early").into_exception(py));
            }
            Err(RecvTimeoutError::Timeout) => {
                py.check_signals().and_then(|()| shown.update(py, &watch)).err()
            }
        };
        if let Some(stopped) = stopped {
            watch.stop();
            let ended =
                py.detach(move || !matches!(receiver.recv_timeout(PATIENCE), Err(RecvTimeoutError::Timeout)));
            if !ended {
                ENDING.lock().unwrap_or_else(PoisonError::into_inner).push(worker);
            }
            // The interrupt is what is told, whatever else goes wrong.
            let _ = shown.end(py, &watch);
            return Err(stopped);
        }
    }
}

/// Waits until work that was interrupted has ended, so that what it keeps is on disk.
///
/// Learning does so before it begins, and Python at its exit.
#[pyfunction]
pub(crate) fn wait_for_interrupted_work(py: Python<'_>) -> PyResult<()> {
    loop {
        {
            let mut ending = ENDING.lock().unwrap_or_else(PoisonError::into_inner);
            ending.retain(|worker| !worker.is_finished());
            if ending.is_empty() {
                return Ok(());
            }
        }
        py.detach(|| std::thread::sleep(TICK));
        py.check_signals()?;
    }
}
