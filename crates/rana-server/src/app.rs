//! [`App`]: the state that all requests share.

use std::sync::Arc;

use rana::graph::EntityId;
use rana::predictor::{LearnedRelation, Predictor};
use rana::search::Unresolved;

use crate::computation_queue::ComputationQueue;
use crate::config::ServerConfig;
use crate::decisions::DecisionWriter;
use crate::learned_cache::LearnedCache;
use crate::metrics::Metrics;
use crate::problem::Problem;
use crate::relation_question::RelationQuestion;
use crate::relations::RelationTable;
use crate::run_info::RunInfo;

/// The state that all requests share.
pub(crate) struct App {
    pub(crate) config: ServerConfig,
    pub(crate) predictor: Predictor,
    pub(crate) run: RunInfo,
    pub(crate) relations: RelationTable,
    pub(crate) decisions: DecisionWriter,
    pub(crate) learned: LearnedCache,
    /// The queue of completions, explanations and exports.
    pub(crate) computations: ComputationQueue,
    /// The queue of lookups while a user types, which must not wait for long computations.
    pub(crate) quick: ComputationQueue,
    pub(crate) metrics: Metrics,
}

impl App {
    /// The entity of a name or label.
    pub(crate) fn resolve(&self, text: &str) -> Result<EntityId, Unresolved> {
        self.predictor.entity(text)
    }

    /// The learned relation of a question, from the cache or learned now.
    pub(crate) fn learn(&self, question: &RelationQuestion) -> Result<Arc<LearnedRelation>, Problem> {
        self.learned.get(&question.request, || {
            self.metrics.learned.inc();
            Ok(self.predictor.learn(question.request.clone())?)
        })
    }
}
