//! Entities by name, and what is around them.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use rana::graph::{EntityId, Graph};
use rana::search::Match;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::app::App;
use crate::entity_body::Entity;
use crate::extract::{Name, Params};
use crate::json::JsonBytes;
use crate::problem::Problem;

/// More than a person reads.
const MOST_FOUND: usize = 100;
const MOST_NEIGHBOURS: usize = 10_000;
/// A longer query finds what its beginning finds.
const LONGEST_QUERY: usize = 1000;

/// What to look for.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct SearchParams {
    /// A name or label, or the beginning of one, or of a word in one; it may be misspelled.
    #[serde(default)]
    q: String,
    /// At most so many, up to 100.
    #[serde(default = "ten")]
    limit: usize,
}

fn ten() -> usize {
    10
}

/// How many neighbours are wanted.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct NeighbourParams {
    /// At most so many, up to 10000.
    #[serde(default = "fifty")]
    limit: usize,
}

fn fifty() -> usize {
    50
}

/// Entities that were found, the best first.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct FoundEntities {
    /// The entities.
    entities: Vec<FoundEntity>,
}

/// An entity that was found.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct FoundEntity {
    /// Its name in the graph, which no other has.
    name: String,
    /// Its label, or its name if it has none.
    label: String,
    /// The names of its types.
    types: Vec<String>,
    /// In how many facts it takes part.
    degree: usize,
    /// What was found of it.
    #[serde(rename = "match")]
    matched: MatchKind,
}

/// How well a name or label fits a query, the best first.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum MatchKind {
    /// It is the query.
    Exact,
    /// It begins with the query.
    Prefix,
    /// The query begins at one of its later words.
    Word,
    /// Words of it are nearly the query.
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

/// An entity and what is around it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct EntityDetail {
    /// Its name in the graph, which no other has.
    name: String,
    /// Its label, or its name if it has none.
    label: String,
    /// The names of its types.
    types: Vec<String>,
    /// In how many facts it takes part.
    degree: usize,
    /// Those facts, in the order of the graph.
    neighbours: Vec<Neighbour>,
    /// Whether there are more.
    truncated: bool,
}

/// A fact seen from one of its ends.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Neighbour {
    /// The relation.
    relation: String,
    /// Whether the fact ends here.
    inverse: bool,
    /// The other end.
    entity: Entity,
}

/// Entities by name or label.
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
) -> Result<JsonBytes, Problem> {
    let work = {
        let app = Arc::clone(&app);
        move || {
            let graph = &app.predictor.store().graph;
            let SearchParams { q, limit } = params;
            let query: String = q.chars().take(LONGEST_QUERY).collect();
            let found = app.predictor.names().find(graph, &query, limit.min(MOST_FOUND)).into_iter();
            let entities = found
                .map(|found| {
                    let Entity { name, label } = Entity::new(graph, found.entity);
                    let types = types(graph, found.entity);
                    FoundEntity {
                        name,
                        label,
                        types,
                        degree: graph.degree(found.entity),
                        matched: found.matched.into(),
                    }
                })
                .collect();
            JsonBytes::new(&FoundEntities { entities })
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
) -> Result<JsonBytes, Problem> {
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
            let Entity { name, label } = Entity::new(graph, entity);
            JsonBytes::new(&EntityDetail {
                name,
                label,
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
