//! [`ComputationQueue`]: a queue of CPU-bound work, which runs on its own threads, a few at a time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use axum::http::StatusCode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;
use tokio::sync::Semaphore;

use crate::problem::Problem;
use crate::served_files::check_files;

/// Runs a few computations at a time. Others wait, up to a limit.
pub(crate) struct ComputationQueue {
    turns: Arc<Semaphore>,
    waiting: AtomicUsize,
    queue: usize,
    time: Duration,
    metrics: QueueMetrics,
}

/// What is counted of a queue.
#[derive(Clone, Default)]
pub(crate) struct QueueMetrics {
    /// Computations that run now.
    pub(crate) in_flight: Gauge,
    /// Requests that wait now.
    pub(crate) waiting: Gauge,
    /// Requests that were refused because too many waited, or that took too long.
    pub(crate) refused: Counter,
}

/// Counts a waiting request until it is dropped, also if its client disconnects.
struct Waiting<'a>(&'a ComputationQueue);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::Relaxed);
        self.0.metrics.waiting.dec();
    }
}

/// Counts a running computation until it is dropped, also if it panics.
struct InFlight(Gauge);

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.dec();
    }
}

/// Whether the client of a computation no longer waits for it.
#[derive(Clone, Default)]
pub(crate) struct Abandoned(Arc<AtomicBool>);

impl Abandoned {
    /// Fails if the client no longer waits.
    pub(crate) fn check(&self) -> Result<(), Problem> {
        match self.0.load(Ordering::Relaxed) {
            false => Ok(()),
            true => Err(Problem::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "Abandoned",
                "The client no longer waits for this answer.",
            )),
        }
    }
}

struct AbandonOnDrop(Abandoned);

impl Drop for AbandonOnDrop {
    fn drop(&mut self) {
        self.0.0.store(true, Ordering::Relaxed);
    }
}

impl ComputationQueue {
    pub(crate) fn new(at_a_time: usize, queue: usize, time: Duration, metrics: QueueMetrics) -> Self {
        let turns = Arc::new(Semaphore::new(at_a_time));
        Self { turns, waiting: AtomicUsize::new(0), queue, time, metrics }
    }

    /// Runs `work` when a slot is free. It runs to its end, even if its client has disconnected.
    pub(crate) async fn run<T, F>(&self, work: F) -> Result<T, Problem>
    where
        F: FnOnce() -> Result<T, Problem> + Send + 'static,
        T: Send + 'static,
    {
        self.run_until_abandoned(|_| work()).await
    }

    /// Runs `work` when a slot is free. It may ask whether its time is over or its client has disconnected, and end early.
    pub(crate) async fn run_until_abandoned<T, F>(&self, work: F) -> Result<T, Problem>
    where
        F: FnOnce(&Abandoned) -> Result<T, Problem> + Send + 'static,
        T: Send + 'static,
    {
        match tokio::time::timeout(self.time, self.in_turn(work)).await {
            Ok(outcome) => outcome,
            Err(_) => {
                self.metrics.refused.inc();
                let detail = format!(
                    "There was no answer within {} seconds. Ask for fewer heads or candidates, or try again later.",
                    self.time.as_secs()
                );
                Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, "Took too long", detail).retry_after(10))
            }
        }
    }

    async fn in_turn<T, F>(&self, work: F) -> Result<T, Problem>
    where
        F: FnOnce(&Abandoned) -> Result<T, Problem> + Send + 'static,
        T: Send + 'static,
    {
        let turn = match Arc::clone(&self.turns).try_acquire_owned() {
            Ok(turn) => turn,
            Err(_) => self.wait().await?,
        };
        self.metrics.in_flight.inc();
        let in_flight = InFlight(self.metrics.in_flight.clone());
        let abandoned = Abandoned::default();
        // Dropped with this future: at its end, when its time is over, or when the client disconnects.
        let _on_drop = AbandonOnDrop(abandoned.clone());
        let task = tokio::task::spawn_blocking(move || {
            let _until_done = (turn, in_flight);
            check_files()?;
            work(&abandoned)
        });
        match task.await {
            Ok(outcome) => outcome,
            Err(_) => Err(Problem::internal(
                "The computation failed. This is a bug; please report it with the request that led \
                 to it.",
            )),
        }
    }

    async fn wait(&self) -> Result<tokio::sync::OwnedSemaphorePermit, Problem> {
        let busy = |title, detail: &str| {
            Problem::new(StatusCode::SERVICE_UNAVAILABLE, title, detail.to_owned()).retry_after(1)
        };
        let ahead = self.waiting.fetch_add(1, Ordering::Relaxed);
        self.metrics.waiting.inc();
        let _waiting = Waiting(self);
        if ahead >= self.queue {
            self.metrics.refused.inc();
            return Err(busy(
                "Too busy",
                "Too many requests are waiting for their answers. Try again in a moment.",
            ));
        }
        let turn = Arc::clone(&self.turns).acquire_owned().await;
        turn.map_err(|_| busy("Stopping", "The server is being stopped."))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    fn computations(queue: usize, time: Duration) -> Arc<ComputationQueue> {
        Arc::new(ComputationQueue::new(1, queue, time, QueueMetrics::default()))
    }

    #[tokio::test]
    async fn those_that_find_the_queue_full_are_turned_away() {
        let computations = computations(1, Duration::from_secs(60));
        let (release, held) = mpsc::channel::<()>();
        let (begin, begun) = tokio::sync::oneshot::channel();
        let hold = tokio::spawn({
            let computations = Arc::clone(&computations);
            async move {
                computations
                    .run(move || {
                        let _ = begin.send(());
                        let _ = held.recv();
                        Ok(1)
                    })
                    .await
            }
        });
        begun.await.unwrap();
        assert_eq!(computations.metrics.in_flight.get(), 1);
        let second = tokio::spawn({
            let computations = Arc::clone(&computations);
            async move { computations.run(|| Ok(2)).await }
        });
        while computations.waiting.load(Ordering::Relaxed) == 0 {
            tokio::task::yield_now().await;
        }
        let refused = computations.run(|| Ok(3)).await.unwrap_err();
        assert_eq!(serde_json::to_value(&refused).unwrap()["status"], 503);
        release.send(()).unwrap();
        assert_eq!((hold.await.unwrap(), second.await.unwrap()), (Ok(1), Ok(2)));
        assert_eq!(computations.run(|| Ok(4)).await, Ok(4));
        assert_eq!(
            (computations.metrics.in_flight.get(), computations.waiting.load(Ordering::Relaxed)),
            (0, 0)
        );
    }

    #[tokio::test]
    async fn a_panic_or_a_long_wait_gives_the_turn_back() {
        let patient = computations(8, Duration::from_secs(60));
        let broken = patient.run(|| -> Result<(), Problem> { panic!("expected by this test") }).await;
        assert_eq!(serde_json::to_value(broken.unwrap_err()).unwrap()["status"], 500);
        assert_eq!(patient.run(|| Ok(5)).await, Ok(5));

        let hasty = computations(8, Duration::from_millis(50));
        let (release, held) = mpsc::channel::<()>();
        let late = hasty
            .run(move || {
                let _ = held.recv();
                Ok(())
            })
            .await;
        assert_eq!(serde_json::to_value(late.unwrap_err()).unwrap()["title"], "Took too long");
        assert_eq!(hasty.turns.available_permits(), 0);
        release.send(()).unwrap();
        while hasty.turns.available_permits() == 0 {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn a_computation_learns_that_its_time_is_over() {
        let hasty = computations(8, Duration::from_millis(50));
        let (end, ended) = mpsc::channel();
        let late = hasty
            .run_until_abandoned(move |abandoned| {
                while abandoned.check().is_ok() {
                    std::thread::sleep(Duration::from_millis(5));
                }
                let _ = end.send(());
                Ok(())
            })
            .await;
        assert!(late.is_err());
        tokio::task::spawn_blocking(move || ended.recv_timeout(Duration::from_secs(30)).unwrap())
            .await
            .unwrap();
    }
}
