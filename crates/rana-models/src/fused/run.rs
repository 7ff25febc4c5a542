//! [`EvidenceRun`]: the directory of a trained `rana-fused`.
//!
//! ```text
//! RUN/
//!   run.json          the manifest, as of every run; written last
//!   evidence.json     settings, and how far each source is trusted
//!   parts/            the trainings that it is made of: vectors and runs
//! ```

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rana_embed::{EmbeddingMetadata, EmbeddingSet, VectorError};
use rana_eval::confidence::Calibration;
use rana_fewshot::{CandidateConfig, CandidateRule, FewShotModel};
use rana_graph::{Store, write_file_atomically};
use serde::{Deserialize, Serialize};

use super::config::FusedConfig;
use super::model::FusedModel;
use super::sources::Sources;
use super::trust::TrustedSource;
use crate::opened_run::{MEAN_TRANSLATION, OpenError, OpenedModel, RunToOpen, open_vectors};
use crate::registry;
use crate::training::{
    DimensionMismatch, ManifestError, MetaTraining, Run, RunManifest, StartVectors, TrainingError,
    TrainingOutcome,
};
use crate::vectors::MeanTranslation;

const EVIDENCE: &str = "evidence.json";
/// What version 1 kept everything in.
const VERSION_1: &str = "fused.json";

/// Why the evidence of a run cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum FusedRunError {
    /// A file cannot be accessed.
    #[error("{}: could not {action}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What was tried.
        action: &'static str,
        /// What the operating system says.
        source: io::Error,
    },
    /// A file cannot be understood.
    #[error("{}: {message}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        message: String,
    },
    /// The manifest cannot be written.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// Vectors cannot be read.
    #[error(transparent)]
    Vectors(#[from] VectorError),
    /// The vectors do not fit the graph.
    #[error(transparent)]
    Start(#[from] DimensionMismatch),
}

/// MRRs that settings can be chosen by.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FusedScores {
    /// On the dev tasks, over all queries; none if there are no dev tasks.
    pub dev_mrr: Option<f64>,
    /// On tasks left out, over all queries, each ranked with parts and examples that know none of its facts.
    pub cross_validated_mrr: f64,
    /// The same, over tasks.
    pub cross_validated_macro_mrr: f64,
}

/// Where the parts of a model are, seen from its run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Places {
    /// The run of the model that is a source, if there is one.
    #[serde(rename = "rana", default)]
    pub model: Option<PathBuf>,
    /// The vectors whose mean translation is evidence, and which the model starts from. None if only the graph is
    /// evidence.
    pub vectors: Option<PathBuf>,
    /// The vectors of a bilinear model, if products are evidence.
    pub products: Option<PathBuf>,
}

/// What was learned about evidence: `evidence.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EvidenceRun {
    /// Where its parts are.
    pub places: Places,
    /// How evidence was gathered.
    pub config: FusedConfig,
    /// The seed of the model that is a source.
    pub seed: u64,
    /// The support size that it was measured with.
    pub shots: usize,
    /// How far each source is trusted.
    pub trusted: Vec<TrustedSource>,
    /// What it reached where settings are chosen.
    pub scores: FusedScores,
    /// What turns scores into confidence, if there were enough train tasks to learn it.
    #[serde(default)]
    pub calibration: Option<Calibration>,
    /// Which entities answers are looked for among.
    #[serde(default)]
    pub candidates: CandidateRule,
}

impl EvidenceRun {
    /// Writes the run into a directory, the manifest last.
    ///
    /// # Errors
    /// If vectors cannot be read or the disk refuses.
    pub fn write(&self, path: &Path, store: &Store, seconds: f64) -> Result<RunManifest, FusedRunError> {
        let file = path.join(EVIDENCE);
        let failed = |source| FusedRunError::Io {
            path: file.clone(),
            action: "write the evidence of the run",
            source,
        };
        let start = match &self.places.vectors {
            None => StartVectors::random(&store.graph, 1, 0),
            Some(place) => {
                let set = EmbeddingSet::open(path.join(place), &store.graph)?;
                StartVectors::pretrained(&store.graph, &set)?
            }
        };
        let vectors = self.places.vectors.clone().unwrap_or_default();
        let mut manifest = RunManifest {
            vectors_path: vectors.clone(),
            outcome: Some(TrainingOutcome::Finished),
            seconds: Some(seconds),
            graph_path: inside(path, &store.path),
            ..RunManifest::new(registry::FUSED, store, &vectors, &start)
        };
        let text = serde_json::to_vec_pretty(self).map_err(|error| failed(error.into()))?;
        manifest.record(EVIDENCE, &text);
        write_file_atomically(&file, |out| out.write_all(&text)).map_err(failed)?;
        manifest.write(path)?;
        Ok(manifest)
    }

    /// Reads what was learned.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn read(path: &Path) -> Result<Self, FusedRunError> {
        if is_version_1(path) {
            return Ok(read_version_1(path)?.1);
        }
        let file = path.join(EVIDENCE);
        let text = read(&file)?;
        RunManifest::read(path)?.verify(path, EVIDENCE, &text)?;
        let run: Self = parse(&file, &text)?;
        if let Some(calibration) = &run.calibration {
            calibration.check().map_err(|message| FusedRunError::Malformed { path: file, message })?;
        }
        Ok(run)
    }
}

/// Where a store is, seen from a run that holds it; elsewhere its whole path.
fn inside(run: &Path, store: &Path) -> PathBuf {
    let [run, whole] = [run, store].map(|path| fs::canonicalize(path).unwrap_or_else(|_| path.to_owned()));
    whole.strip_prefix(&run).map_or_else(|_| whole.clone(), Path::to_owned)
}

fn read_json<T: serde::de::DeserializeOwned>(file: &Path) -> Result<T, FusedRunError> {
    parse(file, &read(file)?)
}

fn read(file: &Path) -> Result<Vec<u8>, FusedRunError> {
    let action = "read the evidence of the run";
    fs::read(file).map_err(|source| FusedRunError::Io { path: file.to_owned(), action, source })
}

fn parse<T: serde::de::DeserializeOwned>(file: &Path, text: &[u8]) -> Result<T, FusedRunError> {
    serde_json::from_slice(text)
        .map_err(|error| FusedRunError::Malformed { path: file.to_owned(), message: error.to_string() })
}

/// Whether a directory holds a run that version 1 wrote.
pub(crate) fn is_version_1(path: &Path) -> bool {
    path.join(VERSION_1).is_file()
}

/// Reads a run that version 1 wrote.
pub(crate) fn read_version_1(path: &Path) -> Result<(RunManifest, EvidenceRun), FusedRunError> {
    #[derive(Deserialize)]
    struct Version1 {
        format: String,
        version: u32,
        written_by: String,
        graph_path: PathBuf,
        #[serde(flatten)]
        evidence: EvidenceRun,
    }
    let file = path.join(VERSION_1);
    let Version1 { format, version, written_by, graph_path, evidence } = read_json(&file)?;
    if format != "rana-fused" || version != 1 {
        let message = format!("expected rana-fused version 1, found {format} version {version}");
        return Err(FusedRunError::Malformed { path: file, message });
    }
    let model = evidence.places.model.clone().unwrap_or_default();
    let part = RunManifest::read(&path.join(model))?;
    let manifest = RunManifest {
        model: registry::FUSED.to_owned(),
        written_by,
        graph_path,
        vectors_path: evidence.places.vectors.clone().unwrap_or_default(),
        best: None,
        steps: None,
        seconds: None,
        ..part
    };
    Ok((manifest, evidence))
}

/// Opens the run of `rana-fused`.
pub(crate) fn open(to_open: &RunToOpen<'_>) -> Result<OpenedModel, OpenError> {
    let RunToOpen { path, store, manifest, .. } = to_open;
    let evidence = EvidenceRun::read(path)?;
    let edges = Arc::new(evidence.config.edges(&store.graph, &store.tasks));
    let mut sources = Sources::new(&store.graph, Arc::clone(&edges))
        .with_scale_by_support(evidence.config.scale_by_support);
    let mut beside: Vec<(String, Arc<dyn FewShotModel>)> = Vec::new();
    let mut vectors = EmbeddingMetadata::default();
    if evidence.places.vectors.is_some() {
        let set = to_open.open_vectors()?;
        let start = StartVectors::pretrained(&store.graph, &set).map_err(TrainingError::from)?;
        manifest.check_vectors(path, &start)?;
        let mean = MeanTranslation::new(&set.entities, set.own_norm());
        sources = sources.with_mean_translation(mean.clone());
        match &evidence.places.model {
            Some(place) => {
                let part = Run::open(path.join(place))?;
                let model = MetaTraining::models(store, &part, &set)?.trained;
                beside.push((part.config.model.model_name().to_owned(), Arc::clone(&model)));
                sources = sources.with_model(model);
            }
            None => beside.push((MEAN_TRANSLATION.to_owned(), Arc::new(mean))),
        }
        vectors = set.metadata.clone();
    }
    if let Some(place) = &evidence.places.products {
        sources = sources.with_products(open_vectors(&path.join(place), store)?.entities);
    }
    let FusedScores { dev_mrr, cross_validated_mrr, .. } = evidence.scores;
    let details = vec![
        ("run", path.display().to_string()),
        ("run_seed", evidence.seed.to_string()),
        ("trained_by", manifest.written_by.clone()),
        ("dev_mrr", dev_mrr.map_or_else(|| "none".to_owned(), |mrr| format!("{mrr:.4}"))),
        ("cross_validated_mrr", format!("{cross_validated_mrr:.4}")),
        ("train_task_edges", evidence.config.train_task_edges.to_string()),
    ];
    let sources_count = evidence.trusted.len();
    Ok(OpenedModel {
        settings: serde_json::to_value(&evidence).unwrap_or_default(),
        model: Arc::new(FusedModel::new(sources, evidence.trusted)),
        beside,
        calibration: evidence.calibration,
        shots: evidence.shots,
        seed: evidence.seed,
        details,
        summary: format!(
            "seed {}, {sources_count} sources of evidence, MRR {cross_validated_mrr:.3} on relations left out",
            evidence.seed
        ),
        vectors,
        edges: Some(edges),
        candidates: CandidateConfig { rule: evidence.candidates, ..CandidateConfig::default() },
    })
}
