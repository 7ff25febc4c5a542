//! [`Metrics`]: counters and durations for Prometheus.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;

use crate::app::App;
use crate::computation_queue::QueueMetrics;
use crate::problem::Problem;

/// Counters and durations since the start of the server.
pub(crate) struct Metrics {
    registry: Registry,
    requests: Family<Answered, Counter>,
    seconds: Family<Route, Histogram, fn() -> Histogram>,
    /// Completions, explanations and exports.
    pub(crate) computations: QueueMetrics,
    /// Lookups.
    pub(crate) lookups: QueueMetrics,
    /// Decisions that were saved.
    pub(crate) decisions: Counter,
    /// Relations that were learned and not found in the cache.
    pub(crate) learned: Counter,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Answered {
    method: String,
    route: String,
    status: u16,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Route {
    route: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Kind {
    kind: &'static str,
}

impl Metrics {
    pub(crate) fn new() -> Self {
        // From half a millisecond to half a minute.
        let histogram: fn() -> Histogram = || Histogram::new(exponential_buckets(0.0005, 2.0, 17));
        let (running, waiting) = (Family::<Kind, Gauge>::default(), Family::<Kind, Gauge>::default());
        let refused = Family::<Kind, Counter>::default();
        let of = |kind: &'static str| QueueMetrics {
            in_flight: running.get_or_create_owned(&Kind { kind }),
            waiting: waiting.get_or_create_owned(&Kind { kind }),
            refused: refused.get_or_create_owned(&Kind { kind }),
        };
        let mut metrics = Self {
            registry: Registry::with_prefix("rana"),
            requests: Family::default(),
            seconds: Family::new_with_constructor(histogram),
            computations: of("computation"),
            lookups: of("lookup"),
            decisions: Counter::default(),
            learned: Counter::default(),
        };
        let registry = &mut metrics.registry;
        registry.register("http_requests", "Requests that were answered", metrics.requests.clone());
        registry.register("http_request_seconds", "Time to answer requests", metrics.seconds.clone());
        registry.register("computations_in_flight", "Work that runs now", running);
        registry.register("queue_waiting", "Requests that wait for a turn", waiting);
        registry.register("refused", "Requests refused for lack of room, or that took too long", refused);
        registry.register("decisions", "Decisions that were saved", metrics.decisions.clone());
        registry.register("learned_relations", "Relations that were learned", metrics.learned.clone());
        metrics
    }

    fn observe(&self, method: &str, route: &str, status: u16, seconds: f64) {
        let (method, route) = (method.to_owned(), route.to_owned());
        self.seconds.get_or_create(&Route { route: route.clone() }).observe(seconds);
        self.requests.get_or_create(&Answered { method, route, status }).inc();
    }
}

/// Counts a request and measures its duration.
pub(crate) async fn count(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    // Labelled by route, not by path: clients could invent any number of paths.
    let route = request.extensions().get::<MatchedPath>().map_or("unknown", MatchedPath::as_str).to_owned();
    let method = match request.method().as_str() {
        known @ ("GET" | "HEAD" | "POST" | "PUT" | "DELETE" | "PATCH" | "OPTIONS") => known.to_owned(),
        _ => "other".to_owned(),
    };
    let start = Instant::now();
    let response = next.run(request).await;
    app.metrics.observe(&method, &route, response.status().as_u16(), start.elapsed().as_secs_f64());
    response
}

/// Counters and durations for Prometheus, as OpenMetrics text.
#[utoipa::path(
    get,
    path = "/metrics",
    tag = "server",
    responses((status = 200, content_type = "application/openmetrics-text", body = String))
)]
pub(crate) async fn metrics(State(app): State<Arc<App>>) -> Result<Response, Problem> {
    let mut text = String::new();
    encode(&mut text, &app.metrics.registry)
        .map_err(|_| Problem::internal("The counts cannot be written."))?;
    Ok(([(CONTENT_TYPE, "application/openmetrics-text; version=1.0.0; charset=utf-8")], text).into_response())
}
