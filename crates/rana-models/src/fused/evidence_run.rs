//! [`EvidenceRun`]: the directory of a trained `rana-fused`.
//!
//! ```text
//! RUN/
//!   run.json          the manifest, as of every run; written last
//!   evidence.json     settings, and how far each source is trusted
//!   parts/            the trainings that it is made of: vectors and runs
//! ```

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use rana_embed::EmbeddingSet;
use rana_eval::confidence::{Calibration, RelationConfidence};
use rana_fewshot::CandidateRule;
use rana_graph::{Store, write_file_atomically};
use serde::{Deserialize, Serialize};

use super::config::FusedConfig;
use super::evidence_run_error::EvidenceRunError;
use super::run_version_1::{is_version_1, read_version_1};
use super::trust::TrustedSource;
use crate::registry;
use crate::training::{RunManifest, StartVectors, TrainingOutcome};

const EVIDENCE: &str = "evidence.json";

/// MRRs that settings can be chosen by.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FusedScores {
    /// On the dev tasks, over all queries; none if there are no dev tasks.
    pub dev_mrr: Option<f64>,
    /// MRR over all queries of held-out tasks. Each task is ranked by parts that were trained without its facts.
    pub cross_validated_mrr: f64,
    /// The same, over tasks.
    pub cross_validated_macro_mrr: f64,
}

/// The paths of the parts of a model, relative to its run directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartPaths {
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
    /// The paths of its parts.
    #[serde(rename = "places")]
    pub parts: PartPaths,
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
    /// What was learned about questions for heads, if anything was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heads: Option<HeadsEvidence>,
    /// How sure it is which relation holds between two entities, if that was learned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relating: Option<RelationConfidence>,
    /// Which entities are candidate answers.
    #[serde(default)]
    pub candidates: CandidateRule,
}

/// What was learned about questions for heads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HeadsEvidence {
    /// How far each source is trusted.
    pub trusted: Vec<TrustedSource>,
    /// What turns scores into confidence, if there were enough tasks to learn it.
    #[serde(default)]
    pub calibration: Option<Calibration>,
}

impl EvidenceRun {
    /// Writes the run into a directory, the manifest last.
    ///
    /// # Errors
    /// If vectors cannot be read or the disk refuses.
    pub fn write(&self, path: &Path, store: &Store, seconds: f64) -> Result<RunManifest, EvidenceRunError> {
        let file = path.join(EVIDENCE);
        let failed = |source| EvidenceRunError::Io {
            path: file.clone(),
            action: "write the evidence of the run",
            source,
        };
        let start = match &self.parts.vectors {
            None => StartVectors::random(&store.graph, 1, 0),
            Some(place) => {
                let set = EmbeddingSet::open(path.join(place), &store.graph)?;
                StartVectors::pretrained(&store.graph, &set)?
            }
        };
        let vectors = self.parts.vectors.clone().unwrap_or_default();
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
    pub fn read(path: &Path) -> Result<Self, EvidenceRunError> {
        if is_version_1(path) {
            return Ok(read_version_1(path)?.1);
        }
        let file = path.join(EVIDENCE);
        let text = read(&file)?;
        RunManifest::read(path)?.verify(path, EVIDENCE, &text)?;
        let run: Self = parse(&file, &text)?;
        let of_heads = run.heads.as_ref().and_then(|heads| heads.calibration.as_ref());
        let checks = run.calibration.iter().chain(of_heads).map(Calibration::check);
        for check in checks.chain(run.relating.iter().map(RelationConfidence::check)) {
            check.map_err(|message| EvidenceRunError::Malformed { path: file.clone(), message })?;
        }
        Ok(run)
    }
}

/// The path of a store: relative to the run if the store is inside it, else absolute.
fn inside(run: &Path, store: &Path) -> PathBuf {
    let [run, whole] = [run, store].map(|path| fs::canonicalize(path).unwrap_or_else(|_| path.to_owned()));
    whole.strip_prefix(&run).map_or_else(|_| whole.clone(), Path::to_owned)
}

pub(super) fn read_json<T: serde::de::DeserializeOwned>(file: &Path) -> Result<T, EvidenceRunError> {
    parse(file, &read(file)?)
}

fn read(file: &Path) -> Result<Vec<u8>, EvidenceRunError> {
    let action = "read the evidence of the run";
    fs::read(file).map_err(|source| EvidenceRunError::Io { path: file.to_owned(), action, source })
}

fn parse<T: serde::de::DeserializeOwned>(file: &Path, text: &[u8]) -> Result<T, EvidenceRunError> {
    serde_json::from_slice(text)
        .map_err(|error| EvidenceRunError::Malformed { path: file.to_owned(), message: error.to_string() })
}
