//! `/v1/entities`: search of entities by name, and the neighbours of an entity.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use rana::graph::{EntityId, Graph};
use rana::search::Match;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::app::App;
use crate::entity_body::Entity;
use crate::extractors::{Name, Params};
use crate::json_response::JsonResponse;
use crate::problem::Problem;

/// The most entities in a response.
const MOST_FOUND: usize = 100;
const MOST_NEIGHBOURS: usize = 10_000;
/// Longer queries are cut to this length.
const LONGEST_QUERY: usize = 1000;

/// The parameters of a search.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct SearchParams {
    /// A name or label, its beginning, or the beginning of a word in it. It may be misspelled.
    #[serde(default)]
    q: String,
    /// The most results, up to 100.
    #[serde(default = "ten")]
    limit: usize,
}

fn ten() -> usize {
    10
}

/// The parameters of a request for an entity.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct NeighbourParams {
    /// The most neighbours, up to 10000.
    #[serde(default = "fifty")]
    limit: usize,
}

fn fifty() -> usize {
    50
}

/// The entities found, best first.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct FoundEntities {
    /// The entities.
    entities: Vec<FoundEntity>,
}

/// An entity that was found.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct FoundEntity {
    #[serde(flatten)]
    entity: Entity,
    /// The names of its types.
    types: Vec<String>,
    /// The number of its facts.
    degree: usize,
    /// How its name or label matches the query.
    #[serde(rename = "match")]
    matched: MatchKind,
}

/// How well a name or label matches a query, best first.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum MatchKind {
    /// It equals the query.
    Exact,
    /// It begins with the query.
    Prefix,
    /// One of its later words begins with the query.
    Word,
    /// It is similar to the query.
    Fuzzy,
}

impl From<Match> for MatchKind {
    fn from(matched: Match) -> Self {
        match matched {
            Match::Exact => Self::Exact,
            Match::Prefix => Self::Prefix,
            Match::Word => Self::Word,
            Match::Fuzzy => Self::Fuzzy,
        }
    }
}

/// An entity and its neighbours.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct EntityDetail {
    #[serde(flatten)]
    entity: Entity,
    /// The names of its types.
    types: Vec<String>,
    /// The number of its facts.
    degree: usize,
    /// Its facts, in the order of the graph.
    neighbours: Vec<Neighbour>,
    /// Whether it has more facts than these.
    truncated: bool,
}

/// A fact seen from one of its ends.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Neighbour {
    /// The relation.
    relation: String,
    /// Whether this entity is the tail of the fact.
    inverse: bool,
    /// The entity at the other end.
    entity: Entity,
}

/// Searches entities by name or label.
#[utoipa::path(
    get,
    path = "/v1/entities",
    tag = "graph",
    params(SearchParams),
    responses((status = 200, body = FoundEntities))
)]
pub(crate) async fn search(
    State(app): State<Arc<App>>,
    Params(params): Params<SearchParams>,
) -> Result<JsonResponse, Problem> {
    let work = {
        let app = Arc::clone(&app);
        move || {
            let graph = &app.predictor.store().graph;
            let SearchParams { q, limit } = params;
            let query: String = q.chars().take(LONGEST_QUERY).collect();
            let found = app.predictor.names().find(graph, &query, limit.min(MOST_FOUND));
            let listed: Vec<EntityId> = found.iter().map(|found| found.entity).collect();
            let entities = found
                .iter()
                .zip(Entity::list(graph, &listed))
                .map(|(found, entity)| FoundEntity {
                    entity,
                    types: types(graph, found.entity),
                    degree: graph.degree(found.entity),
                    matched: found.matched.into(),
                })
                .collect();
            JsonResponse::new(&FoundEntities { entities })
        }
    };
    app.quick.run(work).await
}

/// An entity and its neighbours.
#[utoipa::path(
    get,
    path = "/v1/entities/{name}",
    tag = "graph",
    params(("name" = String, Path, description = "Its name or unique label, percent-encoded."), NeighbourParams),
    responses(
        (status = 200, body = EntityDetail),
        (status = 404, body = Problem, content_type = "application/problem+json")
    )
)]
pub(crate) async fn detail(
    State(app): State<Arc<App>>,
    Name(name): Name,
    Params(params): Params<NeighbourParams>,
) -> Result<JsonResponse, Problem> {
    let work = {
        let app = Arc::clone(&app);
        move || {
            let graph = &app.predictor.store().graph;
            let entity = app
                .resolve(&name)
                .map_err(|unresolved| Problem::from(unresolved).with_status(StatusCode::NOT_FOUND))?;
            let edges = graph.neighbours(entity);
            let limit = params.limit.min(MOST_NEIGHBOURS);
            let neighbours = edges.iter().take(limit).map(|edge| Neighbour {
                relation: graph.relation_name(edge.relation).to_owned(),
                inverse: edge.relation.is_inverse(),
                entity: Entity::new(graph, edge.entity),
            });
            JsonResponse::new(&EntityDetail {
                entity: Entity::new(graph, entity),
                types: types(graph, entity),
                degree: edges.len(),
                neighbours: neighbours.collect(),
                truncated: edges.len() > limit,
            })
        }
    };
    app.quick.run(work).await
}

fn types(graph: &Graph, entity: EntityId) -> Vec<String> {
    graph.types(entity).iter().map(|of| graph.type_names().name(of.0).to_owned()).collect()
}
