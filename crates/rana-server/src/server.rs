//! [`Server`]: accepts connections, answers requests, and stops without losing decisions.

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use axum::Router;
use axum::http::HeaderValue;
use axum::http::header::CONNECTION;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use rana::predictor::{Predictor, PredictorError};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio::sync::Semaphore;
use tokio_io_timeout::TimeoutStream;

use crate::app::App;
use crate::computation_queue::ComputationQueue;
use crate::config::{Limits, ServerConfig};
use crate::connection_policy::ConnectionPolicy;
use crate::decisions::{DecisionWriter, JournalError, TornEnd};
use crate::learned_cache::LearnedCache;
use crate::mcp::{self, McpAccess};
use crate::metrics::Metrics;
use crate::relations::RelationTable;
use crate::routes::{Surface, description, inner};
use crate::run_info::RunInfo;

/// The largest head of a request, in bytes.
const HEAD_BYTES: usize = 64 * 1024;
/// The number of lookups at the same time, per computation; lookups take milliseconds.
const LOOKUPS: usize = 4;
/// The pause after the system has run out of connections.
const EXHAUSTED: Duration = Duration::from_millis(50);

/// Why a server cannot be started.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// The run cannot be used.
    #[error(transparent)]
    Predictor(#[from] PredictorError),
    /// The file of decisions cannot be used.
    #[error(transparent)]
    Decisions(#[from] JournalError),
    /// The server cannot listen on the address.
    #[error(
        "{address}: cannot listen here: {source}. Stop the program that listens here, or choose another address or port"
    )]
    Bind {
        /// The address.
        address: SocketAddr,
        /// Why.
        source: io::Error,
    },
    /// The system provides no threads or signals.
    #[error("the server cannot be started: {0}")]
    System(io::Error),
}

/// A server that is listening.
pub struct Server {
    runtime: Runtime,
    listener: TcpListener,
    address: SocketAddr,
    reloader: Reloader,
}

/// Replaces the run of a server.
#[derive(Clone)]
pub struct Reloader {
    /// What new requests are answered by.
    current: Arc<RwLock<Current>>,
}

/// The state that new requests share, and the routes over it. The state of an earlier run ends with its last request.
struct Current {
    app: Arc<App>,
    surface: Surface,
    router: Router,
}

impl Current {
    fn new(app: Arc<App>, surface: Surface) -> Self {
        Self { router: surface.router(Arc::clone(&app)), surface, app }
    }
}

impl Reloader {
    /// Answers new requests by another run. Requests in progress are answered by the one they began with; decisions,
    /// queues and metrics are kept.
    pub fn reload(&self, predictor: Predictor) {
        // Made before any request has to wait for it.
        let _ = predictor.names();
        let (app, surface) = {
            let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
            (Arc::clone(&current.app), current.surface)
        };
        let other = Current::new(Arc::new(app.with_run(predictor)), surface);
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = other;
    }

    fn app(&self) -> Arc<App> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner).app)
    }

    fn router(&self) -> Router {
        self.current.read().unwrap_or_else(PoisonError::into_inner).router.clone()
    }
}

impl Server {
    /// Prepares a run and listens. Requests are answered once the server [runs](Self::run).
    ///
    /// # Errors
    /// If the run or the file of decisions cannot be used, or the address is taken.
    pub fn bind(predictor: Predictor, config: ServerConfig) -> Result<Self, ServerError> {
        let decisions = DecisionWriter::open(&config.decisions)?;
        Self::bind_surface(predictor, config, decisions, Surface::Page)
    }

    /// The same for agents: tools of the Model Context Protocol over streamable HTTP at `/mcp`, and no page.
    ///
    /// # Errors
    /// As [`bind`](Self::bind).
    pub fn bind_mcp(
        predictor: Predictor,
        config: ServerConfig,
        access: McpAccess,
    ) -> Result<Self, ServerError> {
        let decisions = decisions_of(&config, access)?;
        Self::bind_surface(predictor, config, decisions, Surface::Mcp(access))
    }

    /// Answers one agent over standard input and output until it closes them. Nothing else may be written to standard
    /// output meanwhile.
    ///
    /// # Errors
    /// If the file of decisions cannot be used, or the connection breaks.
    pub fn run_mcp_stdio(
        predictor: Predictor,
        config: ServerConfig,
        access: McpAccess,
    ) -> Result<(), ServerError> {
        let decisions = decisions_of(&config, access)?;
        let runtime = runtime(&config.limits)?;
        let app = Arc::new(app(predictor, config, decisions));
        make_names_ready(&app)?;
        let routes = inner(Arc::clone(&app));
        let ended = runtime.block_on(mcp::over_stdio(routes, &description(), access));
        app.decisions.close();
        // The thread that reads standard input may still wait for a line.
        runtime.shutdown_background();
        ended.map_err(ServerError::System)
    }

    fn bind_surface(
        predictor: Predictor,
        config: ServerConfig,
        decisions: DecisionWriter,
        surface: Surface,
    ) -> Result<Self, ServerError> {
        let runtime = runtime(&config.limits)?;
        let bind = |source| ServerError::Bind { address: config.address, source };
        let listener = runtime.block_on(TcpListener::bind(config.address)).map_err(bind)?;
        let address = listener.local_addr().map_err(bind)?;
        let app = Arc::new(app(predictor, config, decisions));
        make_names_ready(&app)?;
        let current = Current::new(app, surface);
        let reloader = Reloader { current: Arc::new(RwLock::new(current)) };
        Ok(Self { runtime, listener, address, reloader })
    }

    /// The address it listens on.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The number of decisions in the file when it was opened.
    #[must_use]
    pub fn decisions_found(&self) -> usize {
        self.reloader.app().decisions.found
    }

    /// The incomplete end that the file had when it was opened, and where it was saved.
    #[must_use]
    pub fn decisions_torn(&self) -> Option<TornEnd> {
        self.reloader.app().decisions.torn.clone()
    }

    /// Replaces the run while the server runs.
    #[must_use]
    pub fn reloader(&self) -> Reloader {
        self.reloader.clone()
    }

    /// Answers requests until the process is interrupted or terminated. A hang-up signal opens the run again by `reopen`;
    /// if that fails, the server keeps the run it has and logs why.
    ///
    /// # Errors
    /// If the system does not provide signals.
    pub fn run<E: std::error::Error + 'static>(
        self,
        reopen: impl Fn() -> Result<Predictor, E> + Send + Sync + 'static,
    ) -> Result<(), ServerError> {
        let stop = {
            let _runtime = self.runtime.enter();
            reload_at_hang_up(self.reloader(), reopen).map_err(ServerError::System)?;
            signalled().map_err(ServerError::System)?
        };
        self.run_until(stop);
        Ok(())
    }

    /// Answers requests until `stop` is ready. Then finishes open requests and saves their decisions.
    pub fn run_until(self, stop: impl Future<Output = ()>) {
        let Self { runtime, listener, reloader, .. } = self;
        let config = Arc::clone(&reloader.app().config);
        runtime.block_on(accept(listener, &reloader, &config.limits, stop));
        reloader.app().decisions.close();
        // A computation without a client need not finish.
        runtime.shutdown_background();
    }
}

/// The file of decisions, if agents may record any.
fn decisions_of(config: &ServerConfig, access: McpAccess) -> Result<DecisionWriter, ServerError> {
    Ok(if access.decisions { DecisionWriter::open(&config.decisions)? } else { DecisionWriter::none() })
}

fn runtime(limits: &Limits) -> Result<Runtime, ServerError> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        // Each computation waits for a slot before it takes a thread, so there are never more threads. Three are for the
        // reload of a run, standard input and standard output.
        .max_blocking_threads(limits.computations * (LOOKUPS + 1) + 3)
        .thread_name("rana-http")
        .enable_all()
        .build()
        .map_err(ServerError::System)
}

/// The state that all requests share.
fn app(predictor: Predictor, config: ServerConfig, decisions: DecisionWriter) -> App {
    let metrics = Arc::new(Metrics::new());
    let Limits { computations, queue, learned, learned_bytes, .. } = config.limits;
    let time = config.limits.request_time();
    App {
        run: RunInfo::new(&predictor, &config.limits),
        relations: RelationTable::new(predictor.store()),
        predictor,
        decisions: Arc::new(decisions),
        learned: LearnedCache::new(learned, learned_bytes),
        computations: Arc::new(ComputationQueue::new(
            computations,
            queue,
            time,
            metrics.computations.clone(),
        )),
        quick: Arc::new(ComputationQueue::new(
            computations * LOOKUPS,
            queue * LOOKUPS,
            time,
            metrics.lookups.clone(),
        )),
        metrics,
        config: Arc::new(config),
    }
}

/// Makes the index of names in the background.
fn make_names_ready(app: &Arc<App>) -> Result<(), ServerError> {
    let app = Arc::clone(app);
    let thread = std::thread::Builder::new().name("names".to_owned()).spawn(move || {
        // An index of millions of names takes some seconds; requests that need it wait.
        let _ = app.predictor.names();
    });
    thread.map(|_| ()).map_err(ServerError::System)
}

/// Reloads the run at every hang-up signal.
#[cfg(unix)]
fn reload_at_hang_up<E: std::error::Error + 'static>(
    reloader: Reloader,
    reopen: impl Fn() -> Result<Predictor, E> + Send + Sync + 'static,
) -> io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut hang_up = signal(SignalKind::hangup())?;
    let reopen = Arc::new(reopen);
    tokio::spawn(async move {
        while hang_up.recv().await.is_some() {
            let (reloader, reopen) = (reloader.clone(), Arc::clone(&reopen));
            let reloaded = tokio::task::spawn_blocking(move || match reopen() {
                Ok(predictor) => {
                    reloader.reload(predictor);
                    tracing::info!("the run is loaded again");
                }
                Err(error) => {
                    tracing::error!(%error, "the run cannot be loaded again; the server keeps the one it has");
                }
            });
            if reloaded.await.is_err() {
                tracing::error!("loading the run again failed; the server keeps the one it has");
            }
        }
    });
    Ok(())
}

#[cfg(not(unix))]
fn reload_at_hang_up<E: std::error::Error + 'static>(
    _: Reloader,
    _: impl Fn() -> Result<Predictor, E> + Send + Sync + 'static,
) -> io::Result<()> {
    Ok(())
}

/// Accepts connections until `stop` is ready, then waits for open requests.
async fn accept(listener: TcpListener, reloader: &Reloader, limits: &Limits, stop: impl Future<Output = ()>) {
    let mut stop = pin!(stop);
    let graceful = GracefulShutdown::new();
    let places = Arc::new(Semaphore::new(limits.connections));
    let policy = ConnectionPolicy::new(limits.connections);
    loop {
        let next = async {
            // The semaphore is never closed, so this always succeeds in the end.
            let place = Arc::clone(&places).acquire_owned().await.ok();
            (place, listener.accept().await)
        };
        let ((place, connection), stream) = tokio::select! {
            () = &mut stop => break,
            (place, accepted) = next => match accepted {
                Ok((stream, peer)) => match policy.admit(peer) {
                    Some(connection) => ((place, connection), stream),
                    // Its client has enough of them.
                    None => continue,
                },
                Err(_) => {
                    tokio::time::sleep(EXHAUSTED).await;
                    continue;
                }
            },
        };
        let open = Arc::new(connection);
        let service = service_fn({
            let (open, reloader) = (Arc::clone(&open), reloader.clone());
            move |request| {
                let router = TowerToHyperService::new(reloader.router());
                let (is_last, response) = (open.is_last_request(), router.call(request));
                async move {
                    let mut response = response.await?;
                    if is_last {
                        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
                    }
                    Ok::<_, Infallible>(response)
                }
            }
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            // This also closes idle connections.
            .header_read_timeout(limits.read_time())
            .max_buf_size(HEAD_BYTES)
            .serve_connection(TokioIo::new(timed(stream, limits)), service);
        let connection = graceful.watch(connection);
        tokio::spawn(async move {
            // A client that disconnects or sends garbage affects no other client.
            let _ = connection.await;
            drop((place, open));
        });
    }
    drop(listener);
    // Reading, computing and writing each have a time limit, so a request takes at most their sum.
    let longest = limits.request_time() + 2 * limits.read_time();
    let _ = tokio::time::timeout(longest, graceful.shutdown()).await;
}

/// A connection with a time limit for writing, for clients that do not read.
fn timed(stream: TcpStream, limits: &Limits) -> std::pin::Pin<Box<TimeoutStream<TcpStream>>> {
    // Without this, small responses may wait for the client's acknowledgement. A failure is harmless.
    let _ = stream.set_nodelay(true);
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(limits.read_time()));
    Box::pin(stream)
}

/// Ready after Ctrl-C or a termination signal.
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
