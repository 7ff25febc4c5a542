//! [`App`]: what all requests share.

use std::sync::Arc;

use rana::graph::EntityId;
use rana::predictor::{LearnedRelation, Predictor};
use rana::search::Unresolved;

use crate::computation_queue::Computations;
use crate::config::ServerConfig;
use crate::decisions::Keeper;
use crate::learned_cache::Learned;
use crate::metrics::Metrics;
use crate::problem::Problem;
use crate::relation_question::RelationQuestion;
use crate::relations::RelationTable;
use crate::run_info::RunInfo;

/// What all requests share.
pub(crate) struct App {
    pub(crate) config: ServerConfig,
    pub(crate) predictor: Predictor,
    pub(crate) run: RunInfo,
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
    /// The entity that a text names.
    pub(crate) fn resolve(&self, text: &str) -> Result<EntityId, Unresolved> {
        self.predictor.entity(text)
    }

    /// The relation of a question, learned now or before.
    pub(crate) fn learn(&self, question: &RelationQuestion) -> Result<Arc<LearnedRelation>, Problem> {
        self.learned.get(&question.request, || {
            self.metrics.learned.inc();
            Ok(self.predictor.learn(question.request.clone())?)
        })
    }
}
