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

use rana_eval::confidence::Calibration;
use rana_graph::{Store, write_file_atomically};
use serde::{Deserialize, Serialize};

use super::config::FusedConfig;
use super::model::FusedModel;
use super::sources::Sources;
use super::trust::TrustedSource;
use crate::opened_run::{OpenError, OpenedModel, RunToOpen, open_vectors};
use crate::registry;
use crate::training::{Manifest, ManifestError, MetaTraining, Run, RunError, StartVectors, TrainingError};

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
    /// A part cannot be read.
    #[error(transparent)]
    Run(#[from] RunError),
}

/// MRRs that settings can be chosen by.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FusedScores {
    /// On the dev tasks, over all queries.
    pub dev_mrr: f64,
    /// On the train tasks, over all queries, each ranked with parts and examples that know none of its facts.
    pub cross_validated_mrr: f64,
    /// The same, over tasks.
    pub cross_validated_macro_mrr: f64,
}

/// Where the parts of a model are, seen from its run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Places {
    /// The run of the model that is a source.
    #[serde(rename = "rana")]
    pub model: PathBuf,
    /// The vectors it starts from.
    pub vectors: PathBuf,
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
}

impl EvidenceRun {
    /// Writes the run into a directory, the manifest last.
    ///
    /// # Errors
    /// If a part cannot be read or the disk refuses.
    pub fn write(&self, path: &Path, store: &Store, seconds: f64) -> Result<Manifest, FusedRunError> {
        let part = Run::open(path.join(&self.places.model))?;
        let mut manifest =
            Manifest { model: registry::FUSED.to_owned(), version: Manifest::VERSION, ..part.manifest };
        manifest.graph_path = fs::canonicalize(&store.path).unwrap_or_else(|_| store.path.clone());
        manifest.vectors_path.clone_from(&self.places.vectors);
        manifest.best = None;
        manifest.steps = None;
        manifest.seconds = Some(seconds);
        let file = path.join(EVIDENCE);
        let failed = |source| FusedRunError::Io {
            path: file.clone(),
            action: "write the evidence of the run",
            source,
        };
        let text = serde_json::to_vec_pretty(self).map_err(|error| failed(error.into()))?;
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
        read_json(&path.join(EVIDENCE))
    }
}

fn read_json<T: serde::de::DeserializeOwned>(file: &Path) -> Result<T, FusedRunError> {
    let path = file.to_owned();
    let text = fs::read(file).map_err(|source| FusedRunError::Io {
        path: path.clone(),
        action: "read the evidence of the run",
        source,
    })?;
    serde_json::from_slice(&text)
        .map_err(|error| FusedRunError::Malformed { path, message: error.to_string() })
}

/// Whether a directory holds a run that version 1 wrote.
pub(crate) fn is_version_1(path: &Path) -> bool {
    path.join(VERSION_1).is_file()
}

/// Reads a run that version 1 wrote.
pub(crate) fn read_version_1(path: &Path) -> Result<(Manifest, EvidenceRun), FusedRunError> {
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
    let part = Manifest::read(&path.join(&evidence.places.model))?;
    let manifest = Manifest {
        model: registry::FUSED.to_owned(),
        written_by,
        graph_path,
        vectors_path: evidence.places.vectors.clone(),
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
    let set = to_open.open_vectors()?;
    let part = Run::open(path.join(&evidence.places.model))?;
    let start = StartVectors::pretrained(&store.graph, &set).map_err(TrainingError::from)?;
    manifest.check_vectors(path, &start)?;
    let model = MetaTraining::models(store, &part, &set)?.trained;
    let products = match &evidence.places.products {
        None => None,
        Some(place) => Some(open_vectors(&path.join(place), store)?.entities),
    };
    let edges = Arc::new(evidence.config.edges(&store.graph, &store.tasks));
    let sources = Sources::new(&store.graph, Arc::clone(&edges), Arc::clone(&model), products);
    let FusedScores { dev_mrr, cross_validated_mrr, .. } = evidence.scores;
    let details = vec![
        ("run", path.display().to_string()),
        ("run_seed", evidence.seed.to_string()),
        ("trained_by", manifest.written_by.clone()),
        ("dev_mrr", format!("{dev_mrr:.4}")),
        ("cross_validated_mrr", format!("{cross_validated_mrr:.4}")),
        ("train_task_edges", evidence.config.train_task_edges.to_string()),
    ];
    let sources_count = evidence.trusted.len();
    Ok(OpenedModel {
        settings: serde_json::to_value(&evidence).unwrap_or_default(),
        model: Arc::new(FusedModel::new(sources, evidence.trusted)),
        beside: vec![(part.config.model.model_name().to_owned(), model)],
        calibration: evidence.calibration,
        shots: evidence.shots,
        seed: evidence.seed,
        details,
        summary: format!("seed {}, {sources_count} sources of evidence, dev MRR {dev_mrr:.3}", evidence.seed),
        vectors: set.metadata.clone(),
        edges: Some(edges),
    })
}
