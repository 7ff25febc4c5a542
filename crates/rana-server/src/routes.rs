//! All routes of the server, and their OpenAPI description.

use std::sync::{Arc, LazyLock};

use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use tower_http::catch_panic::CatchPanicLayer;
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use crate::mcp::McpAccess;
use crate::problem::{panicked, unknown_route, wrong_method};
use crate::{
    auth, complete, decisions, entities, explain, export, mcp, metrics, page, relate, relations, request_log,
    run_info,
};

#[derive(OpenApi)]
#[openapi(
    info(title = "rana", description = "Learn a relation of a knowledge graph from a handful of facts and complete it."),
    tags(
        (name = "completion", description = "New facts and their reasons"),
        (name = "decisions", description = "Users' verdicts on new facts"),
        (name = "graph", description = "The content of the graph"),
        (name = "server", description = "The server itself"),
        (name = "page", description = "The web page")
    )
)]
struct Description;

/// The routes that need the token, if there is one.
fn protected() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(run_info::run))
        .routes(routes!(entities::search))
        .routes(routes!(entities::detail))
        .routes(routes!(relations::list))
        .routes(routes!(complete::complete))
        .routes(routes!(explain::explain))
        .routes(routes!(relate::relate))
        .routes(routes!(decisions::endpoints::list, decisions::endpoints::decide))
        .routes(routes!(export::export))
        .routes(routes!(metrics::metrics))
}

/// The routes without a token.
fn open() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::with_openapi(Description::openapi())
        .routes(routes!(page::index))
        .routes(routes!(page::part))
        .routes(routes!(run_info::health))
        .routes(routes!(document))
}

/// What a server offers.
#[derive(Clone, Copy)]
pub(crate) enum Surface {
    /// The page and the API.
    Page,
    /// The tools of an agent alone.
    Mcp(McpAccess),
}

impl Surface {
    /// Its routes.
    pub(crate) fn router(self, app: Arc<App>) -> Router {
        match self {
            Self::Page => router(app),
            Self::Mcp(access) => mcp_router(app, access),
        }
    }
}

/// The routes of the API without access checks, for calls from this process.
pub(crate) fn inner(app: Arc<App>) -> Router {
    let (router, _) = protected().split_for_parts();
    router.layer(CatchPanicLayer::custom(panicked)).with_state(app)
}

/// The description of the API as data.
pub(crate) fn description() -> Value {
    // It was JSON before it was text.
    serde_json::from_str(&DOCUMENT).unwrap_or_default()
}

/// The tools of an agent, and health.
fn mcp_router(app: Arc<App>, access: McpAccess) -> Router {
    let tools = mcp::service(inner(Arc::clone(&app)), &description(), access, &app.config.limits);
    let protected = Router::new()
        .route_service(mcp::PATH, tools)
        .layer(from_fn_with_state(Arc::clone(&app), auth::check));
    let (health, _) = OpenApiRouter::new().routes(routes!(run_info::health)).split_for_parts();
    health
        .merge(protected)
        .fallback(unknown_route)
        .method_not_allowed_fallback(wrong_method)
        .layer(CatchPanicLayer::custom(panicked))
        .layer(from_fn_with_state(Arc::clone(&app), metrics::count))
        .layer(from_fn(request_log::log))
        .with_state(app)
}

/// All routes.
pub(crate) fn router(app: Arc<App>) -> Router {
    let protected = protected().layer(from_fn_with_state(Arc::clone(&app), auth::check));
    let (router, _) = open().merge(protected).split_for_parts();
    router
        .fallback(unknown_route)
        .method_not_allowed_fallback(wrong_method)
        .layer(CatchPanicLayer::custom(panicked))
        .layer(from_fn_with_state(Arc::clone(&app), metrics::count))
        .layer(from_fn(page::protect))
        .layer(from_fn(request_log::log))
        .with_state(app)
}

static DOCUMENT: LazyLock<String> = LazyLock::new(|| {
    let (_, description) = open().merge(protected()).split_for_parts();
    // Strings and numbers can always be serialised.
    let mut document = serde_json::to_value(description).unwrap_or_default();
    complete_document(&mut document);
    document.to_string()
});

/// Adds what all routes have in common: problems and the token.
fn complete_document(document: &mut Value) {
    let problem = json!({
        "description": "A problem: what is wrong and what to do about it.",
        "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    });
    for (path, item) in document["paths"].as_object_mut().into_iter().flatten() {
        for operation in item.as_object_mut().into_iter().flatten().map(|(_, operation)| operation) {
            operation["responses"]["default"] = problem.clone();
            if path.starts_with("/v1/") || path == "/metrics" {
                operation["security"] = json!([{}, {"token": []}]);
            }
        }
    }
    document["components"]["securitySchemes"] = json!({
        "token": {
            "type": "http",
            "scheme": "bearer",
            "description": "The token that the server was started with; not needed by a server that only its own machine \
                            can reach and that has no token."
        }
    });
}

/// The OpenAPI 3.1 description of this API.
#[utoipa::path(get, path = "/openapi.json", tag = "server", responses((status = 200, body = serde_json::Value)))]
async fn document() -> Response {
    ([(CONTENT_TYPE, "application/json")], DOCUMENT.as_str()).into_response()
}
