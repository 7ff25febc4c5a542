//! Every route of the server, and their description, made from the types they use.

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
use crate::problem::{panicked, unknown_route, wrong_method};
use crate::{answer_file, auth, complete, decisions, entities, explain, metrics, page, relations, run_info};

#[derive(OpenApi)]
#[openapi(
    info(title = "rana", description = "Learn a relation of a knowledge graph from a handful of facts and complete it."),
    tags(
        (name = "completion", description = "New facts, and why"),
        (name = "decisions", description = "What people decide about them"),
        (name = "graph", description = "What the graph knows"),
        (name = "server", description = "The server itself"),
        (name = "page", description = "The web page")
    )
)]
struct Description;

/// The routes that need a token where there is one.
fn protected() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(run_info::run))
        .routes(routes!(entities::search))
        .routes(routes!(entities::detail))
        .routes(routes!(relations::list))
        .routes(routes!(complete::complete))
        .routes(routes!(explain::explain))
        .routes(routes!(decisions::list, decisions::decide))
        .routes(routes!(answer_file::export))
        .routes(routes!(metrics::metrics))
}

/// The routes for everybody.
fn open() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::with_openapi(Description::openapi())
        .routes(routes!(page::index))
        .routes(routes!(page::part))
        .routes(routes!(run_info::health))
        .routes(routes!(document))
}

/// All routes, ready to answer.
pub(crate) fn router(app: Arc<App>) -> Router {
    let protected = protected().layer(from_fn_with_state(Arc::clone(&app), auth::check));
    let (router, _) = open().merge(protected).split_for_parts();
    router
        .fallback(unknown_route)
        .method_not_allowed_fallback(wrong_method)
        .layer(CatchPanicLayer::custom(panicked))
        .layer(from_fn_with_state(Arc::clone(&app), metrics::count))
        .layer(from_fn(page::protect))
        .with_state(app)
}

static DOCUMENT: LazyLock<String> = LazyLock::new(|| {
    let (_, description) = open().merge(protected()).split_for_parts();
    // Made of texts and numbers, which always become JSON.
    let mut document = serde_json::to_value(description).unwrap_or_default();
    complete_document(&mut document);
    document.to_string()
});

/// Adds what is the same everywhere: problems and the token.
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
            "description": "The token that the server was started with; a server that only its own machine can reach \
                            may have none."
        }
    });
}

/// This description, as OpenAPI 3.1.
#[utoipa::path(get, path = "/openapi.json", tag = "server", responses((status = 200, body = serde_json::Value)))]
async fn document() -> Response {
    ([(CONTENT_TYPE, "application/json")], DOCUMENT.as_str()).into_response()
}
