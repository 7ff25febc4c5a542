//! [`MetaTraining`]: from a graph and its vectors to a run.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rana_embed::EmbeddingSet;
use rana_eval::FewShotEvaluation;
use rana_fewshot::TrainingTasks;
use rana_fewshot::rana::{
    LogEntry, LogLine, MetaError, MetaObserver, MetaOutcome, MetaTrainer, RanaConfig, RanaModel, Run,
    StartVectors, StepReport, TrainingState, ValidationReport,
};
use rana_graph::{Split, Store};

/// A meta-training of RANA on a graph, its model chosen by the MRR on dev.
pub struct MetaTraining<'s> {
    store: &'s Store,
    config: RanaConfig,
    start: StartVectors,
    tasks: TrainingTasks<'s>,
    /// How often the state is kept.
    pub checkpoint_every: Duration,
}

impl<'s> MetaTraining<'s> {
    /// Prepares a training, everything checked that can be before it begins.
    ///
    /// # Errors
    /// If the configuration, the vectors and the tasks do not go together.
    pub fn new(store: &'s Store, config: RanaConfig, start: StartVectors) -> Result<Self, MetaError> {
        config.check()?;
        let tasks =
            TrainingTasks::new(&store.graph, &store.tasks, config.fold, config.data_mode, config.candidates);
        MetaTrainer::check_dev(&config, &store.graph, tasks.benchmark())?;
        let this = Self { store, config, start, tasks, checkpoint_every: Duration::from_secs(60) };
        this.trainer()?;
        Ok(this)
    }

    /// The vectors that a configuration starts from: those pre-trained, or random ones as wide.
    ///
    /// # Errors
    /// If RANA cannot start from these vectors, or they know the tasks that a fold leaves out.
    pub fn start(store: &Store, config: &RanaConfig, set: &EmbeddingSet) -> Result<StartVectors, MetaError> {
        let metadata = &set.metadata;
        if let Some(fold) = config.fold
            && metadata.task_facts.is_some()
            && metadata.fold.as_deref() != Some(&fold.to_string())
        {
            return Err(MetaError::FoldIsKnown { fold, without: metadata.fold.clone() });
        }
        Ok(match config.data_mode.starts_from_pretrained() {
            true => StartVectors::pretrained(&store.graph, set)?,
            false => StartVectors::random(&store.graph, set.entities.dim(), config.seed),
        })
    }

    /// The trained model of a run.
    ///
    /// # Errors
    /// If the run does not belong to the graph or the vectors, or its model cannot be read.
    pub fn model(store: &'s Store, run: &Run, set: &EmbeddingSet) -> Result<RanaModel<'s>, MetaError> {
        let start = Self::start(store, &run.config, set)?;
        run.check(&store.graph, &start)?;
        Ok(RanaModel::new(run.config.clone(), &store.graph, Arc::new(run.model(&start)?)))
    }

    /// Where the vectors of a run are: with the graph, if they were, wherever that is now.
    #[must_use]
    pub fn vectors_of(run: &Run, graph: &Path) -> PathBuf {
        let path = &run.manifest.vectors_path;
        path.strip_prefix(&run.manifest.graph_path).map_or_else(|_| path.clone(), |inside| graph.join(inside))
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
    pub fn trainer(&self) -> Result<MetaTrainer<'_>, MetaError> {
        MetaTrainer::new(self.config.clone(), &self.store.graph, &self.tasks, &self.start)
    }

    /// The MRR of a model on the dev tasks, or on those that the fold leaves out.
    ///
    /// # Errors
    /// If a task cannot be evaluated.
    pub fn dev_mrr(&self, model: &RanaModel<'_>) -> Result<f64, String> {
        let evaluation = FewShotEvaluation { shots: self.config.shots, ..FewShotEvaluation::default() };
        evaluation
            .evaluate(model, &self.store.graph, self.tasks.benchmark(), Split::Dev, &())
            .map(|report| report.micro.mrr)
            .map_err(|error| error.to_string())
    }

    /// Trains into a run, from a state if one is given, and keeps the state now and then.
    ///
    /// # Errors
    /// If training diverges or the run cannot be written.
    pub fn run(
        &self,
        run: &mut Run,
        from: Option<(TrainingState, f64)>,
        observer: &mut dyn MetaObserver,
    ) -> Result<MetaOutcome, MetaError> {
        let mut trainer = self.trainer()?;
        let mut earlier = 0.0;
        if let Some((state, seconds)) = from {
            trainer = trainer.resume(state);
            earlier = seconds;
        }
        let started = Instant::now();
        let every = self.checkpoint_every;
        let mut keeper = Keeper { run, observer, every, earlier, started, last: started };
        let outcome = trainer.run(&mut |model| self.dev_mrr(model), &mut keeper)?;
        run.finish(trainer.state(), outcome, earlier + started.elapsed().as_secs_f64())?;
        Ok(outcome)
    }
}

/// Writes a run while somebody else watches.
struct Keeper<'a> {
    run: &'a mut Run,
    observer: &'a mut dyn MetaObserver,
    every: Duration,
    /// How long training took before.
    earlier: f64,
    started: Instant,
    last: Instant,
}

impl MetaObserver for Keeper<'_> {
    fn stepped(&mut self, report: &StepReport) {
        self.observer.stepped(report);
    }

    fn logged(&mut self, entry: &LogEntry) -> Result<(), MetaError> {
        self.run.log(&LogLine::Step(*entry))?;
        self.observer.logged(entry)
    }

    fn validated(&mut self, report: &ValidationReport) -> Result<(), MetaError> {
        self.run.log(&LogLine::Dev(*report))?;
        self.observer.validated(report)
    }

    fn between_steps(&mut self, state: &TrainingState) -> Result<(), MetaError> {
        if self.last.elapsed() >= self.every {
            self.run.write_checkpoint(state, self.earlier + self.started.elapsed().as_secs_f64())?;
            self.last = Instant::now();
        }
        self.observer.between_steps(state)
    }

    fn should_stop(&self) -> bool {
        self.observer.should_stop()
    }
}
