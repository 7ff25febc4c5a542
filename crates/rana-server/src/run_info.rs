//! What the server serves: the run, its graph, and what may be asked for.

use std::sync::Arc;

use axum::extract::State;
use rana::answers::AnswerFormat;
use rana::graph::{Split, Task};
use rana::predictor::Predictor;
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::config::Limits;
use crate::json::JsonBytes;
use crate::problem::Problem;

/// Heads of the example.
const EXAMPLE_HEADS: usize = 5;

/// What the server serves.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct RunInfo {
    /// Where the run is.
    run: String,
    /// The name of the model.
    model: String,
    /// The support size that the model was trained or measured with.
    shots: usize,
    /// The size of the graph.
    graph: GraphInfo,
    /// How it is known how sure answers are.
    confidence: ConfidenceInfo,
    /// The formats of exports.
    formats: Vec<&'static str>,
    /// A question to begin with, if the graph has a task.
    example: Option<Example>,
    /// How much may be asked for at once.
    limits: LimitInfo,
}

/// The size of a graph.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct GraphInfo {
    entities: usize,
    relations: usize,
    facts: usize,
}

/// How it is known how sure answers are.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct ConfidenceInfo {
    /// How many tasks it was learned on.
    tasks: usize,
    /// How many answers.
    answers: u64,
    /// The mean distance between what is said and what is so, on tasks it was not learned on.
    ece: Option<f64>,
    /// Why it is not known, if it is not.
    note: Option<&'static str>,
}

/// A question to begin with.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Example {
    relation: String,
    /// Pairs that the relation holds for.
    support: Vec<[String; 2]>,
    /// Entities to complete.
    heads: Vec<String>,
}

/// How much may be asked for at once.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct LimitInfo {
    /// Pairs of a support.
    supports: usize,
    /// Heads of a request.
    heads: usize,
    /// Answers for each head.
    top: usize,
    /// Answers of a request in all.
    answers: usize,
    /// Answers of a request in all when each is explained.
    explanations: usize,
}

impl RunInfo {
    pub(crate) fn new(predictor: &Predictor, limits: &Limits) -> Self {
        let run = &predictor.run().path;
        let store = predictor.store();
        let graph = &store.graph;
        let confidence = match predictor.calibration() {
            Some(learned) => ConfidenceInfo {
                tasks: learned.tasks,
                answers: learned.answers,
                ece: Some(learned.reliability.expected_error),
                note: None,
            },
            None => ConfidenceInfo {
                tasks: 0,
                answers: 0,
                ece: None,
                note: Some(
                    "too few examples to say: the run had too few tasks to learn how sure answers are",
                ),
            },
        };
        Self {
            run: run.display().to_string(),
            model: predictor.model_name().to_owned(),
            shots: predictor.shots(),
            graph: GraphInfo {
                entities: graph.entity_count(),
                relations: graph.relation_count(),
                facts: graph.facts().len(),
            },
            confidence,
            formats: AnswerFormat::ALL.iter().map(|format| format.name()).collect(),
            example: Example::new(predictor),
            limits: LimitInfo {
                supports: limits.supports,
                heads: limits.heads,
                top: limits.top,
                answers: limits.answers,
                explanations: limits.explanations,
            },
        }
    }
}

impl Example {
    /// Of the least seen task that has facts beyond a support.
    fn new(predictor: &Predictor) -> Option<Self> {
        let store = predictor.store();
        let shots = predictor.shots();
        let splits = [Split::Test, Split::Dev, Split::Train];
        let task = splits
            .into_iter()
            .flat_map(|split| store.tasks.of(split))
            .find(|task: &Task<'_>| task.facts.len() > shots)?;
        let name = |entity| store.graph.entity_name(entity).to_owned();
        let (support, rest) = task.facts.split_at(shots);
        let mut heads: Vec<String> = Vec::new();
        for head in rest.iter().map(|pair| name(pair.head)) {
            if heads.len() < EXAMPLE_HEADS && !heads.contains(&head) {
                heads.push(head);
            }
        }
        Some(Self {
            relation: store.graph.relation_name(task.relation).to_owned(),
            support: support.iter().map(|pair| [name(pair.head), name(pair.tail)]).collect(),
            heads,
        })
    }
}

/// What the server serves, and what may be asked for.
#[utoipa::path(get, path = "/v1/run", tag = "server", responses((status = 200, body = RunInfo)))]
pub(crate) async fn run(State(app): State<Arc<App>>) -> Result<JsonBytes, Problem> {
    JsonBytes::new(&app.run)
}

/// Whether the server is there.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Health {
    /// Always `ok`.
    status: &'static str,
}

/// Answers as long as the server is there.
#[utoipa::path(get, path = "/healthz", tag = "server", responses((status = 200, body = Health)))]
pub(crate) async fn health() -> Result<JsonBytes, Problem> {
    JsonBytes::new(&Health { status: "ok" })
}
