//! The reader of runs of `rana-fused` that version 1 wrote: all in one file, and no manifest.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::evidence_run::{EvidenceRun, read_json};
use super::evidence_run_error::EvidenceRunError;
use crate::registry;
use crate::training::RunManifest;

/// The only file of a version 1 run.
const VERSION_1: &str = "fused.json";

/// Whether a directory holds a run that version 1 wrote.
pub(crate) fn is_version_1(path: &Path) -> bool {
    path.join(VERSION_1).is_file()
}

/// Reads a run that version 1 wrote.
pub(crate) fn read_version_1(path: &Path) -> Result<(RunManifest, EvidenceRun), EvidenceRunError> {
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
        return Err(EvidenceRunError::Malformed { path: file, message });
    }
    let model = evidence.parts.model.clone().unwrap_or_default();
    let part = RunManifest::read(&path.join(model))?;
    let manifest = RunManifest {
        model: registry::FUSED.to_owned(),
        written_by,
        graph_path,
        vectors_path: evidence.parts.vectors.clone().unwrap_or_default(),
        best: None,
        steps: None,
        seconds: None,
        ..part
    };
    Ok((manifest, evidence))
}
