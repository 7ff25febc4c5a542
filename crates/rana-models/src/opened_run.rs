//! [`OpenedRun`]: a run of any model with its graph, made ready to score.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rana_embed::{EmbeddingMetadata, EmbeddingSet, VectorError};
use rana_eval::confidence::{Calibration, RelationConfidence};
use rana_fewshot::{CandidateConfig, FewShotModel, SupportError};
use rana_graph::{Graph, Store, StoreError, UpdateError, UpdateLayers};

use crate::fused::EvidenceRunError;
use crate::paths::EdgeIndex;
use crate::registry::{self, RegistryError};
use crate::training::{ManifestError, MetaTraining, Run, RunError, RunManifest, TrainingError, calibrate};
use crate::vectors::MeanTranslation;

/// Why a run cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The manifest cannot be used, or belongs to something else.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// The graph of the run cannot be opened.
    #[error("{}: the graph of the run cannot be opened: {source}", path.display())]
    Graph {
        /// Where it should be.
        path: PathBuf,
        /// Why not.
        source: StoreError,
    },
    /// The vectors of the run cannot be opened.
    #[error("{}: the vectors of the run cannot be opened: {source}", path.display())]
    Vectors {
        /// Where they should be.
        path: PathBuf,
        /// Why not.
        source: VectorError,
    },
    /// The run is of a model that this program does not know.
    #[error("{}: {source}", path.display())]
    Model {
        /// The run.
        path: PathBuf,
        /// Which model.
        source: RegistryError,
    },
    /// The run cannot be read.
    #[error(transparent)]
    Run(#[from] RunError),
    /// Vectors and run do not go together.
    #[error(transparent)]
    Training(#[from] TrainingError),
    /// The evidence of a run cannot be read.
    #[error(transparent)]
    Evidence(#[from] EvidenceRunError),
    /// The updates of the graph cannot be read.
    #[error(transparent)]
    Update(#[from] UpdateError),
    /// The model cannot place the entities of updates.
    #[error("{}: the graph has updates, and the model {model} knows only the graph that it was trained on", path.display())]
    UpdatedModel {
        /// The run.
        path: PathBuf,
        /// Its model.
        model: String,
    },
    /// The model cannot be calibrated.
    #[error(transparent)]
    Support(#[from] SupportError),
}

/// A run whose model is to be opened.
pub struct RunToOpen<'a> {
    /// The directory.
    pub path: &'a Path,
    /// The manifest of the run.
    pub manifest: &'a RunManifest,
    /// The graph that it was trained on.
    pub store: &'a Store,
    /// The graph with updates, if there are any. The new entities follow those that were trained.
    pub updated: Option<&'a Graph>,
    /// Where its vectors are.
    pub vectors: PathBuf,
}

/// The model of a run, and what belongs to it.
pub struct OpenedModel {
    /// The model.
    pub model: Arc<dyn FewShotModel>,
    /// Other models for its evaluation, by name: the model it started from, and its parts.
    pub beside: Vec<(String, Arc<dyn FewShotModel>)>,
    /// The calibration of its confidence, if there were enough tasks to learn it.
    pub calibration: Option<Calibration>,
    /// What answers when heads are asked for, if that was learned apart.
    pub heads: Option<HeadsModel>,
    /// How sure it is which relation holds between two entities, if that was learned.
    pub relating: Option<RelationConfidence>,
    /// The support size that it was trained or measured with.
    pub shots: usize,
    /// The seed of its training.
    pub seed: u64,
    /// The lines about it in an evaluation, by name.
    pub details: Vec<(&'static str, String)>,
    /// One line about it for people.
    pub summary: String,
    /// The settings, as JSON.
    pub settings: serde_json::Value,
    /// How its vectors were made.
    pub vectors: EmbeddingMetadata,
    /// How the entities are found that answers are looked for among.
    pub candidates: CandidateConfig,
    /// The edges that its reasons may name, if it walks others than those of the background.
    pub edges: Option<Arc<EdgeIndex>>,
}

/// What answers when heads are asked for. It sees supports and pairs turned around.
pub struct HeadsModel {
    /// The model.
    pub model: Arc<dyn FewShotModel>,
    /// The calibration of its confidence, measured in this direction; none if it was not.
    pub calibration: Option<Calibration>,
}

/// A run of any model with its graph.
pub struct OpenedRun {
    /// The directory.
    pub path: PathBuf,
    /// The manifest of the run.
    pub manifest: RunManifest,
    /// The graph and its tasks.
    pub store: Store,
    /// The model.
    pub opened: OpenedModel,
}

/// The directory of updates in a run.
const UPDATES: &str = "updates";

/// The name of the row of untrained vectors.
pub const MEAN_TRANSLATION: &str = "mean-translation";

impl OpenedRun {
    /// Whether a directory holds a run.
    #[must_use]
    pub fn is_at(path: &Path) -> bool {
        RunManifest::is_at(path) || crate::fused::is_version_1(path)
    }

    /// Where updates of the graph of a run are.
    #[must_use]
    pub fn updates_at(path: &Path) -> PathBuf {
        path.join(UPDATES)
    }

    /// Opens a run of any model with its graph and vectors, which may have moved to `graph` and `vectors`.
    ///
    /// Tasks, graph and vectors must be those that the run was trained on. Updates of the graph are laid over it. Opening
    /// writes nothing.
    ///
    /// # Errors
    /// If there is no run, or its graph or vectors are others or cannot be opened.
    pub fn open(path: &Path, graph: Option<&Path>, vectors: Option<&Path>) -> Result<Self, OpenError> {
        let manifest = match crate::fused::is_version_1(path) {
            true => crate::fused::read_version_1(path)?.0,
            false => RunManifest::read(path)?,
        };
        let graph = graph.map_or_else(|| manifest.graph_at(path), Path::to_owned);
        let mut store =
            Store::open(&graph).map_err(|source| OpenError::Graph { path: graph.clone(), source })?;
        let entry = registry::find(&manifest.model)
            .map_err(|source| OpenError::Model { path: path.to_owned(), source })?;
        manifest.check_graph(path, &store)?;
        let vectors = vectors.map_or_else(|| manifest.vectors_at(path, &store.path), Path::to_owned);
        let layers = UpdateLayers::read(&Self::updates_at(path), &store.graph)?;
        let updated = (!layers.update.is_empty()).then(|| layers.update.applied(&store.graph));
        if updated.is_some() && manifest.model != registry::FUSED {
            return Err(OpenError::UpdatedModel { path: path.to_owned(), model: manifest.model });
        }
        let to_open =
            RunToOpen { path, manifest: &manifest, store: &store, updated: updated.as_ref(), vectors };
        let opened = entry.open(&to_open)?;
        if let Some(updated) = updated {
            store.graph = updated;
        }
        Ok(Self { path: path.to_owned(), manifest, store, opened })
    }
}

impl RunToOpen<'_> {
    /// The vectors of the run.
    pub(crate) fn open_vectors(&self) -> Result<EmbeddingSet, OpenError> {
        open_vectors(&self.vectors, self.store)
    }
}

/// Vectors of a graph.
pub(crate) fn open_vectors(path: &Path, store: &Store) -> Result<EmbeddingSet, OpenError> {
    EmbeddingSet::open(path, &store.graph)
        .map_err(|source| OpenError::Vectors { path: path.to_owned(), source })
}

/// Opens the run of a model that is trained by steps.
pub(crate) fn open_stepped(to_open: &RunToOpen<'_>) -> Result<OpenedModel, OpenError> {
    let RunToOpen { path, store, .. } = to_open;
    let run = Run::open(*path)?;
    let set = to_open.open_vectors()?;
    let models = MetaTraining::models(store, &run, &set)?;
    let trainer = &run.config.trainer;
    let calibration = match run.calibration()? {
        Some(kept) => kept,
        // A run of a version that did not calibrate when it trained.
        None => calibrate(&*models.trained, &store.tasks, trainer.seed)?,
    };
    let name = run.config.model.model_name();
    let mean: Arc<dyn FewShotModel> = Arc::new(MeanTranslation::new(&set.entities, set.own_norm()));
    let mut details = set.details(&to_open.vectors);
    details.push(("run", path.display().to_string()));
    details.push(("run_seed", trainer.seed.to_string()));
    details.push(("data_mode", trainer.data_mode.to_string()));
    details.push(("parameters", models.learned_parameters.to_string()));
    details.push(("trained_by", run.manifest.written_by.clone()));
    let mut summary = format!("seed {}", trainer.seed);
    if let Some(best) = run.manifest.best {
        details.push(("chosen_on_dev", format!("step {}, MRR {:.4}", best.step, best.dev_mrr)));
        summary += &format!(", chosen at step {} by dev MRR {:.3}", best.step, best.dev_mrr);
    }
    Ok(OpenedModel {
        model: models.trained,
        beside: vec![(MEAN_TRANSLATION.to_owned(), mean), (format!("{name}-untrained"), models.untrained)],
        calibration,
        heads: None,
        relating: None,
        shots: trainer.shots,
        seed: trainer.seed,
        details,
        summary,
        settings: serde_json::to_value(&run.config).unwrap_or_default(),
        vectors: set.metadata.clone(),
        candidates: CandidateConfig::default(),
        edges: None,
    })
}
