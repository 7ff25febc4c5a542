//! `/v1/relations`: the relations of the graph and its tasks.

use std::cmp::Reverse;
use std::sync::Arc;

use axum::extract::State;
use rana::graph::{Graph, Pair, RelationId, Split, Store};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::app::App;
use crate::entity_body::Entity;
use crate::extractors::Params;
use crate::json_response::JsonResponse;
use crate::problem::Problem;

/// How many facts of a relation are shown.
const EXAMPLES: usize = 5;
const MOST_FOUND: usize = 1000;

/// The parameters of a search.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct RelationParams {
    /// Text that a name or label must contain; empty for all relations.
    #[serde(default)]
    q: String,
    /// The most results, up to 1000.
    #[serde(default = "fifty")]
    limit: usize,
}

fn fifty() -> usize {
    50
}

/// The relations found. Those that equal or begin with the query come first, then those with the most facts.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct FoundRelations {
    /// The relations.
    relations: Vec<FoundRelation>,
}

/// A relation.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct FoundRelation {
    /// Its name.
    name: String,
    /// Its label, or its name if it has none.
    label: String,
    /// The number of its facts in the graph or in its task.
    facts: usize,
    /// The split of its task, if it is a task.
    task: Option<SplitName>,
    /// Some of its facts.
    examples: Vec<ExamplePair>,
}

/// A split of a benchmark.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum SplitName {
    /// The model was trained on it.
    Train,
    /// Settings were chosen on it.
    Dev,
    /// Nothing was trained or chosen on it.
    Test,
}

impl From<Split> for SplitName {
    fn from(split: Split) -> Self {
        match split {
            Split::Train => Self::Train,
            Split::Dev => Self::Dev,
            Split::Test => Self::Test,
        }
    }
}

/// A fact of a relation.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ExamplePair {
    /// The head.
    head: Entity,
    /// The tail.
    tail: Entity,
}

/// All relations with their facts and examples, collected once.
pub(crate) struct RelationTable(Vec<Row>);

struct Row {
    relation: RelationId,
    facts: usize,
    task: Option<Split>,
    examples: Vec<Pair>,
}

impl RelationTable {
    pub(crate) fn new(store: &Store) -> Self {
        let Store { graph, tasks, .. } = store;
        let row = |number| Row {
            relation: RelationId::forward(number),
            facts: 0,
            task: None,
            examples: Vec::new(),
        };
        let mut rows: Vec<Row> = (0..graph.named_relation_count() as u32).map(row).collect();
        for fact in graph.facts() {
            rows[fact.relation.number()].add(Pair { head: fact.head, tail: fact.tail });
        }
        for task in tasks.iter() {
            let row = &mut rows[task.relation.number()];
            row.task = Some(task.split);
            task.facts.iter().for_each(|pair| row.add(*pair));
        }
        // Some relations occur only in filters; they have no facts to show or to learn from.
        rows.retain(|row| row.facts > 0);
        rows.sort_by_key(|row| (Reverse(row.facts), row.relation));
        Self(rows)
    }

    fn find(&self, graph: &Graph, query: &str, limit: usize) -> Vec<FoundRelation> {
        let query = query.trim().to_lowercase();
        let fit = |row: &&Row| {
            let name = graph.relation_name(row.relation).to_lowercase();
            let label = graph.relation_label(row.relation).unwrap_or_default().to_lowercase();
            let fit = |text: &str| {
                let at = text.find(&query)?;
                Some((at > 0, text.len() > query.len()))
            };
            fit(&name).into_iter().chain(fit(&label)).min()
        };
        let mut found: Vec<_> = self.0.iter().filter_map(|row| Some((fit(&row)?, row))).collect();
        if !query.is_empty() {
            found.sort_by_key(|(fit, _)| *fit);
        }
        found.into_iter().take(limit).map(|(_, row)| row.shown(graph)).collect()
    }
}

impl Row {
    fn add(&mut self, pair: Pair) {
        self.facts += 1;
        if self.examples.len() < EXAMPLES {
            self.examples.push(pair);
        }
    }

    fn shown(&self, graph: &Graph) -> FoundRelation {
        let name = graph.relation_name(self.relation);
        let entity = |entity| Entity::new(graph, entity);
        let examples =
            self.examples.iter().map(|pair| ExamplePair { head: entity(pair.head), tail: entity(pair.tail) });
        FoundRelation {
            name: name.to_owned(),
            label: graph.relation_label(self.relation).unwrap_or(name).to_owned(),
            facts: self.facts,
            task: self.task.map(SplitName::from),
            examples: examples.collect(),
        }
    }
}

/// The relations of the graph and its tasks.
#[utoipa::path(
    get,
    path = "/v1/relations",
    tag = "graph",
    params(RelationParams),
    responses((status = 200, body = FoundRelations))
)]
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    Params(params): Params<RelationParams>,
) -> Result<JsonResponse, Problem> {
    let work = {
        let app = Arc::clone(&app);
        move || {
            let graph = &app.predictor.store().graph;
            let relations = app.relations.find(graph, &params.q, params.limit.min(MOST_FOUND));
            JsonResponse::new(&FoundRelations { relations })
        }
    };
    app.quick.run(work).await
}
