//! [`Predictor`]: a run made ready to complete relations.

use std::collections::HashSet;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use rana_eval::confidence::{Calibration, leave_one_out_rank};
use rana_fewshot::{CandidateBuilder, Direction, FewShotModel};
use rana_graph::{EntityId, Fact, Graph, Pair, RelationId, Store, TypeId};
use rana_models::OpenedRun;
use rana_models::paths::{EdgeIndex, VisibleEdges};

use super::error::PredictorError;
use super::learned_relation::LearnedRelation;
use super::relation_request::{CandidateChoice, RelationRequest};
use crate::relate::RelationScorers;
use crate::search::NameIndex;

/// The most facts of the graph that a relation is learned from if none are given. More examples give better answers: rules
/// and likeness see more cases (docs/experiments/2026-11-18-new-user.md).
const MOST_EXAMPLES: usize = 10_000;

/// Completes relations of a graph by a trained model, whichever it is. A copy shares everything.
#[derive(Clone)]
pub struct Predictor(Arc<Inner>);

struct Inner {
    run: OpenedRun,
    candidates: CandidateBuilder,
    /// The edges that reasons may name, made when they are first asked for.
    edges: OnceLock<Arc<EdgeIndex>>,
    /// What entities are called, made when it is first asked for.
    names: OnceLock<NameIndex>,
    /// The relations that may hold between two entities, made when they are first asked for.
    relations: OnceLock<RelationScorers>,
}

impl Predictor {
    /// Opens a run with its graph, which may have moved to `graph`.
    ///
    /// # Errors
    /// If there is no run, or its parts cannot be opened or do not go together.
    pub fn open(path: &Path, graph: Option<&Path>) -> Result<Self, PredictorError> {
        Ok(Self::new(OpenedRun::open(path, graph, None)?))
    }

    /// The predictor of a run.
    #[must_use]
    pub fn new(run: OpenedRun) -> Self {
        let candidates = CandidateBuilder::new(&run.store.graph, run.opened.candidates);
        let (edges, names, relations) = Default::default();
        Self(Arc::new(Inner { run, candidates, edges, names, relations }))
    }

    /// The run.
    #[must_use]
    pub fn run(&self) -> &OpenedRun {
        &self.0.run
    }

    /// The graph and its tasks.
    #[must_use]
    pub fn store(&self) -> &Store {
        &self.0.run.store
    }

    /// The graph.
    #[must_use]
    pub fn graph(&self) -> &Graph {
        &self.store().graph
    }

    /// The names and labels of the graph. The first call reads them, which takes seconds for millions.
    #[must_use]
    pub fn names(&self) -> &NameIndex {
        self.0.names.get_or_init(|| NameIndex::new(self.graph()))
    }

    /// The name of the model, as the registry has it.
    #[must_use]
    pub fn model_name(&self) -> &str {
        &self.0.run.manifest.model
    }

    /// The model.
    #[must_use]
    pub fn model(&self) -> &dyn FewShotModel {
        &*self.0.run.opened.model
    }

    /// What scores answers in a direction. A model that was not prepared for heads sees them as tails of the inverse
    /// relation.
    pub(crate) fn model_for(&self, direction: Direction) -> Arc<dyn FewShotModel> {
        let opened = &self.0.run.opened;
        match (direction, &opened.heads) {
            (Direction::Heads, Some(heads)) => Arc::clone(&heads.model),
            _ => Arc::clone(&opened.model),
        }
    }

    /// What turns scores into confidence in a direction, if it was measured there.
    #[must_use]
    pub fn calibration_for(&self, direction: Direction) -> Option<&Calibration> {
        match direction {
            Direction::Tails => self.calibration(),
            Direction::Heads => self.0.run.opened.heads.as_ref()?.calibration.as_ref(),
        }
    }

    /// The relations that may hold between two entities.
    pub(crate) fn relation_scorers(&self) -> &RelationScorers {
        self.0.relations.get_or_init(|| self.new_relation_scorers())
    }

    /// The support size that the model was trained or measured with.
    #[must_use]
    pub fn shots(&self) -> usize {
        self.0.run.opened.shots
    }

    /// What turns scores into confidence, if there were enough tasks to learn it.
    #[must_use]
    pub fn calibration(&self) -> Option<&Calibration> {
        self.0.run.opened.calibration.as_ref()
    }

    /// The pairs that a relation is learned from if no others are given: the first facts of its task, or facts of the
    /// graph, evenly among all of them.
    #[must_use]
    pub fn default_support(&self, relation: RelationId) -> Option<Vec<Pair>> {
        if let Some(task) = self.store().tasks.task(relation) {
            return Some(task.facts.iter().take(self.shots()).copied().collect());
        }
        let of_relation = |fact: &&Fact| fact.relation == relation;
        let pair = |fact: &Fact| Pair { head: fact.head, tail: fact.tail };
        let all: Vec<Pair> = self.graph().facts().iter().filter(of_relation).map(pair).collect();
        let every = all.len().div_ceil(MOST_EXAMPLES).max(1);
        (!all.is_empty()).then(|| all.into_iter().step_by(every).collect())
    }

    /// The edges that reasons about a relation may name.
    pub(super) fn visible_edges(&self, relation: Option<RelationId>) -> VisibleEdges {
        let edges = match &self.0.run.opened.edges {
            Some(edges) => edges,
            None => self.background_edges(),
        };
        VisibleEdges::without(edges, relation)
    }

    /// The edges of the background.
    pub(crate) fn background_edges(&self) -> &Arc<EdgeIndex> {
        self.0.edges.get_or_init(|| Arc::new(EdgeIndex::background(self.graph())))
    }

    /// Learns a relation from its support.
    ///
    /// # Errors
    /// If the support is empty, contradicts the rejected pairs, or no candidate is left.
    pub fn learn(&self, mut request: RelationRequest) -> Result<LearnedRelation, PredictorError> {
        let graph = self.graph();
        let mut seen = HashSet::new();
        request.support.retain(|pair| seen.insert(*pair));
        if request.support.is_empty() {
            return Err(PredictorError::NoSupport);
        }
        if let Some(pair) = request.support.iter().find(|pair| request.rejected.contains(pair)) {
            let name = |entity| graph.entity_name(entity).to_owned();
            return Err(PredictorError::Contradiction { head: name(pair.head), tail: name(pair.tail) });
        }
        let asked = request.turned();
        let fitting = self.fitting(&asked);
        let support = asked.to_support(&fitting);
        let model = self.model_for(request.direction);
        let scorer = model.adapt(&support)?;
        let leave_one_out = leave_one_out_rank(&*model, &support)?;
        let chosen = match &request.candidates {
            CandidateChoice::Fitting => None,
            CandidateChoice::All => Some(graph.entities().collect()),
            CandidateChoice::Listed(listed) => {
                let mut listed = listed.clone();
                listed.sort_unstable();
                listed.dedup();
                Some(listed)
            }
            CandidateChoice::Types(types) => {
                let mut types = types.clone();
                types.sort_unstable();
                types.dedup();
                let fits = |of: &[TypeId]| of.iter().any(|of| types.binary_search(of).is_ok());
                Some(graph.entities().filter(|&entity| fits(graph.types(entity))).collect())
            }
        };
        if chosen.as_ref().unwrap_or(&fitting).is_empty() {
            return Err(PredictorError::NoCandidates);
        }
        Ok(LearnedRelation::new(self, request, asked, scorer, leave_one_out, fitting, chosen))
    }

    /// The candidates that a relation is learned among, ascending.
    fn fitting(&self, request: &RelationRequest) -> Vec<EntityId> {
        let of_task = request.relation.and_then(|relation| self.store().tasks.candidates(relation));
        match of_task {
            Some(candidates) if !candidates.is_empty() => candidates.to_vec(),
            _ => {
                let relation = request.relation.unwrap_or(RelationId::forward(0));
                self.0.candidates.candidates(relation, request.support.iter().map(|pair| pair.tail))
            }
        }
    }
}
