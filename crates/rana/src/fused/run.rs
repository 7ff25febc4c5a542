//! [`FusedRun`]: the directory of a trained `rana-fused`.
//!
//! ```text
//! RUN/
//!   fused.json     what it is: graph, parts, settings, and how far each source is trusted; written last
//!   parts/         the workspace of its trainings: vectors and runs of RANA
//! ```

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rana_embed::EmbeddingSet;
use rana_eval::confidence::Calibration;
use rana_fewshot::fused::{FusedConfig, Sources, TrustedSource};
use rana_fewshot::rana::Run;
use rana_graph::Store;
use serde::{Deserialize, Serialize};

use super::error::FusedError;
use super::training::{FusedScores, FusedTraining, Places};
use crate::MetaTraining;
use crate::trial::{TrialError, Watch, Workspace, write};

const FORMAT: &str = "rana-fused";
const VERSION: u32 = 1;
const MANIFEST: &str = "fused.json";
const PARTS: &str = "parts";

/// What `fused.json` says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FusedManifest {
    format: String,
    version: u32,
    /// The program that wrote it.
    pub written_by: String,
    /// The graph store.
    pub graph_path: PathBuf,
    /// What holds the graph's arrays and tasks: it is named after their content.
    pub dataset: String,
    /// Where its parts are, seen from the run.
    pub places: Places,
    /// How evidence was gathered.
    pub config: FusedConfig,
    /// The seed of RANA.
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

/// The directory of a trained `rana-fused`.
#[derive(Clone, Debug)]
pub struct FusedRun {
    path: PathBuf,
    /// What it is.
    pub manifest: FusedManifest,
}

impl FusedRun {
    /// Whether a directory holds one.
    #[must_use]
    pub fn is_at(path: &Path) -> bool {
        path.join(MANIFEST).is_file()
    }

    /// Trains into a directory. An interrupted training goes on to the same result.
    ///
    /// # Errors
    /// If a part cannot be trained, the directory holds another run, or somebody asks to stop.
    pub fn train(
        path: impl Into<PathBuf>,
        store: &Store,
        training: &FusedTraining,
        watch: &dyn Watch,
    ) -> Result<Self, FusedError> {
        let path = path.into();
        if Self::is_at(&path) {
            return Err(FusedError::Exists { path });
        }
        let workspace = Workspace::new(path.join(PARTS));
        let parts = training.parts(store, &workspace, watch)?;
        let evidence = &training.fused.evidence;
        let shots = training.rana.shots;
        let inside = Workspace::new(PARTS);
        let (trusted, without_folds) = (parts.learn(evidence), parts.learn_without_folds(evidence));
        let manifest = FusedManifest {
            format: FORMAT.to_owned(),
            version: VERSION,
            written_by: concat!("rana ", env!("CARGO_PKG_VERSION")).to_owned(),
            graph_path: fs::canonicalize(&store.path).unwrap_or_else(|_| store.path.clone()),
            dataset: store.manifest.data.clone(),
            places: training.places(store, &inside)?,
            config: training.fused.clone(),
            seed: training.rana.seed,
            shots,
            scores: parts.scores(&trusted, &without_folds, shots)?,
            calibration: parts.calibration(&without_folds, training.fused.seed)?,
            trusted,
        };
        let text = serde_json::to_vec_pretty(&manifest)
            .map_err(|error| TrialError::io(&path, "write the manifest")(error.into()))?;
        write(&path.join(MANIFEST), &text)?;
        Ok(Self { path, manifest })
    }

    /// Opens a trained one.
    ///
    /// # Errors
    /// If there is none, or it cannot be read.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, FusedError> {
        let path = path.into();
        let file = path.join(MANIFEST);
        let text = fs::read(&file).map_err(TrialError::io(&file, "read the manifest"))?;
        let malformed = |message: String| FusedError::Malformed { path: file.clone(), message };
        let manifest: FusedManifest =
            serde_json::from_slice(&text).map_err(|error| malformed(error.to_string()))?;
        if manifest.format != FORMAT || manifest.version != VERSION {
            return Err(malformed(format!(
                "expected {FORMAT} version {VERSION}, found {} version {}. Train it again with `rana fuse`",
                manifest.format, manifest.version
            )));
        }
        Ok(Self { path, manifest })
    }

    /// The directory.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The sources of evidence for new relations of a graph.
    ///
    /// # Errors
    /// If a part is missing, or belongs to another graph.
    pub fn sources<'s>(&self, store: &'s Store) -> Result<Sources<'s>, FusedError> {
        let Places { rana, vectors, products } = &self.manifest.places;
        let set = EmbeddingSet::open(self.path.join(vectors), &store.graph).map_err(TrialError::from)?;
        let run = Run::open(self.path.join(rana))?;
        run.check_tasks(&store.manifest.data)?;
        let model = MetaTraining::model(store, &run, &set).map_err(TrialError::from)?;
        let products = match products {
            None => None,
            Some(path) => {
                let set = EmbeddingSet::open(self.path.join(path), &store.graph).map_err(TrialError::from)?;
                Some(set.entities)
            }
        };
        let edges = self.manifest.config.edges(&store.graph, &store.tasks);
        Ok(Sources::new(&store.graph, Arc::new(edges), model, products))
    }
}
