//! [`App`]: what all requests share.

use std::sync::{Arc, OnceLock};

use rana::graph::EntityId;
use rana::predictor::{LearnedRelation, Predictor};
use rana::search::{NameIndex, Unresolved};

use crate::computations::Computations;
use crate::config::ServerConfig;
use crate::decisions::Keeper;
use crate::learned::Learned;
use crate::metrics::Metrics;
use crate::problem::Problem;
use crate::relation_question::RelationQuestion;
use crate::relations::RelationTable;
use crate::run::RunInfo;

/// What all requests share.
pub(crate) struct App {
    pub(crate) config: ServerConfig,
    pub(crate) predictor: Predictor,
    pub(crate) run: RunInfo,
    /// Made by a thread of its own once the server listens: millions of names take some seconds.
    pub(crate) index: OnceLock<NameIndex>,
    pub(crate) relations: RelationTable,
    pub(crate) decisions: Keeper,
    pub(crate) learned: Learned,
    /// Completions, explanations and exports.
    pub(crate) computations: Computations,
    /// Lookups while a user types, which must not wait behind them.
    pub(crate) quick: Computations,
    pub(crate) metrics: Metrics,
}

impl App {
    /// The names of the graph; early requests wait for them.
    pub(crate) fn names(&self) -> &NameIndex {
        self.index.get_or_init(|| NameIndex::new(&self.predictor.store().graph))
    }

    /// The entity that a text names.
    pub(crate) fn resolve(&self, text: &str) -> Result<EntityId, Unresolved> {
        let graph = &self.predictor.store().graph;
        // Names need no index.
        graph.entity(text).map_or_else(|| self.names().resolve(graph, text), Ok)
    }

    /// The relation of a question, learned now or before.
    pub(crate) fn learn(&self, question: &RelationQuestion) -> Result<Arc<LearnedRelation>, Problem> {
        self.learned.get(&question.request, || {
            self.metrics.learned.inc();
            Ok(self.predictor.learn(question.request.clone())?)
        })
    }
}
