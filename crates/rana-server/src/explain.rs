//! Why an answer is one.

use std::sync::Arc;

use axum::extract::State;
use serde::Deserialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::explanation_body::ExplanationBody;
use crate::extract::Body;
use crate::json::JsonBytes;
use crate::problem::Problem;
use crate::relation_question::{RelationBody, RelationQuestion, yes};

/// A relation, and a pair that it may hold for.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExplainRequest {
    /// A relation of the graph, or any new name.
    relation: Option<String>,
    /// Pairs that it holds for; a task of the graph needs none.
    #[serde(default)]
    support: Vec<[String; 2]>,
    /// Pairs that it does not hold for: what is learned leads away from them.
    #[serde(default)]
    rejected: Vec<[String; 2]>,
    /// Compare only with tails that have one of these types.
    #[serde(default)]
    types: Vec<String>,
    /// Compare only with these tails.
    #[serde(default)]
    candidates: Vec<String>,
    /// Whether facts of the graph are left out of the comparison.
    #[serde(default = "yes")]
    exclude_known: bool,
    /// The name or unique label of the head.
    head: String,
    /// The name or unique label of the tail.
    tail: String,
}

/// Says what speaks for a pair and what against it.
#[utoipa::path(
    post,
    path = "/v1/explain",
    tag = "completion",
    request_body = ExplainRequest,
    responses((status = 200, body = ExplanationBody))
)]
pub(crate) async fn explain(
    State(app): State<Arc<App>>,
    Body(request): Body<ExplainRequest>,
) -> Result<JsonBytes, Problem> {
    let ExplainRequest { relation, support, rejected, types, candidates, exclude_known, head, tail } =
        request;
    let asked = RelationBody { relation, support, rejected, types, candidates, exclude_known };
    let work = {
        let app = Arc::clone(&app);
        move || {
            let [head, tail] = [app.resolve(&head)?, app.resolve(&tail)?];
            let question = RelationQuestion::new(&app, asked)?;
            let learned = app.learn(&question)?;
            JsonBytes::new(&ExplanationBody::from(learned.explain(head, tail)))
        }
    };
    app.computations.run(work).await
}
