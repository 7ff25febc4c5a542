//! `GET /v1/run` and `GET /healthz`: the run, its graph, and the limits of requests.

use std::path::Path;
use std::sync::Arc;

use axum::extract::State;
use rana::answer_writer::AnswerFormat;
use rana::graph::{Split, Task};
use rana::predictor::Predictor;
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::config::Limits;
use crate::json_response::JsonResponse;
use crate::problem::Problem;

/// Heads of the example.
const EXAMPLE_HEADS: usize = 5;

/// Information about the served run.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct RunInfo {
    /// The directory of the run.
    run: String,
    /// The name of the model.
    model: String,
    /// The support size that the model was trained or evaluated with.
    shots: usize,
    /// The size of the graph.
    graph: GraphInfo,
    /// How confidence was calibrated.
    confidence: ConfidenceInfo,
    /// The formats for exports.
    formats: Vec<&'static str>,
    /// An example question, if the graph has a task.
    example: Option<Example>,
    /// The limits of requests.
    limits: LimitInfo,
}

/// The size of a graph.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct GraphInfo {
    entities: usize,
    relations: usize,
    facts: usize,
}

/// How confidence was calibrated.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct ConfidenceInfo {
    /// The number of tasks it was calibrated on.
    tasks: usize,
    /// The number of answers it was calibrated on.
    answers: u64,
    /// The expected calibration error, on tasks that were not used for the calibration.
    ece: Option<f64>,
    /// Why there is no confidence, if there is none.
    note: Option<&'static str>,
}

/// An example question.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Example {
    relation: String,
    /// Facts of the relation.
    support: Vec<[String; 2]>,
    /// The heads to complete.
    heads: Vec<String>,
}

/// The limits of requests.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct LimitInfo {
    /// The most support pairs of a request.
    supports: usize,
    /// The most heads of a request.
    heads: usize,
    /// The most answers per head.
    top: usize,
    /// The most answers of a request.
    answers: usize,
    /// The most answers of a request if each is explained.
    explanations: usize,
}

/// The last part of a path.
fn name_of(path: &Path) -> String {
    let whole = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    whole.file_name().unwrap_or(whole.as_os_str()).to_string_lossy().into_owned()
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
                note: Some("too few examples to say: the run had too few tasks to calibrate confidence"),
            },
        };
        Self {
            // Clients need not know where it is.
            run: name_of(run),
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
    /// An example from a task that has more facts than a support, preferably of the test split.
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

/// Information about the served run, and the limits of requests.
#[utoipa::path(get, path = "/v1/run", tag = "server", responses((status = 200, body = RunInfo)))]
pub(crate) async fn run(State(app): State<Arc<App>>) -> Result<JsonResponse, Problem> {
    JsonResponse::new(&app.run)
}

/// The health of the server.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Health {
    /// Always `ok`.
    status: &'static str,
}

/// Responds while the server is running.
#[utoipa::path(get, path = "/healthz", tag = "server", responses((status = 200, body = Health)))]
pub(crate) async fn health() -> Result<JsonResponse, Problem> {
    JsonResponse::new(&Health { status: "ok" })
}
