//! [`Opened`] and [`Predictor`]: a run made ready to complete relations.

use std::collections::HashSet;
use std::path::Path;

use rana_embed::EmbeddingSet;
use rana_eval::confidence::{Calibration, support_record};
use rana_fewshot::fused::{FusedModel, Sources, TrustedSource};
use rana_fewshot::rana::{RanaModel, Run};
use rana_fewshot::{CandidateBuilder, CandidateConfig, FewShotModel};
use rana_graph::{EntityId, RelationId, Store, TypeId};

use super::calibration::rana_calibration;
use super::error::PredictorError;
use super::learned::{LearnedRelation, Scorer};
use super::request::{CandidateChoice, RelationRequest};
use crate::MetaTraining;
use crate::fused::FusedRun;

/// A run and its graph.
pub struct Opened {
    /// The graph.
    pub store: Store,
    run: OpenedRun,
}

enum OpenedRun {
    Rana(Box<(Run, EmbeddingSet)>),
    Fused(Box<FusedRun>),
}

impl Opened {
    /// Opens a run of RANA or of `rana-fused` with its graph, which may have moved to `graph`.
    ///
    /// # Errors
    /// If there is no run, or its graph or vectors cannot be opened.
    pub fn open(path: &Path, graph: Option<&Path>) -> Result<Self, PredictorError> {
        let open = |of_run: &Path| {
            let path = graph.unwrap_or(of_run);
            Store::open(path).map_err(|source| PredictorError::Graph { path: path.to_owned(), source })
        };
        if FusedRun::is_at(path) {
            let run = FusedRun::open(path)?;
            let store = open(&run.manifest.graph_path)?;
            return Ok(Self { store, run: OpenedRun::Fused(Box::new(run)) });
        }
        if !Run::is_at(path) {
            return Err(PredictorError::NoRun { path: path.to_owned() });
        }
        let run = Run::open(path)?;
        let store = open(&run.manifest.graph_path)?;
        let set = EmbeddingSet::open(MetaTraining::vectors_of(&run, &store.path), &store.graph)?;
        Ok(Self { store, run: OpenedRun::Rana(Box::new((run, set))) })
    }

    /// Where the run is.
    #[must_use]
    pub fn run_path(&self) -> &Path {
        match &self.run {
            OpenedRun::Rana(of) => of.0.path(),
            OpenedRun::Fused(run) => run.path(),
        }
    }

    /// What completes relations by it.
    ///
    /// # Errors
    /// If the parts of the run do not go together.
    pub fn predictor(&self) -> Result<Predictor<'_>, PredictorError> {
        let (model, calibration, shots) = match &self.run {
            OpenedRun::Fused(run) => {
                let model = Model::Fused {
                    sources: run.sources(&self.store)?,
                    trusted: run.manifest.trusted.clone(),
                };
                (model, run.manifest.calibration.clone(), run.manifest.shots)
            }
            OpenedRun::Rana(of) => {
                let (run, set) = &**of;
                let model = MetaTraining::model(&self.store, run, set)?;
                let calibration = rana_calibration(run, &model, &self.store)?;
                (Model::Rana(model), calibration, run.config.shots)
            }
        };
        let candidates = CandidateBuilder::new(&self.store.graph, CandidateConfig::default());
        Ok(Predictor { store: &self.store, model, calibration, shots, candidates })
    }
}

/// Completes relations of a graph by a trained model.
pub struct Predictor<'s> {
    store: &'s Store,
    model: Model<'s>,
    calibration: Option<Calibration>,
    shots: usize,
    candidates: CandidateBuilder<'s>,
}

pub(super) enum Model<'s> {
    Rana(RanaModel<'s>),
    Fused { sources: Sources<'s>, trusted: Vec<TrustedSource> },
}

impl<'s> Predictor<'s> {
    /// The graph and its tasks.
    #[must_use]
    pub fn store(&self) -> &'s Store {
        self.store
    }

    /// What the model is called: `rana` or `rana-fused`.
    #[must_use]
    pub fn model_name(&self) -> &'static str {
        match self.model {
            Model::Rana(_) => "rana",
            Model::Fused { .. } => "rana-fused",
        }
    }

    /// The support size that the model was trained or measured with.
    #[must_use]
    pub fn shots(&self) -> usize {
        self.shots
    }

    /// What turns scores into confidence, if there were enough tasks to learn it.
    #[must_use]
    pub fn calibration(&self) -> Option<&Calibration> {
        self.calibration.as_ref()
    }

    /// RANA, alone or as a source of evidence.
    pub(super) fn rana(&self) -> &RanaModel<'s> {
        match &self.model {
            Model::Rana(model) => model,
            Model::Fused { sources, .. } => sources.rana(),
        }
    }

    /// Learns a relation from its support.
    ///
    /// # Errors
    /// If the support is empty, contradicts the rejected pairs, or no candidate is left.
    pub fn learn(&self, mut request: RelationRequest) -> Result<LearnedRelation<'_>, PredictorError> {
        let graph = &self.store.graph;
        let mut seen = HashSet::new();
        request.support.retain(|pair| seen.insert(*pair));
        if request.support.is_empty() {
            return Err(PredictorError::NoSupport);
        }
        if let Some(pair) = request.support.iter().find(|pair| request.rejected.contains(pair)) {
            let name = |entity| graph.entity_name(entity).to_owned();
            return Err(PredictorError::Contradiction { head: name(pair.head), tail: name(pair.tail) });
        }
        let fitting = self.fitting(&request);
        let support = request.to_support(&fitting);
        let (scorer, record) = match &self.model {
            Model::Rana(model) => (Scorer::Rana(model.adapt(&support)?), support_record(model, &support)?),
            Model::Fused { sources, trusted } => {
                let model = FusedModel::new(sources, trusted.clone());
                (Scorer::Fused(model.fuse(&support)?), support_record(&model, &support)?)
            }
        };
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
        Ok(LearnedRelation::new(self, request, scorer, record, fitting, chosen))
    }

    /// The candidates that a relation is learned among, ascending.
    fn fitting(&self, request: &RelationRequest) -> Vec<EntityId> {
        let of_task = request.relation.and_then(|relation| self.store.tasks.candidates(relation));
        match of_task {
            Some(candidates) if !candidates.is_empty() => candidates.to_vec(),
            _ => {
                let relation = request.relation.unwrap_or(RelationId::forward(0));
                self.candidates.candidates(relation, request.support.iter().map(|pair| pair.tail))
            }
        }
    }
}
