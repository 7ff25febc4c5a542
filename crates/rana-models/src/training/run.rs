//! [`Run`]: the directory of one training.
//!
//! ```text
//! RUN/
//!   run.json                      the manifest: model, graph, vectors, program, how it ended
//!   config.toml                   the configuration, every field
//!   metrics.jsonl                 the log: one JSON object per line, the same bytes for the same seed
//!   model-<step>.safetensors      the best model so far
//!   calibration.json              how scores become confidence, if there were enough tasks to learn it
//!   learning-curve.svg, .png      the MRR on dev by step; `rana train` draws it
//!   checkpoint.safetensors        the state that an unfinished training resumes from
//! ```
//!
//! Every file but the log is written under another name and renamed. The log only grows; a checkpoint
//! records its length, and resuming cuts off what came after.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rana_embed::format::TensorFile;
use rana_eval::confidence::Calibration;
use rana_graph::{DirectoryLock, Store, unfinished, write_file_atomically};
use serde::{Deserialize, Serialize};

use super::parameter_tensors::{parameter_tensors, read_parameters};
use super::parameters::{ParameterLayout, Parameters};
use super::run_config::RunConfig;
use super::run_error::RunError;
use super::run_manifest::{BestRecord, RunManifest};
use super::start_vectors::StartVectors;
use super::training_state::{TrainingOutcome, TrainingState};

const MANIFEST: &str = RunManifest::FILE;
const CALIBRATION: &str = "calibration.json";
const CONFIG: &str = "config.toml";
pub(super) const METRICS: &str = "metrics.jsonl";
pub(super) const CHECKPOINT: &str = "checkpoint.safetensors";
const LOCK: &str = ".lock";
/// The key of the note in a file of tensors.
pub(super) const NOTE: &str = "rana";

/// The directory of one training.
#[derive(Debug)]
pub struct Run {
    pub(super) path: PathBuf,
    /// Its manifest.
    pub manifest: RunManifest,
    /// Its configuration.
    pub config: RunConfig,
    /// Held while a training writes it.
    pub(super) lock: Option<DirectoryLock>,
}

/// A calibration and what it belongs to.
#[derive(Serialize, Deserialize)]
struct KeptCalibration {
    /// The step of the model.
    step: Option<u64>,
    dataset: String,
    calibration: Option<Calibration>,
}

impl Run {
    /// Begins a run in a new or an empty directory.
    ///
    /// # Errors
    /// If something is there already, or the disk refuses.
    pub fn create(
        path: impl Into<PathBuf>,
        manifest: RunManifest,
        config: RunConfig,
    ) -> Result<Self, RunError> {
        let path = path.into();
        Self::check_target(&path)?;
        fs::create_dir_all(&path).map_err(RunError::io(&path, "create the directory"))?;
        let lock = Some(lock(&path)?);
        let mut run = Self { path, manifest, config, lock };
        let text = toml::to_string(&run.config)
            .map_err(|error| run.malformed(CONFIG, &format!("cannot be written: {error}")))?;
        run.manifest.record(CONFIG, text.as_bytes());
        run.write(CONFIG, text.as_bytes())?;
        run.write(METRICS, b"")?;
        run.write_manifest()?;
        Ok(run)
    }

    /// Checks that a run may be begun at `path`, before the work for it.
    ///
    /// # Errors
    /// If something is there already.
    pub fn check_target(path: &Path) -> Result<(), RunError> {
        if RunManifest::is_at(path) {
            return Err(RunError::Exists { path: path.to_owned() });
        }
        let has_entries = match fs::read_dir(path) {
            // A run that was killed before it had a manifest may be begun again.
            Ok(mut entries) => entries.any(|entry| {
                entry.is_ok_and(|entry| {
                    let name = entry.file_name();
                    let name = name.to_string_lossy();
                    name != CONFIG && name != METRICS && name != LOCK && !is_unfinished(&name)
                })
            }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => false,
            Err(error) => return Err(RunError::io(path, "list the directory")(error)),
        };
        if has_entries { Err(RunError::Foreign { path: path.to_owned() }) } else { Ok(()) }
    }

    /// Whether there is a run at `path`.
    #[must_use]
    pub fn is_at(path: &Path) -> bool {
        RunManifest::is_at(path)
    }

    /// Opens a run.
    ///
    /// # Errors
    /// If there is no run, or its files are malformed.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, RunError> {
        let path = path.into();
        let manifest = RunManifest::read(&path)?;
        let malformed = |name: &str, message: String| RunError::Malformed { path: path.join(name), message };
        let file = path.join(CONFIG);
        let text = fs::read_to_string(&file).map_err(RunError::io(&file, "read the file"))?;
        manifest.verify(&path, CONFIG, text.as_bytes())?;
        let config: RunConfig = toml::from_str(&text)
            .map_err(|error| malformed(CONFIG, error.to_string().trim_end().to_owned()))?;
        config.check().map_err(|source| RunError::Config { path: file, source })?;
        Ok(Self { path, manifest, config, lock: None })
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether training is over.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.manifest.outcome.is_some_and(|outcome| outcome != TrainingOutcome::Stopped)
    }

    /// Checks that a graph, its tasks and vectors are those of this run.
    ///
    /// # Errors
    /// If any of them differs from what the run was trained on.
    pub fn check(&self, store: &Store, start: &StartVectors) -> Result<(), RunError> {
        self.manifest.check_graph(&self.path, store)?;
        Ok(self.manifest.check_vectors(&self.path, start)?)
    }

    /// The best model's parameters.
    ///
    /// # Errors
    /// If there is no checkpoint, or its file was truncated, altered, or has another configuration.
    pub fn parameters(
        &self,
        layout: &Arc<ParameterLayout>,
        start: &StartVectors,
    ) -> Result<Parameters, RunError> {
        let best = self.manifest.best.ok_or_else(|| RunError::NoModel { path: self.path.clone() })?;
        self.read_model(best.step, layout, start)
    }

    pub(super) fn read_model(
        &self,
        step: u64,
        layout: &Arc<ParameterLayout>,
        start: &StartVectors,
    ) -> Result<Parameters, RunError> {
        let path = self.path.join(model_name(step));
        let (file, _) = TensorFile::open(&path, NOTE)?;
        read_parameters(&path, &file, "", layout, start)
    }

    /// The calibration that was learned with the model, if one is kept; `Some(None)` if there were too few tasks.
    ///
    /// # Errors
    /// If the file cannot be read, was changed, or says something impossible.
    pub fn calibration(&self) -> Result<Option<Option<Calibration>>, RunError> {
        let path = self.path.join(CALIBRATION);
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(RunError::io(&path, "read the file")(error)),
        };
        self.manifest.verify(&self.path, CALIBRATION, &text)?;
        let kept: KeptCalibration =
            serde_json::from_slice(&text).map_err(|error| RunError::malformed(&path, &error.to_string()))?;
        if let Some(calibration) = &kept.calibration {
            calibration.check().map_err(|problem| RunError::malformed(&path, &problem))?;
        }
        let is_own =
            kept.step == self.manifest.best.map(|best| best.step) && kept.dataset == self.manifest.dataset;
        Ok(is_own.then_some(kept.calibration))
    }

    /// Keeps the calibration of the best model.
    fn write_calibration(&mut self, calibration: Option<Calibration>) -> Result<(), RunError> {
        let kept = KeptCalibration {
            step: self.manifest.best.map(|best| best.step),
            dataset: self.manifest.dataset.clone(),
            calibration,
        };
        let text = serde_json::to_vec_pretty(&kept)
            .map_err(|error| self.malformed(CALIBRATION, &error.to_string()))?;
        self.manifest.record(CALIBRATION, &text);
        self.write(CALIBRATION, &text)
    }

    /// Adds lines to the log.
    ///
    /// # Errors
    /// If the disk refuses.
    pub fn log(&self, entry: &impl Serialize) -> Result<(), RunError> {
        let path = self.path.join(METRICS);
        let mut line =
            serde_json::to_vec(entry).map_err(|error| self.malformed(METRICS, &error.to_string()))?;
        line.push(b'\n');
        let mut file = OpenOptions::new()
            .append(true)
            .create(true)
            .open(&path)
            .map_err(RunError::io(&path, "open the file"))?;
        file.write_all(&line).map_err(RunError::io(&path, "write the file"))
    }

    /// Ends the run: the best model stays, with its calibration if it was made; a checkpoint stays only if the training
    /// was stopped. The manifest is written last, so that a run that is finished is whole.
    ///
    /// # Errors
    /// If the disk refuses.
    pub fn finish(
        &mut self,
        state: &TrainingState,
        outcome: TrainingOutcome,
        seconds: f64,
        calibration: Option<Option<Calibration>>,
    ) -> Result<(), RunError> {
        if outcome == TrainingOutcome::Stopped {
            self.write_checkpoint(state, seconds)?;
        } else {
            self.write_best(state)?;
        }
        self.manifest.best = state.best_record();
        if let Some(calibration) = calibration {
            self.write_calibration(calibration)?;
        }
        self.manifest.outcome = Some(outcome);
        self.manifest.steps = Some(state.step);
        self.manifest.seconds = Some(seconds);
        self.write_manifest()?;
        if outcome != TrainingOutcome::Stopped {
            self.remove_old_models(state.best.as_ref().map(|best| best.step));
            let _ = fs::remove_file(self.path.join(CHECKPOINT));
        }
        Ok(())
    }

    /// Writes the best model if it is new.
    pub(super) fn write_best(&mut self, state: &TrainingState) -> Result<(), RunError> {
        let Some(best) = &state.best else { return Ok(()) };
        let path = self.path.join(model_name(best.step));
        if self.manifest.best.is_some_and(|known| known.step == best.step) && path.exists() {
            return Ok(());
        }
        let note = serde_json::to_string(&BestRecord { step: best.step, dev_mrr: best.dev_mrr })
            .map_err(|error| self.malformed(MANIFEST, &error.to_string()))?;
        TensorFile::write(&path, (NOTE, &note), &parameter_tensors(&best.parameters, ""))?;
        self.manifest.best = state.best_record();
        self.write_manifest()
    }

    /// Removes models that neither the manifest nor the last checkpoint names.
    pub(super) fn remove_old_models(&self, current: Option<u64>) {
        let current = current.map(model_name);
        let Ok(entries) = fs::read_dir(&self.path) else { return };
        for entry in entries.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let is_model = is_model(&name) && Some(&name) != current.as_ref();
            if is_model || is_unfinished(&name) {
                // What cannot be removed does no harm.
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    pub(super) fn write_manifest(&self) -> Result<(), RunError> {
        Ok(self.manifest.write(&self.path)?)
    }

    pub(super) fn write(&self, name: &str, content: &[u8]) -> Result<(), RunError> {
        let path = self.path.join(name);
        write_file_atomically(&path, |out| out.write_all(content))
            .map_err(RunError::io(&path, "write the file"))
    }

    pub(super) fn malformed(&self, name: &str, message: &str) -> RunError {
        RunError::malformed(&self.path.join(name), message)
    }
}

const MODEL_PREFIX: &str = "model-";
const MODEL_ENDING: &str = ".safetensors";

fn model_name(step: u64) -> String {
    format!("{MODEL_PREFIX}{step}{MODEL_ENDING}")
}

/// Whether a file is a model of a run; others may have names that begin alike.
fn is_model(name: &str) -> bool {
    name.strip_prefix(MODEL_PREFIX)
        .and_then(|rest| rest.strip_suffix(MODEL_ENDING))
        .is_some_and(|step| step.parse::<u64>().is_ok())
}

/// Whether a file is one of a run's own that a killed writer left.
fn is_unfinished(name: &str) -> bool {
    unfinished(name).is_some_and(|name| {
        [MANIFEST, CONFIG, METRICS, CHECKPOINT, CALIBRATION].contains(&name) || is_model(name)
    })
}

/// Keeps others from training into the same directory until it is dropped.
pub(super) fn lock(path: &Path) -> Result<DirectoryLock, RunError> {
    let file = path.join(LOCK);
    let lock = DirectoryLock::take(&file).map_err(RunError::io(&file, "lock the file"))?;
    lock.ok_or_else(|| RunError::Locked { path: path.to_owned() })
}
