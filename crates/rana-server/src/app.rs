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

/// The state that all requests share. After a reload, new requests share another one; what is behind an [`Arc`] stays.
pub(crate) struct App {
    pub(crate) config: Arc<ServerConfig>,
    pub(crate) predictor: Predictor,
    pub(crate) run: RunInfo,
    pub(crate) relations: RelationTable,
    pub(crate) decisions: Arc<DecisionWriter>,
    pub(crate) learned: LearnedCache,
    /// The queue of completions, explanations and exports.
    pub(crate) computations: Arc<ComputationQueue>,
    /// The queue of lookups while a user types, which must not wait for long computations.
    pub(crate) quick: Arc<ComputationQueue>,
    pub(crate) metrics: Arc<Metrics>,
}

impl App {
    /// The same with another run.
    pub(crate) fn with_run(&self, predictor: Predictor) -> Self {
        Self {
            config: Arc::clone(&self.config),
            run: RunInfo::new(&predictor, &self.config.limits),
            relations: RelationTable::new(predictor.store()),
            predictor,
            decisions: Arc::clone(&self.decisions),
            learned: LearnedCache::new(self.config.limits.learned, self.config.limits.learned_bytes),
            computations: Arc::clone(&self.computations),
            quick: Arc::clone(&self.quick),
            metrics: Arc::clone(&self.metrics),
        }
    }

    /// The entity of a name or label.
    pub(crate) fn resolve(&self, text: &str) -> Result<EntityId, Unresolved> {
        self.predictor.entity(text)
    }

    /// The whole name of the relation of a decision, given as people write it. It may be new.
    pub(crate) fn decided_relation(&self, text: &str) -> String {
        let graph = self.predictor.graph();
        match self.predictor.relation(text) {
            Ok(relation) => graph.relation_name(relation).to_owned(),
            Err(_) => graph.full_name(text),
        }
    }

    /// The learned relation of a question, from the cache or learned now.
    pub(crate) fn learn(&self, question: &RelationQuestion) -> Result<Arc<LearnedRelation>, Problem> {
        self.learned.get(&question.request, || {
            self.metrics.learned.inc();
            Ok(self.predictor.learn(question.request.clone())?)
        })
    }
}
