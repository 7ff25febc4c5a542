//! [`Server`]: takes connections, answers them, and stops without losing anything.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use rana::predictor::{Predictor, PredictorError};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio::sync::Semaphore;
use tokio_io_timeout::TimeoutStream;

use crate::app::App;
use crate::computation_queue::Computations;
use crate::config::{Limits, ServerConfig};
use crate::decisions::{JournalError, Keeper, TornEnd};
use crate::learned_cache::Learned;
use crate::metrics::Metrics;
use crate::relations::RelationTable;
use crate::routes::router;
use crate::run_info::RunInfo;

/// The head of a request may have so many bytes.
const HEAD_BYTES: usize = 64 * 1024;
/// Lookups at a time for each computation at a time: they take milliseconds.
const LOOKUPS: usize = 4;
/// How long to wait when the system has no connection left.
const EXHAUSTED: Duration = Duration::from_millis(50);

/// Why a server cannot be started.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// The run cannot be used.
    #[error(transparent)]
    Predictor(#[from] PredictorError),
    /// The decisions cannot be kept.
    #[error(transparent)]
    Decisions(#[from] JournalError),
    /// The address cannot be listened on.
    #[error(
        "{address}: cannot listen here: {source}. Stop what listens here already, or choose another address or port"
    )]
    Bind {
        /// The address.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// The system refuses threads or signals.
    #[error("the server cannot be started: {0}")]
    System(io::Error),
}

/// A server that listens already.
pub struct Server {
    runtime: Runtime,
    listener: TcpListener,
    address: SocketAddr,
    app: Arc<App>,
}

impl Server {
    /// Makes a run ready and listens; requests are answered once it [runs](Self::run).
    ///
    /// # Errors
    /// If the run cannot be used, its decisions cannot be kept, or the address is taken.
    pub fn bind(predictor: Predictor, config: ServerConfig) -> Result<Self, ServerError> {
        let decisions = Keeper::open(&config.decisions)?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            // Each waits for a turn before it takes a thread, so there are never more.
            .max_blocking_threads(config.limits.computations * (LOOKUPS + 1) + 1)
            .thread_name("rana-http")
            .enable_all()
            .build()
            .map_err(ServerError::System)?;
        let bind = |source| ServerError::Bind { address: config.address, source };
        let listener = runtime.block_on(TcpListener::bind(config.address)).map_err(bind)?;
        let address = listener.local_addr().map_err(bind)?;

        let metrics = Metrics::new();
        let Limits { computations, queue, learned, .. } = config.limits;
        let time = config.limits.request_time();
        let app = App {
            run: RunInfo::new(&predictor, &config.limits),
            relations: RelationTable::new(predictor.store()),
            predictor,
            decisions,
            learned: Learned::new(learned),
            computations: Computations::new(computations, queue, time, metrics.computations.clone()),
            quick: Computations::new(computations * LOOKUPS, queue * LOOKUPS, time, metrics.lookups.clone()),
            metrics,
            config,
        };
        let app = Arc::new(app);
        std::thread::Builder::new()
            .name("names".to_owned())
            .spawn({
                let app = Arc::clone(&app);
                move || {
                    // Millions of names take some seconds; requests that need them wait.
                    let _ = app.predictor.names();
                }
            })
            .map_err(ServerError::System)?;
        Ok(Self { runtime, listener, address, app })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// How many decisions the file held when it was opened.
    #[must_use]
    pub fn decisions_found(&self) -> usize {
        self.app.decisions.found
    }

    /// The end of the file that was no whole decision when it was opened, and where it is now.
    #[must_use]
    pub fn decisions_torn(&self) -> Option<&TornEnd> {
        self.app.decisions.torn.as_ref()
    }

    /// Answers requests until the process is interrupted or terminated.
    ///
    /// # Errors
    /// If the system refuses to tell about signals.
    pub fn run(self) -> Result<(), ServerError> {
        let stop = {
            let _runtime = self.runtime.enter();
            signalled().map_err(ServerError::System)?
        };
        self.run_until(stop);
        Ok(())
    }

    /// Answers requests until `stop` is ready, then those that were begun, and keeps their decisions.
    pub fn run_until(self, stop: impl Future<Output = ()>) {
        let Self { runtime, listener, app, .. } = self;
        let router = router(Arc::clone(&app));
        runtime.block_on(accept(listener, &router, &app.config.limits, stop));
        app.decisions.close();
        // A computation without a client need not end.
        runtime.shutdown_background();
    }
}

/// Takes connections until `stop` is ready, then waits for their requests to be answered.
async fn accept(listener: TcpListener, router: &Router, limits: &Limits, stop: impl Future<Output = ()>) {
    let mut stop = pin!(stop);
    let graceful = GracefulShutdown::new();
    let places = Arc::new(Semaphore::new(limits.connections));
    loop {
        let next = async {
            // Never closed, so there is always a place in the end.
            let place = Arc::clone(&places).acquire_owned().await.ok();
            (place, listener.accept().await)
        };
        let (place, stream) = tokio::select! {
            () = &mut stop => break,
            (place, accepted) = next => match accepted {
                Ok((stream, _)) => (place, stream),
                Err(_) => {
                    tokio::time::sleep(EXHAUSTED).await;
                    continue;
                }
            },
        };
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            // Also ends connections that stay open without asking for anything.
            .header_read_timeout(limits.read_time())
            .max_buf_size(HEAD_BYTES)
            .serve_connection(TokioIo::new(timed(stream, limits)), TowerToHyperService::new(router.clone()));
        let connection = graceful.watch(connection);
        tokio::spawn(async move {
            // A client that disconnects or sends nonsense affects no other.
            let _ = connection.await;
            drop(place);
        });
    }
    drop(listener);
    // Reading, computing and being read each have a limit; a request takes at most their sum.
    let longest = limits.request_time() + 2 * limits.read_time();
    let _ = tokio::time::timeout(longest, graceful.shutdown()).await;
}

/// A connection to a client that has to take what it asked for.
fn timed(stream: TcpStream, limits: &Limits) -> std::pin::Pin<Box<TimeoutStream<TcpStream>>> {
    // Without it small answers may wait for the client's acknowledgement; all else works as well.
    let _ = stream.set_nodelay(true);
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(limits.read_time()));
    Box::pin(stream)
}

/// Is ready after Ctrl-C or a termination signal.
fn signalled() -> io::Result<impl Future<Output = ()>> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut terminate = signal(SignalKind::terminate())?;
        Ok(async move {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
        })
    }
    #[cfg(not(unix))]
    {
        let mut interrupt = tokio::signal::windows::ctrl_c()?;
        Ok(async move {
            let _ = interrupt.recv().await;
        })
    }
}
