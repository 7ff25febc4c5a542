//! [`RunManifest`]: what a run is, whichever model it holds.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use rana_graph::{FileRecord, Store, write_file_atomically};
use serde::{Deserialize, Serialize};

use super::manifest_error::ManifestError;
use super::start_vectors::StartVectors;
use super::training_state::TrainingOutcome;
use crate::registry;

const FORMAT: &str = "rana-run";
/// What stands for a checksum while it is computed.
const NO_CHECKSUM: &str = "(no checksum)";

/// What a run is: `run.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunManifest {
    pub(crate) format: String,
    pub(crate) version: u32,
    /// The model, as the registry names it; version 1 knew one only.
    #[serde(default = "first_model")]
    pub model: String,
    /// The program that wrote it.
    pub written_by: String,
    /// Where the graph was, or is if the path is relative, seen from the run.
    pub graph_path: PathBuf,
    /// The graph's [fingerprint](rana_graph::Graph::fingerprint).
    #[serde(with = "rana_graph::hex")]
    pub graph: u64,
    /// The directory that holds the graph's arrays and tasks: it is named after their content.
    pub dataset: String,
    /// Where the vectors were, or are if the path is relative, seen from the run. Of vectors that training did not
    /// start from, only the width was taken.
    pub vectors_path: PathBuf,
    /// A checksum of the vectors that training started from.
    #[serde(with = "rana_graph::hex")]
    pub vectors: u64,
    /// Numbers per vector.
    pub dim: usize,
    /// How it ended; none while it runs.
    pub outcome: Option<TrainingOutcome>,
    /// How many steps were done when it ended.
    pub steps: Option<u64>,
    /// The best model.
    pub best: Option<BestRecord>,
    /// How long training took until it ended, pauses left out.
    pub seconds: Option<f64>,
    /// Size and checksum of the other files that answers depend on; runs of earlier programs have none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, FileRecord>,
    /// The xxh3 of the text of this manifest, with [`NO_CHECKSUM`] in this place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) checksum: Option<String>,
}

/// Which model is the best.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BestRecord {
    /// After how many steps.
    pub step: u64,
    /// Its MRR on dev.
    pub dev_mrr: f64,
}

fn first_model() -> String {
    registry::DEFAULT.to_owned()
}

impl RunManifest {
    /// The file of a manifest in its run.
    pub const FILE: &'static str = "run.json";

    /// The version that is written; versions from 1 on are read.
    pub const VERSION: u32 = 2;

    /// A run that is about to start.
    #[must_use]
    pub fn new(model: &str, store: &Store, vectors_path: &Path, start: &StartVectors) -> Self {
        Self {
            format: FORMAT.to_owned(),
            version: Self::VERSION,
            model: model.to_owned(),
            written_by: concat!("rana ", env!("CARGO_PKG_VERSION")).to_owned(),
            graph_path: absolute(&store.path),
            graph: store.graph.fingerprint(),
            dataset: store.manifest.data.clone(),
            vectors_path: absolute(vectors_path),
            vectors: start.checksum(),
            dim: start.dim(),
            outcome: None,
            steps: None,
            best: None,
            seconds: None,
            files: BTreeMap::new(),
            checksum: None,
        }
    }

    /// Whether a directory holds the manifest of a run, or may hold one that cannot be seen: then reading it says why.
    #[must_use]
    pub fn is_at(run: &Path) -> bool {
        let is_absent =
            |error: io::Error| matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory);
        fs::metadata(run.join(Self::FILE)).map_or_else(|error| !is_absent(error), |_| true)
    }

    /// Reads the manifest of a run.
    ///
    /// # Errors
    /// If there is none, it cannot be understood, or a newer program wrote it.
    pub fn read(run: &Path) -> Result<Self, ManifestError> {
        let path = run.join(Self::FILE);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(ManifestError::NoRun { path: run.to_owned() });
            }
            Err(source) => return Err(ManifestError::Io { path, action: "read", source }),
        };
        let manifest: Self = serde_json::from_str(&text).map_err(|error| ManifestError::Malformed {
            path: path.clone(),
            message: format!("not the manifest of a run: {error}"),
        })?;
        if manifest.format != FORMAT || !(1..=Self::VERSION).contains(&manifest.version) {
            let message = format!(
                "format {} version {}, but this program reads {FORMAT} up to version {}",
                manifest.format,
                manifest.version,
                Self::VERSION
            );
            return Err(ManifestError::Malformed { path, message });
        }
        let is_own = |checksum: &String| *checksum == checksum_of(&text.replacen(checksum, NO_CHECKSUM, 1));
        if !manifest.checksum.as_ref().is_none_or(is_own) {
            return Err(ManifestError::Changed { path });
        }
        Ok(manifest)
    }

    /// Records the content of a file that is about to be written.
    pub fn record(&mut self, name: &str, content: &[u8]) {
        self.files.insert(name.to_owned(), FileRecord::of(content));
    }

    /// Checks the content of a file against its record, if it has one.
    ///
    /// # Errors
    /// If the file was changed.
    pub fn verify(&self, run: &Path, name: &str, content: &[u8]) -> Result<(), ManifestError> {
        match self.files.get(name) {
            Some(record) if *record != FileRecord::of(content) => {
                Err(ManifestError::Changed { path: run.join(name) })
            }
            _ => Ok(()),
        }
    }

    /// Writes the manifest of a run.
    ///
    /// # Errors
    /// If the disk refuses.
    pub fn write(&self, run: &Path) -> Result<(), ManifestError> {
        let path = run.join(Self::FILE);
        let failed = |source| ManifestError::Io { path: path.clone(), action: "write", source };
        let blank = Self { checksum: Some(NO_CHECKSUM.to_owned()), ..self.clone() };
        let text = serde_json::to_string_pretty(&blank).map_err(|error| failed(error.into()))?;
        let text = text.replacen(NO_CHECKSUM, &checksum_of(&text), 1);
        write_file_atomically(&path, |out| out.write_all(text.as_bytes())).map_err(failed)
    }

    /// Checks that a graph and its tasks are those of the run.
    ///
    /// # Errors
    /// If they are others.
    pub fn check_graph(&self, run: &Path, store: &Store) -> Result<(), ManifestError> {
        self.check_part(run, "a graph", self.graph, store.graph.fingerprint())?;
        match &self.dataset {
            expected if *expected == store.manifest.data => Ok(()),
            expected => Err(ManifestError::OtherTasks {
                path: run.to_owned(),
                expected: expected.clone(),
                found: store.manifest.data.clone(),
            }),
        }
    }

    /// Checks that vectors are those of the run.
    ///
    /// # Errors
    /// If they are others.
    pub fn check_vectors(&self, run: &Path, start: &StartVectors) -> Result<(), ManifestError> {
        self.check_part(run, "vectors", self.vectors, start.checksum())
    }

    fn check_part(
        &self,
        run: &Path,
        what: &'static str,
        expected: u64,
        found: u64,
    ) -> Result<(), ManifestError> {
        let path = run.to_owned();
        if expected == found { Ok(()) } else { Err(ManifestError::Other { path, what, expected, found }) }
    }

    /// Where the graph of the run is.
    #[must_use]
    pub fn graph_at(&self, run: &Path) -> PathBuf {
        // An absolute path replaces the one it is joined to.
        run.join(&self.graph_path)
    }

    /// Where the vectors of the run are now: inside the run, with the graph if they were, or where they were.
    #[must_use]
    pub fn vectors_at(&self, run: &Path, graph: &Path) -> PathBuf {
        let path = &self.vectors_path;
        if path.is_relative() {
            return run.join(path);
        }
        path.strip_prefix(&self.graph_path).map_or_else(|_| path.clone(), |inside| graph.join(inside))
    }
}

/// The checksum of a text.
fn checksum_of(text: &str) -> String {
    format!("{:016x}", FileRecord::of(text.as_bytes()).xxh3)
}

fn absolute(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}
