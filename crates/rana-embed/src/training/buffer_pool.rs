//! [`BufferPool`]: buffers that threads take and put back, to save allocations.

use std::sync::Mutex;

/// A pool of buffers that threads take and put back.
pub(crate) struct BufferPool<T>(Mutex<Vec<T>>);

impl<T: Default> BufferPool<T> {
    pub(crate) fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    /// Runs `work` with a buffer of the pool, or with a new one if all are in use.
    pub(crate) fn with<R>(&self, work: impl FnOnce(&mut T) -> R) -> R {
        let mut taken = self.0.lock().ok().and_then(|mut spares| spares.pop()).unwrap_or_default();
        let result = work(&mut taken);
        if let Ok(mut spares) = self.0.lock() {
            spares.push(taken);
        }
        result
    }
}
