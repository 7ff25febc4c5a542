//! `POST /v1/explain`: the reasons for one answer.

use std::sync::Arc;

use axum::extract::State;
use serde::Deserialize;
use utoipa::ToSchema;

use crate::answers::Answers;
use crate::app::App;
use crate::explanation_body::ExplanationBody;
use crate::extractors::Body;
use crate::json_response::JsonResponse;
use crate::problem::Problem;
use crate::relation_question::{RelationBody, RelationQuestion, yes};

/// A request to explain a pair of a relation.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExplainRequest {
    /// A relation of the graph, or a new name.
    relation: Option<String>,
    /// Whether a name that the graph does not have is a new relation; it is an error otherwise.
    #[serde(default)]
    new: bool,
    /// Pairs that are facts of the relation; not needed for a task of the graph.
    #[serde(default)]
    support: Vec<[String; 2]>,
    /// Pairs that are not facts of the relation; the model learns from them.
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
    /// Whether the tail is compared with other tails of the head, or the head with other heads of the tail.
    #[serde(default)]
    answers: Answers,
    /// The name or unique label of the head.
    head: String,
    /// The name or unique label of the tail.
    tail: String,
}

/// Gives the evidence for and against a pair.
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
) -> Result<JsonResponse, Problem> {
    let ExplainRequest {
        relation,
        new,
        support,
        rejected,
        types,
        candidates,
        exclude_known,
        answers,
        head,
        tail,
    } = request;
    let direction = answers.into();
    let asked =
        RelationBody { relation, new, support, rejected, types, candidates, exclude_known, direction };
    let work = {
        let app = Arc::clone(&app);
        move || {
            let [head, tail] = [app.resolve(&head)?, app.resolve(&tail)?];
            let question = RelationQuestion::new(&app, asked)?;
            let learned = app.learn(&question)?;
            JsonResponse::new(&ExplanationBody::from(learned.explain(head, tail)))
        }
    };
    app.computations.run(work).await
}
