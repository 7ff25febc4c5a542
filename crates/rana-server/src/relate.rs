//! `POST /v1/relate`: which relations may hold between two entities.

use std::sync::Arc;

use axum::extract::State;
use rana::graph::Pair;
use rana::{NewRelation, RelateRequest, RelatedBy};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::app::App;
use crate::entity_body::Entity;
use crate::extractors::Body;
use crate::json_response::JsonResponse;
use crate::problem::Problem;
use crate::relation_question::{LONGEST_RELATION, yes};

/// The most new relations of a request.
const MOST_NEW: usize = 20;

/// A request for the relations between two entities.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RelateBody {
    /// The name or unique label of the head.
    head: String,
    /// The name or unique label of the tail.
    tail: String,
    /// The most relations that are answered.
    #[serde(default = "ten")]
    top: usize,
    /// Whether relations are answered that the graph states between the two.
    #[serde(default = "yes")]
    include_known: bool,
    /// Relations that the graph does not have, considered beside its own.
    #[serde(default)]
    new: Vec<NewRelationBody>,
}

/// A relation that the graph does not have.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewRelationBody {
    /// What it is called.
    name: String,
    /// Pairs that are facts of it.
    support: Vec<[String; 2]>,
}

fn ten() -> usize {
    10
}

/// The relations that may hold between two entities.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Related {
    /// The head.
    head: Entity,
    /// The tail.
    tail: Entity,
    /// The likeliest first.
    relations: Vec<RelatedByBody>,
}

/// A relation that may hold between two entities.
#[derive(Debug, Serialize, ToSchema)]
struct RelatedByBody {
    /// Its name.
    relation: String,
    /// What to call it.
    label: String,
    /// Whether it is a relation of the graph.
    in_graph: bool,
    /// The probability that it holds, given that some relation holds from head to tail; null if it was not learned.
    confidence: Option<f32>,
    /// What relations are ranked by; higher is better.
    score: f64,
    /// Whether the graph states it.
    known: bool,
    /// What speaks for it, strongest first.
    reasons: Vec<String>,
}

impl From<RelatedBy> for RelatedByBody {
    fn from(of: RelatedBy) -> Self {
        let RelatedBy { relation, label, in_graph, confidence, score, known, reasons } = of;
        Self { relation, label, in_graph, confidence, score, known, reasons }
    }
}

/// Ranks the relations that may hold between two entities.
#[utoipa::path(
    post,
    path = "/v1/relate",
    tag = "completion",
    request_body = RelateBody,
    responses((status = 200, body = Related))
)]
pub(crate) async fn relate(
    State(app): State<Arc<App>>,
    Body(request): Body<RelateBody>,
) -> Result<JsonResponse, Problem> {
    check(&app, &request)?;
    let work = {
        let app = Arc::clone(&app);
        move || {
            let [head, tail] = [app.resolve(&request.head)?, app.resolve(&request.tail)?];
            let pair = |[head, tail]: &[String; 2]| -> Result<Pair, Problem> {
                Ok(Pair { head: app.resolve(head)?, tail: app.resolve(tail)? })
            };
            let new = request.new.iter().map(|new| {
                let support = new.support.iter().map(pair).collect::<Result<_, Problem>>()?;
                Ok(NewRelation { name: new.name.clone(), support })
            });
            let asked = RelateRequest {
                top: request.top,
                include_known: request.include_known,
                new: new.collect::<Result<_, Problem>>()?,
            };
            let relations = app.predictor.relate(head, tail, &asked)?;
            let graph = app.predictor.graph();
            let [head, tail] = [head, tail].map(|entity| Entity::new(graph, entity));
            let relations = relations.into_iter().map(RelatedByBody::from).collect();
            JsonResponse::new(&Related { head, tail, relations })
        }
    };
    app.computations.run(work).await
}

/// Checks everything that needs no model.
fn check(app: &App, request: &RelateBody) -> Result<(), Problem> {
    let limits = &app.config.limits;
    if !(1..=limits.top).contains(&request.top) {
        let detail = format!("top is {}; expected 1 to {}.", request.top, limits.top);
        return Err(Problem::unprocessable("Wrong top", detail));
    }
    if request.new.len() > MOST_NEW {
        let detail = format!("new has {} relations; give at most {MOST_NEW}.", request.new.len());
        return Err(Problem::unprocessable("Too many relations", detail));
    }
    for new in &request.new {
        if new.name.is_empty() || new.name.len() > LONGEST_RELATION {
            let detail = format!("Expected a relation name of 1 to {LONGEST_RELATION} bytes.");
            return Err(Problem::unprocessable("Wrong relation", detail));
        }
        if new.support.len() > limits.supports {
            let detail =
                format!("support has {} pairs; give at most {}.", new.support.len(), limits.supports);
            return Err(Problem::unprocessable("Too many pairs", detail));
        }
    }
    Ok(())
}
