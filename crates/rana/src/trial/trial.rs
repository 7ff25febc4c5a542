//! [`Trial`]: one configuration tried, from a graph to numbers.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use rana_eval::CardSettings;
use rana_graph::{Observer, Split, Store};
use rana_models::training::{
    MetaTraining, Run, RunConfig, RunError, RunManifest, StartVectors, TrainingError, TrainingOutcome,
};

use super::error::TrialError;
use super::peak_memory::PeakMemory;
use super::trial_identity::TrialIdentity;
use super::trial_result::{Measurement, Measures, TestResult, TrialOutcome, TrialResult, TrialSeconds};
use super::vector_plan::VectorPlan;
use super::workspace::{Workspace, write};
use crate::vector_training::CHECKPOINT_EVERY;

/// The file that ends a trial.
const RESULT: &str = "result.json";
const RUN: &str = "run";

/// One configuration, to be tried on a graph: vectors are made if they are not there, the model is trained,
/// and the best one is measured.
///
/// Nothing is done twice. A trial that was measured is read; one that was interrupted is resumed, to the same numbers.
///
/// ```
/// use rana::embed::{EmbedConfig, ModelKind};
/// use rana::models::training::RunConfig;
/// use rana::fewshot::{PretrainingFacts, SplitConfig, split};
/// use rana::graph::{ImportOptions, Store, import};
/// use rana::trial::{Measures, Trial, VectorPlan, VectorSettings, Workspace};
///
/// # let dir = tempfile::tempdir()?;
/// # let out = dir.path().join("out");
/// let workspace = Workspace::new(out);
/// let umls = import(&[rana::umls()], &ImportOptions::default(), &())?;
/// let cut = split(&umls.graph, &SplitConfig::default())?;
/// Store::write(workspace.graph(), &cut.graph, &cut.tasks, umls.inputs)?;
/// let store = Store::open(workspace.graph())?;
/// let trial = Trial {
///     name: "first".to_owned(),
///     vectors: VectorPlan::Train(VectorSettings {
///         name: "transe".to_owned(),
///         config: EmbedConfig { epochs: 3, ..EmbedConfig::recommended(ModelKind::TransE, 2_500) },
///         facts: PretrainingFacts::Background,
///         shots: 5,
///         fold: None,
///     }),
///     config: RunConfig::preset("rana", "umls")?.with_trainer(|trainer| {
///         (trainer.steps, trainer.eval_every, trainer.batch) = (5, 5, 4);
///     }),
///     measures: Measures::DEV,
///     keep_model: true,
/// };
/// let result = trial.run(&store, &workspace, &())?;
/// assert!(result.measurement().unwrap().dev.micro.mrr > 0.0);
/// assert!(trial.finished(&store, &workspace).is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Trial {
    /// What its directory is called, beside hash and seed.
    pub name: String,
    /// The vectors it starts from.
    pub vectors: VectorPlan,
    /// Its settings, seed included.
    pub config: RunConfig,
    /// What is measured.
    pub measures: Measures,
    /// Whether the model is kept when all is measured. Models take room, and a sweep needs only their numbers.
    pub keep_model: bool,
}

impl Trial {
    /// The data, vectors and settings that identify it.
    #[must_use]
    pub fn identity(&self, store: &Store) -> TrialIdentity {
        TrialIdentity {
            dataset: store.manifest.data.clone(),
            vectors: self.vectors.identity(),
            config: self.config.clone(),
        }
    }

    /// Its directory.
    #[must_use]
    pub fn path(&self, store: &Store, workspace: &Workspace) -> PathBuf {
        workspace.trial(&self.identity(store).directory(&self.name))
    }

    /// Where its run is or will be.
    #[must_use]
    pub fn run_path(&self, store: &Store, workspace: &Workspace) -> PathBuf {
        self.path(store, workspace).join(RUN)
    }

    /// The result of the same trial, if all that is asked for was measured before.
    #[must_use]
    pub fn finished(&self, store: &Store, workspace: &Workspace) -> Option<TrialResult> {
        // A result that cannot be read is of another version, and made again from the run.
        let text = fs::read(self.path(store, workspace).join(RESULT)).ok()?;
        let result: TrialResult = serde_json::from_slice(&text).ok()?;
        let is_measured = result.measures.cover(self.measures);
        (result.identity == self.identity(store) && is_measured).then_some(result)
    }

    /// How much work it is; only ratios between trials count.
    #[must_use]
    pub fn work(&self) -> f64 {
        self.config.work()
    }

    /// Does what is not done yet.
    ///
    /// # Errors
    /// If the parts do not go together, the disk fails, or the trial is stopped. A training that diverges is a
    /// result.
    pub fn run(
        &self,
        store: &Store,
        workspace: &Workspace,
        observer: &dyn Observer,
    ) -> Result<TrialResult, TrialError> {
        if let Some(result) = self.finished(store, workspace) {
            return Ok(result);
        }
        let path = self.path(store, workspace);
        let peak_memory = PeakMemory::start();
        // Before the first second of training.
        MetaTraining::check_tasks(store, &self.config)?;
        let vectors = self.vectors.ready(store, workspace, observer)?;
        let start = MetaTraining::start(store, &self.config, &vectors.set)?;
        let mut seconds = TrialSeconds { pretraining: vectors.seconds, ..TrialSeconds::default() };
        let trained = self.train(store, &path.join(RUN), &vectors.path, start.clone(), observer);
        let outcome = match trained {
            Ok(run) => {
                seconds.training = run.manifest.seconds.unwrap_or_default();
                let started = Instant::now();
                let measurement = self.measure(store, &run, &start, observer)?;
                seconds.evaluation = started.elapsed().as_secs_f64();
                TrialOutcome::Measured(Box::new(measurement))
            }
            Err(TrialError::Training(
                error @ (TrainingError::Diverged { .. } | TrainingError::Validation(_)),
            )) => TrialOutcome::Failed { reason: error.to_string() },
            Err(error) => return Err(error),
        };
        let result = TrialResult {
            identity: self.identity(store),
            measures: self.measures,
            outcome,
            seconds,
            peak_memory: peak_memory.bytes(),
            written_by: concat!("rana ", env!("CARGO_PKG_VERSION")).to_owned(),
        };
        let text = serde_json::to_vec_pretty(&result)
            .map_err(|error| TrialError::io(&path, "write the result")(error.into()))?;
        write(&path.join(RESULT), &text)?;
        if !self.keep_model {
            remove_models(&path.join(RUN));
        }
        Ok(result)
    }

    /// The finished run of this trial.
    fn train(
        &self,
        store: &Store,
        path: &Path,
        vectors: &Path,
        start: StartVectors,
        observer: &dyn Observer,
    ) -> Result<Run, TrialError> {
        let config = self.config.in_unit_of(&start);
        let manifest = RunManifest::new(config.model.model_name(), store, vectors, &start);
        let layout = MetaTraining::layout(store, &config, start.dim());
        let (mut run, from) = match Run::is_at(path) {
            false => (Run::create(path, manifest, config.clone())?, None),
            true => {
                let mut run = Run::open(path)?;
                let is_same = run.config == config && run.check(store, &start).is_ok();
                if !is_same {
                    return Err(TrialError::Taken { path: path.to_owned(), what: "a run" });
                }
                if run.is_finished() && run.parameters(&layout, &start).is_ok() {
                    return Ok(run);
                }
                match if run.is_finished() { Ok(None) } else { run.resume(&layout, &start) } {
                    Ok(Some(from)) => (run, Some(from)),
                    // Killed before its first checkpoint was whole, or its model was removed: it begins again.
                    Ok(None) | Err(RunError::NoCheckpoint { .. }) => {
                        drop(run);
                        discard(path)?;
                        (Run::create(path, manifest, config.clone())?, None)
                    }
                    Err(error) => return Err(error.into()),
                }
            }
        };
        let mut training = MetaTraining::new(store, config.clone(), start)?;
        training.checkpoint_every = CHECKPOINT_EVERY;
        // Trials are measured by ranks; a calibration would cost time and not be looked at.
        training.calibrates = false;
        match training.run(&mut run, from, observer)? {
            TrainingOutcome::Stopped => Err(TrialError::Stopped),
            TrainingOutcome::Finished | TrainingOutcome::OutOfPatience => Ok(run),
        }
    }

    /// Measures the best model of a run.
    fn measure(
        &self,
        store: &Store,
        run: &Run,
        start: &StartVectors,
        observer: &dyn Observer,
    ) -> Result<Measurement, TrialError> {
        let best = run.manifest.best.ok_or_else(|| RunError::NoModel { path: run.path().to_owned() })?;
        let models = MetaTraining::models_from(store, run, start)?;
        let model = models.trained;
        let shots = self.config.trainer.shots;
        let name = self.config.model.model_name();
        let dev = CardSettings { split: Split::Dev, shots, draws: 0, ..CardSettings::default() };
        let dev = dev.evaluate((name, &*model), &[], &store.graph, &store.tasks, &())?.result.official;
        let test = match self.measures {
            Measures { test: true, draws, common_shots } => {
                let settings = CardSettings { shots, draws, common_shots, ..CardSettings::default() };
                let card = settings.evaluate(
                    (self.config.model.model_name(), &*model),
                    &[],
                    &store.graph,
                    &store.tasks,
                    observer,
                )?;
                Some(TestResult::from(&card))
            }
            Measures { test: false, .. } => None,
        };
        Ok(Measurement {
            best_step: best.step,
            selection_mrr: best.dev_mrr,
            steps: run.manifest.steps.unwrap_or_default(),
            learned: Some(models.learned_parameters),
            dev,
            test,
        })
    }
}

/// Removes the models of a finished run; its log and configuration stay.
fn remove_models(run: &Path) {
    let Ok(entries) = fs::read_dir(run) else { return };
    for entry in entries.flatten() {
        if entry.path().extension().is_some_and(|ending| ending == "safetensors") {
            // What cannot be removed only takes room.
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Removes a run; if the process is killed meanwhile, no half of it is left in its place.
fn discard(run: &Path) -> Result<(), TrialError> {
    let aside = run.with_extension("discarded");
    let failed = || TrialError::io(run, "remove the unfinished run");
    if aside.exists() {
        fs::remove_dir_all(&aside).map_err(failed())?;
    }
    fs::rename(run, &aside).map_err(failed())?;
    fs::remove_dir_all(&aside).map_err(failed())
}
