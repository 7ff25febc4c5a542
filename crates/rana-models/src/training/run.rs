//! [`Run`]: the directory of one training.
//!
//! ```text
//! RUN/
//!   run.json                      the manifest: model, graph, vectors, program, how it ended
//!   config.toml                   the configuration, every field
//!   metrics.jsonl                 the log: one JSON object per line, the same bytes for the same seed
//!   model-<step>.safetensors      the best model so far
//!   calibration.json              how scores become confidence, if there were enough tasks to learn it
//!   checkpoint.safetensors        the state that an unfinished training resumes from
//! ```
//!
//! Every file but the log is written under another name and renamed. The log only grows; a checkpoint
//! records its length, and resuming cuts off what came after.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rana_embed::TableError;
use rana_embed::format::{Tensor, TensorFile, Values};
use rana_eval::confidence::Calibration;
use rana_graph::{EntityId, Store, unfinished, write_file_atomically};
use serde::{Deserialize, Serialize};

use super::config::ConfigError;
use super::learned_rows::LearnedRows;
use super::manifest::{BestRecord, Manifest, ManifestError};
use super::optimiser::{Moments, RowMoments};
use super::parameters::{ParameterLayout, Parameters, StartVectors};
use super::run_config::RunConfig;
use super::state::{Best, TrainingOutcome, TrainingState};
use super::weight_blocks::WeightBlocks;

const MANIFEST: &str = Manifest::FILE;
const CALIBRATION: &str = "calibration.json";
const CONFIG: &str = "config.toml";
const METRICS: &str = "metrics.jsonl";
const CHECKPOINT: &str = "checkpoint.safetensors";
const LOCK: &str = ".lock";
/// The prefix of the tensors of buffers.
const BUFFER: &str = "buffer.";
/// The key of the note in a file of tensors.
const NOTE: &str = "rana";

/// Why a run cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A file cannot be accessed.
    #[error("{}: could not {action}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The operation that failed.
        action: &'static str,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The manifest cannot be read, or the run belongs to something else.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// Something else is in the way.
    #[error("{}: the directory holds something else. Give an empty or a new one", path.display())]
    Foreign {
        /// The directory.
        path: PathBuf,
    },
    /// There is a run already.
    #[error("{}: there is a run already. Resume it, or choose another directory", path.display())]
    Exists {
        /// The directory.
        path: PathBuf,
    },
    /// A file makes no sense.
    #[error("{}: {message}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        message: String,
    },
    /// A field of the configuration cannot be used.
    #[error("{}: {source}", path.display())]
    Config {
        /// The file.
        path: PathBuf,
        /// The field.
        source: ConfigError,
    },
    /// A file of tensors cannot be read or written.
    #[error(transparent)]
    Tensors(#[from] TableError),
    /// Another process trains into it.
    #[error("{}: another training writes this run. Wait for it, or choose another directory", path.display())]
    Locked {
        /// The directory.
        path: PathBuf,
    },
    /// Nothing was learned yet.
    #[error("{}: the run has no model yet. Resume its training", path.display())]
    NoModel {
        /// The directory.
        path: PathBuf,
    },
    /// There is nothing to resume from.
    #[error("{}: the checkpoint is missing. Begin a new run", path.display())]
    NoCheckpoint {
        /// The directory.
        path: PathBuf,
    },
}

impl RunError {
    fn io(path: &Path, action: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { path: path.to_owned(), action, source }
    }
}

/// The directory of one training.
#[derive(Debug)]
pub struct Run {
    path: PathBuf,
    /// Its manifest.
    pub manifest: Manifest,
    /// Its configuration.
    pub config: RunConfig,
    /// Held while a training writes it.
    lock: Option<File>,
}

/// A calibration and what it belongs to.
#[derive(Serialize, Deserialize)]
struct KeptCalibration {
    /// The step of the model.
    step: Option<u64>,
    dataset: String,
    calibration: Option<Calibration>,
}

/// The content of a checkpoint apart from its tensors.
#[derive(Serialize, Deserialize)]
struct CheckpointNote {
    step: u64,
    misses: u64,
    loss_sum: f64,
    loss_steps: u64,
    best: Option<BestRecord>,
    /// How many bytes the log had.
    log_bytes: u64,
    /// How long training took so far.
    seconds: f64,
}

impl Run {
    /// Begins a run in a new or an empty directory.
    ///
    /// # Errors
    /// If something is there already, or the disk refuses.
    pub fn create(path: impl Into<PathBuf>, manifest: Manifest, config: RunConfig) -> Result<Self, RunError> {
        let path = path.into();
        Self::check_target(&path)?;
        fs::create_dir_all(&path).map_err(RunError::io(&path, "create the directory"))?;
        let lock = Some(lock(&path)?);
        let run = Self { path, manifest, config, lock };
        let text = toml::to_string(&run.config)
            .map_err(|error| run.malformed(CONFIG, &format!("cannot be written: {error}")))?;
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
        if path.join(MANIFEST).exists() {
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
        path.join(MANIFEST).exists()
    }

    /// Opens a run.
    ///
    /// # Errors
    /// If there is no run, or its files are malformed.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, RunError> {
        let path = path.into();
        let manifest = Manifest::read(&path)?;
        let malformed = |name: &str, message: String| RunError::Malformed { path: path.join(name), message };
        let file = path.join(CONFIG);
        let text = fs::read_to_string(&file).map_err(RunError::io(&file, "read the file"))?;
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
    /// If one is another.
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

    fn read_model(
        &self,
        step: u64,
        layout: &Arc<ParameterLayout>,
        start: &StartVectors,
    ) -> Result<Parameters, RunError> {
        let name = model_name(step);
        let (file, _) = TensorFile::open(&self.path.join(&name), NOTE)?;
        self.read_parameters(&name, &file, layout, start)
    }

    fn read_parameters(
        &self,
        name: &str,
        file: &TensorFile,
        layout: &Arc<ParameterLayout>,
        start: &StartVectors,
    ) -> Result<Parameters, RunError> {
        let weights = self.read_blocks(name, file, &layout.blocks, "")?;
        let buffers = self.read_blocks(name, file, &layout.buffers, BUFFER)?;
        let relations = match layout.learns_relations {
            true => file.f32("relations")?.to_vec(),
            false => start.relations.clone(),
        };
        let entities: Vec<EntityId> = file.u32("rows.entities")?.iter().copied().map(EntityId).collect();
        let values = file.f32("rows.values")?.to_vec();
        let rows = LearnedRows::with_copies(layout.entity_rows(start), entities, values);
        match rows {
            Some(rows) if relations.len() == start.relations.len() => {
                Ok(Parameters { layout: Arc::clone(layout), weights, buffers, relations, rows })
            }
            _ => Err(self.malformed(name, "its rows are not those of this graph")),
        }
    }

    /// The values of some blocks, each a tensor of its name behind a prefix.
    fn read_blocks(
        &self,
        name: &str,
        file: &TensorFile,
        blocks: &WeightBlocks,
        prefix: &str,
    ) -> Result<Vec<f32>, RunError> {
        let mut all = Vec::with_capacity(blocks.len());
        for block in blocks.blocks() {
            let values = file.f32(&format!("{prefix}{}", block.name))?;
            if values.len() != block.rows * block.columns {
                let message = format!(
                    "`{prefix}{}` has {} values where the configuration has {}",
                    block.name,
                    values.len(),
                    block.rows * block.columns
                );
                return Err(self.malformed(name, &message));
            }
            all.extend_from_slice(&values);
        }
        Ok(all)
    }

    /// The calibration that was learned with the model, if one is kept; `Some(None)` if there were too few tasks.
    #[must_use]
    pub fn calibration(&self) -> Option<Option<Calibration>> {
        let text = fs::read(self.path.join(CALIBRATION)).ok()?;
        let kept: KeptCalibration = serde_json::from_slice(&text).ok()?;
        (kept.step == self.manifest.best.map(|best| best.step) && kept.dataset == self.manifest.dataset)
            .then_some(kept.calibration)
    }

    /// Keeps the calibration of the best model.
    fn write_calibration(&self, calibration: Option<Calibration>) -> Result<(), RunError> {
        let kept = KeptCalibration {
            step: self.manifest.best.map(|best| best.step),
            dataset: self.manifest.dataset.clone(),
            calibration,
        };
        let text = serde_json::to_vec_pretty(&kept)
            .map_err(|error| self.malformed(CALIBRATION, &error.to_string()))?;
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

    /// Writes the state of a training, so that it can be resumed from here.
    ///
    /// # Errors
    /// If the disk refuses; the checkpoint before then stays usable.
    pub fn write_checkpoint(&mut self, state: &TrainingState, seconds: f64) -> Result<(), RunError> {
        self.write_best(state)?;
        let log = self.path.join(METRICS);
        // What the checkpoint counts on must be on disk before it.
        let file = File::open(&log).map_err(RunError::io(&log, "open the file"))?;
        file.sync_all().map_err(RunError::io(&log, "write the file"))?;
        let log_bytes = file.metadata().map_err(RunError::io(&log, "look at the file"))?.len();
        let note = CheckpointNote {
            step: state.step,
            misses: state.misses,
            loss_sum: state.loss_sum,
            loss_steps: state.loss_steps,
            best: record(state),
            log_bytes,
            seconds,
        };
        let note =
            serde_json::to_string(&note).map_err(|error| self.malformed(CHECKPOINT, &error.to_string()))?;
        let mut tensors = self.parameter_tensors(&state.parameters);
        let last = &state.row_moments.last;
        let plain = |name: &str, values| Tensor { name: name.to_owned(), shape: vec![len(values)], values };
        for (name, moments) in [
            ("weights", &state.weight_moments),
            ("relations", &state.relation_moments),
            ("rows", &state.row_moments.moments),
        ] {
            tensors.push(plain(&format!("adam.{name}.first"), Values::F32(&moments.first)));
            tensors.push(plain(&format!("adam.{name}.second"), Values::F32(&moments.second)));
        }
        tensors.push(plain("adam.rows.last", Values::U64(last)));
        TensorFile::write(&self.path.join(CHECKPOINT), (NOTE, &note), &tensors)?;
        self.remove_old_models(state.best.as_ref().map(|best| best.step));
        Ok(())
    }

    /// The state that a training resumes from, and how long it had taken; later lines of the log are cut off. `None`
    /// if it was killed before its first checkpoint: it then starts again, to the same result.
    ///
    /// # Errors
    /// If the checkpoint of a stopped training is missing, was cut short or altered, or another process trains.
    pub fn resume(
        &mut self,
        layout: &Arc<ParameterLayout>,
        start: &StartVectors,
    ) -> Result<Option<(TrainingState, f64)>, RunError> {
        self.lock = Some(lock(&self.path)?);
        let path = self.path.join(CHECKPOINT);
        if !path.exists() {
            if self.manifest.outcome.is_some() {
                return Err(RunError::NoCheckpoint { path });
            }
            // The first model is written before the first checkpoint, and it may have been killed in between.
            self.manifest.best = None;
            self.write_manifest()?;
            self.write(METRICS, b"")?;
            return Ok(None);
        }
        let (file, note) = TensorFile::open(&path, NOTE)?;
        let note: CheckpointNote = serde_json::from_str(&note)
            .map_err(|error| self.malformed(CHECKPOINT, &format!("its note makes no sense: {error}")))?;
        let parameters = self.read_parameters(CHECKPOINT, &file, layout, start)?;
        let moments = |name: &str, len: usize| {
            let first = file.f32(&format!("adam.{name}.first"))?.to_vec();
            let second = file.f32(&format!("adam.{name}.second"))?.to_vec();
            if first.len() != len || second.len() != len {
                return Err(self.malformed(CHECKPOINT, &format!("the state of `{name}` has another size")));
            }
            Ok(Moments { first, second })
        };
        let row_moments = RowMoments {
            moments: moments("rows", parameters.rows.learned_values().len())?,
            last: file.u64("adam.rows.last")?.to_vec(),
        };
        if row_moments.last.len() != parameters.rows.learned().len() {
            return Err(self.malformed(CHECKPOINT, "the state of `rows` has another size"));
        }
        let best = match note.best {
            None => None,
            Some(BestRecord { step, dev_mrr }) => {
                Some(Best { step, dev_mrr, parameters: Arc::new(self.read_model(step, layout, start)?) })
            }
        };
        let state = TrainingState {
            step: note.step,
            best,
            misses: note.misses,
            weight_moments: moments("weights", parameters.weights.len())?,
            relation_moments: moments(
                "relations",
                if layout.learns_relations { parameters.relations.len() } else { 0 },
            )?,
            row_moments,
            parameters,
            loss_sum: note.loss_sum,
            loss_steps: note.loss_steps,
        };
        let log = self.path.join(METRICS);
        let file = OpenOptions::new().write(true).open(&log).map_err(RunError::io(&log, "open the file"))?;
        let found = file.metadata().map_err(RunError::io(&log, "look at the file"))?.len();
        if found < note.log_bytes {
            return Err(self.malformed(
                METRICS,
                &format!("{found} bytes long, expected at least {}; the log was cut short", note.log_bytes),
            ));
        }
        file.set_len(note.log_bytes).map_err(RunError::io(&log, "cut the file"))?;
        Ok(Some((state, note.seconds)))
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
        self.manifest.best = record(state);
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
    fn write_best(&mut self, state: &TrainingState) -> Result<(), RunError> {
        let Some(best) = &state.best else { return Ok(()) };
        let path = self.path.join(model_name(best.step));
        if self.manifest.best.is_some_and(|known| known.step == best.step) && path.exists() {
            return Ok(());
        }
        let note = serde_json::to_string(&BestRecord { step: best.step, dev_mrr: best.dev_mrr })
            .map_err(|error| self.malformed(MANIFEST, &error.to_string()))?;
        TensorFile::write(&path, (NOTE, &note), &self.parameter_tensors(&best.parameters))?;
        self.manifest.best = record(state);
        self.write_manifest()
    }

    /// Removes models that neither the manifest nor the last checkpoint names.
    fn remove_old_models(&self, current: Option<u64>) {
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

    fn parameter_tensors<'p>(&self, parameters: &'p Parameters) -> Vec<Tensor<'p>> {
        let layout = &parameters.layout;
        let all = [("", &layout.blocks, &parameters.weights), (BUFFER, &layout.buffers, &parameters.buffers)];
        let mut tensors: Vec<Tensor<'p>> = Vec::new();
        for (prefix, blocks, values) in all {
            tensors.extend(blocks.blocks().iter().map(|block| Tensor {
                name: format!("{prefix}{}", block.name),
                shape: vec![block.rows, block.columns],
                values: Values::F32(&values[block.range()]),
            }));
        }
        let dim = parameters.rows.dim();
        if parameters.layout.learns_relations {
            tensors.push(Tensor {
                name: "relations".to_owned(),
                shape: vec![parameters.relations.len() / dim, dim],
                values: Values::F32(&parameters.relations),
            });
        }
        let rows = &parameters.rows;
        tensors.push(Tensor {
            name: "rows.entities".to_owned(),
            shape: vec![rows.learned().len()],
            values: Values::U32(bytemuck::cast_slice(rows.learned())),
        });
        tensors.push(Tensor {
            name: "rows.values".to_owned(),
            shape: vec![rows.learned().len(), dim],
            values: Values::F32(rows.learned_values()),
        });
        tensors
    }

    fn write_manifest(&self) -> Result<(), RunError> {
        Ok(self.manifest.write(&self.path)?)
    }

    fn write(&self, name: &str, content: &[u8]) -> Result<(), RunError> {
        let path = self.path.join(name);
        write_file_atomically(&path, |out| out.write_all(content))
            .map_err(RunError::io(&path, "write the file"))
    }

    fn malformed(&self, name: &str, message: &str) -> RunError {
        RunError::Malformed { path: self.path.join(name), message: message.to_owned() }
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
fn lock(path: &Path) -> Result<File, RunError> {
    let file = path.join(LOCK);
    let lock = File::create(&file).map_err(RunError::io(&file, "create the file"))?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(TryLockError::WouldBlock) => Err(RunError::Locked { path: path.to_owned() }),
        Err(TryLockError::Error(source)) => Err(RunError::io(&file, "lock the file")(source)),
    }
}

fn record(state: &TrainingState) -> Option<BestRecord> {
    state.best.as_ref().map(|best| BestRecord { step: best.step, dev_mrr: best.dev_mrr })
}

fn len(values: Values<'_>) -> usize {
    match values {
        Values::F32(values) => values.len(),
        Values::U32(values) => values.len(),
        Values::U64(values) => values.len(),
    }
}
