//! `/v1/decisions`: receives users' verdicts on answers, and lists them.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::decision::{Draft, Verdict};
use super::decision_index::KeptDecision;
use super::decision_writer::NotKept;
use crate::app::App;
use crate::entity_body::Entity;
use crate::extractors::{Body, Params};
use crate::json_response::JsonResponse;
use crate::problem::Problem;
use crate::relation_question::LONGEST_RELATION;

/// The parameters of a list of decisions.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct DecisionParams {
    /// Only decisions about facts of this relation.
    relation: Option<String>,
}

/// The verdicts that are not withdrawn.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Decisions {
    /// In the order they were made.
    decisions: Vec<DecisionBody>,
}

/// A verdict that is not withdrawn.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = KeptDecision)]
pub(crate) struct DecisionBody {
    /// The number of the decision; increases with every decision.
    number: u64,
    /// The name of the relation.
    relation: String,
    /// The head of the fact.
    head: Entity,
    /// The tail of the fact.
    tail: Entity,
    /// The verdict.
    verdict: Verdict,
    /// The score that the answer had.
    score: Option<f64>,
    /// The confidence that the answer had.
    confidence: Option<f64>,
    /// The time of the decision, in UTC.
    time: String,
}

/// A verdict to save.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewDecision {
    /// The name of the relation.
    relation: String,
    /// The name or unique label of the head.
    head: String,
    /// The name or unique label of the tail.
    tail: String,
    /// The verdict.
    verdict: Verdict,
    /// The score that the answer had.
    score: Option<f64>,
    /// The confidence that the answer had.
    confidence: Option<f64>,
}

/// The number of a saved decision.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Numbered {
    /// The number of the decision; increases with every decision.
    number: u64,
}

/// The latest verdict on each fact, unless it was withdrawn.
#[utoipa::path(
    get,
    path = "/v1/decisions",
    tag = "decisions",
    params(DecisionParams),
    responses((status = 200, body = Decisions))
)]
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    Params(params): Params<DecisionParams>,
) -> Result<JsonResponse, Problem> {
    let work = {
        let app = Arc::clone(&app);
        move || {
            let graph = &app.predictor.store().graph;
            let relation = params.relation.as_deref().map(|text| app.decided_relation(text));
            // Other requests do not wait while names are looked up.
            let decisions: Vec<Arc<KeptDecision>> =
                app.decisions.read(|index| index.of(relation.as_deref()).cloned().collect());
            let body = |decision: &Arc<KeptDecision>| DecisionBody {
                number: decision.number,
                relation: decision.relation().to_owned(),
                head: Entity::named(graph, decision.head()),
                tail: Entity::named(graph, decision.tail()),
                verdict: decision.verdict,
                score: decision.score,
                confidence: decision.confidence,
                time: decision.time().to_owned(),
            };
            let decisions = decisions.iter().map(body).collect();
            JsonResponse::new(&Decisions { decisions })
        }
    };
    app.quick.run(work).await
}

/// Saves a verdict. The response is sent once it is on disk.
#[utoipa::path(
    post,
    path = "/v1/decisions",
    tag = "decisions",
    request_body = NewDecision,
    responses((status = 201, body = Numbered))
)]
pub(crate) async fn decide(
    State(app): State<Arc<App>>,
    Body(new): Body<NewDecision>,
) -> Result<Response, Problem> {
    let NewDecision { relation, head, tail, verdict, score, confidence } = new;
    if relation.is_empty() || relation.len() > LONGEST_RELATION || relation.chars().any(char::is_control) {
        return Err(Problem::unprocessable(
            "Wrong relation",
            format!("Expected a relation name of 1 to {LONGEST_RELATION} bytes without line breaks or tabs."),
        ));
    }
    let is_number = |score: f64| (score as f32).is_finite();
    if !score.is_none_or(is_number) || !confidence.is_none_or(|sure| (0.0..=1.0).contains(&sure)) {
        let detail =
            "Expected a score that a 32-bit number can hold, and a confidence from 0 to 1, or neither.";
        return Err(Problem::unprocessable("Wrong number", detail));
    }
    let resolve = {
        let app = Arc::clone(&app);
        move || {
            let graph = &app.predictor.store().graph;
            let name = |text: &str| app.resolve(text).map(|entity| graph.entity_name(entity).to_owned());
            Ok((app.decided_relation(&relation), name(&head)?, name(&tail)?))
        }
    };
    let (relation, head, tail) = app.quick.run(resolve).await?;
    let draft = Draft { relation, head, tail, verdict, score, confidence };
    match app.decisions.keep(draft).await {
        Ok(number) => {
            app.metrics.decisions.inc();
            Ok((StatusCode::CREATED, JsonResponse::new(&Numbered { number })?).into_response())
        }
        Err(NotKept::Stopping) => {
            let detail = "The server is being stopped; the decision was not saved. Send it again when the server is back.";
            Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, "Stopping", detail).retry_after(5))
        }
        Err(NotKept::Disk(why)) => Err(Problem::internal(format!(
            "The decision was not saved, because it could not be written: {why}. Check the disk, then send it again."
        ))),
    }
}
