//! [`MetaTraining`]: from a graph and its vectors to a run, the model chosen by its MRR on dev.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rana_embed::EmbeddingSet;
use rana_eval::FewShotEvaluation;
use rana_eval::confidence::Calibration;
use rana_fewshot::{FewShotModel, TrainingTasks};
use rana_graph::{Observer, Split, Store};

use super::calibration::calibrate;
use super::error::TrainingError;
use super::field_checks::require;
use super::parameters::ParameterLayout;
use super::run::Run;
use super::run_config::RunConfig;
use super::start_vectors::StartVectors;
use super::trainer::Trainer;
use super::trainer_config::Lengths;
use super::training_log::{LogEntry, LogLine, TrainingLog, ValidationReport};
use super::training_state::{TrainingOutcome, TrainingState};

/// The training of a model on a graph.
pub struct MetaTraining<'s> {
    store: &'s Store,
    config: RunConfig,
    start: StartVectors,
    tasks: TrainingTasks<'s>,
    /// How often the state is written to disk.
    pub checkpoint_every: Duration,
    /// Whether the best model is calibrated in the end.
    pub calibrates: bool,
}

impl<'s> MetaTraining<'s> {
    /// Prepares a training; everything that can be checked before it starts is checked.
    ///
    /// # Errors
    /// If the configuration, the vectors and the tasks do not go together.
    pub fn new(store: &'s Store, config: RunConfig, start: StartVectors) -> Result<Self, TrainingError> {
        config.check()?;
        let trainer = &config.trainer;
        let tasks = TrainingTasks::new(
            &store.graph,
            &store.tasks,
            trainer.fold,
            trainer.data_mode,
            trainer.candidates,
        );
        Trainer::check_dev(trainer.shots, &store.graph, tasks.benchmark())?;
        let (checkpoint_every, calibrates) = (Duration::from_secs(60), config.trainer.fold.is_none());
        let this = Self { store, config, start, tasks, checkpoint_every, calibrates };
        this.trainer()?;
        Ok(this)
    }

    /// Checks that a graph has the tasks that a configuration needs. Vectors are not needed for that, so it can be
    /// done before they are trained.
    ///
    /// # Errors
    /// If there are no dev tasks, or some have no candidates or too few facts.
    pub fn check_tasks(store: &Store, config: &RunConfig) -> Result<(), TrainingError> {
        config.check()?;
        let trainer = &config.trainer;
        let tasks = TrainingTasks::new(
            &store.graph,
            &store.tasks,
            trainer.fold,
            trainer.data_mode,
            trainer.candidates,
        );
        Trainer::check_dev(trainer.shots, &store.graph, tasks.benchmark())?;
        Trainer::check_episodes(trainer, &tasks)
    }

    /// The vectors that a configuration starts from: those pre-trained, or random ones of the same width.
    ///
    /// # Errors
    /// If no model can start from these vectors, or they know the tasks that a fold leaves out.
    pub fn start(
        store: &Store,
        config: &RunConfig,
        set: &EmbeddingSet,
    ) -> Result<StartVectors, TrainingError> {
        let (metadata, trainer) = (&set.metadata, &config.trainer);
        if let Some(fold) = trainer.fold
            && metadata.task_facts.is_some()
            && metadata.fold.as_deref() != Some(&fold.to_string())
        {
            return Err(TrainingError::FoldIsKnown { fold, without: metadata.fold.clone() });
        }
        Ok(match trainer.data_mode.starts_from_pretrained() {
            true => StartVectors::pretrained(&store.graph, set)?,
            false => StartVectors::random(&store.graph, set.entities.dim(), trainer.seed),
        })
    }

    /// What the model of a configuration learns from vectors of a dimension.
    #[must_use]
    pub fn layout(store: &Store, config: &RunConfig, dim: usize) -> Arc<ParameterLayout> {
        Arc::clone(config.model.model(&config.trainer, &store.graph, dim).layout())
    }

    /// The trained model of a run, and the same model before any training.
    ///
    /// # Errors
    /// If the run does not belong to the graph, its tasks or the vectors, or its model cannot be read.
    pub fn models(store: &Store, run: &Run, set: &EmbeddingSet) -> Result<RunModels, TrainingError> {
        Self::models_from(store, run, &Self::start(store, &run.config, set)?)
    }

    /// The same, from the vectors that its training started from.
    ///
    /// # Errors
    /// As [`models`](Self::models).
    pub fn models_from(store: &Store, run: &Run, start: &StartVectors) -> Result<RunModels, TrainingError> {
        run.check(store, start)?;
        let model = run.config.model.model(&run.config.trainer, &store.graph, start.dim());
        let parameters = run.parameters(model.layout(), start)?;
        let learned_parameters = parameters.learned_count();
        Ok(RunModels {
            trained: model.freeze(Arc::new(parameters)),
            untrained: model.freeze(Arc::new(model.initial(start))),
            learned_parameters,
        })
    }

    /// What training starts from.
    #[must_use]
    pub fn start_vectors(&self) -> &StartVectors {
        &self.start
    }

    /// A trainer at its start.
    ///
    /// # Errors
    /// If no episode can be drawn.
    pub fn trainer(&self) -> Result<Trainer<'_>, TrainingError> {
        Trainer::new(&self.config, &self.store.graph, &self.tasks, &self.start)
    }

    /// The MRR of a model on the dev tasks, or on those that the fold leaves out.
    ///
    /// # Errors
    /// If a task cannot be evaluated.
    pub fn dev_mrr(&self, model: &dyn FewShotModel) -> Result<f64, String> {
        let shots = self.config.trainer.shots;
        let evaluation = FewShotEvaluation { shots, ..FewShotEvaluation::default() };
        evaluation
            .evaluate(model, &self.store.graph, self.tasks.benchmark(), Split::Dev, &())
            .map(|report| report.micro.mrr)
            .map_err(|error| error.to_string())
    }

    /// Trains into a run, from a state if one is given, and writes checkpoints. A training that ends calibrates its
    /// best model.
    ///
    /// # Errors
    /// If training diverges or the run cannot be written.
    pub fn run(
        &self,
        run: &mut Run,
        from: Option<(TrainingState, f64)>,
        observer: &dyn Observer,
    ) -> Result<TrainingOutcome, TrainingError> {
        let lengths = run.config.trainer.lengths;
        // A run states lengths that can be used as they are.
        require(lengths == Lengths::Absolute, "lengths", lengths, "absolute in a run")?;
        let mut trainer = self.trainer()?;
        let mut earlier = 0.0;
        if let Some((state, seconds)) = from {
            trainer = trainer.resume(state);
            earlier = seconds;
        }
        let started = Instant::now();
        let every = self.checkpoint_every;
        let mut writer = RunWriter { run, every, earlier, started, last: started };
        let outcome = trainer.run(&mut |model| self.dev_mrr(model), observer, &mut writer)?;
        let seconds = earlier + started.elapsed().as_secs_f64();
        let is_over = outcome != TrainingOutcome::Stopped;
        let calibration = if is_over && self.calibrates { self.calibration(&trainer)? } else { None };
        run.finish(trainer.state(), outcome, seconds, calibration)?;
        Ok(outcome)
    }

    /// The calibration of the best model, if there is one.
    fn calibration(&self, trainer: &Trainer<'_>) -> Result<Option<Option<Calibration>>, TrainingError> {
        let Some(best) = &trainer.state().best else { return Ok(None) };
        let model = trainer.freeze(Arc::clone(&best.parameters));
        calibrate(&*model, &self.store.tasks, self.config.trainer.seed)
            .map(Some)
            .map_err(|error| TrainingError::Validation(error.to_string()))
    }
}

/// The models of a run.
pub struct RunModels {
    /// As trained.
    pub trained: Arc<dyn FewShotModel>,
    /// Before any training.
    pub untrained: Arc<dyn FewShotModel>,
    /// How many numbers were learned.
    pub learned_parameters: usize,
}

/// Writes the log and the checkpoints of a training into its run.
struct RunWriter<'a> {
    run: &'a mut Run,
    every: Duration,
    /// How long training took before.
    earlier: f64,
    started: Instant,
    last: Instant,
}

impl TrainingLog for RunWriter<'_> {
    fn step(&mut self, entry: &LogEntry) -> Result<(), TrainingError> {
        Ok(self.run.log(&LogLine::Step(entry.clone()))?)
    }

    fn validation(&mut self, report: &ValidationReport) -> Result<(), TrainingError> {
        Ok(self.run.log(&LogLine::Dev(*report))?)
    }

    fn state(&mut self, state: &TrainingState) -> Result<(), TrainingError> {
        if self.last.elapsed() >= self.every {
            self.run.write_checkpoint(state, self.earlier + self.started.elapsed().as_secs_f64())?;
            self.last = Instant::now();
        }
        Ok(())
    }
}
