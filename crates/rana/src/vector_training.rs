//! [`VectorTraining`]: from a graph and some facts of its tasks to vectors.

use std::path::Path;
use std::time::{Duration, Instant};

use rana_embed::{
    Checkpoint, CheckpointError, Checkpoints, EmbedConfig, EmbeddingMetadata, EmbeddingSet, FixedRows,
    Pretraining, PretrainingOutcome, TrainError, Trainer, VectorError, training_metrics,
};
use rana_fewshot::{Fold, PretrainingFacts, tasks_without};
use rana_graph::{Fact, Graph, Observer, Store};

/// A training of vectors that remembers which facts of tasks it saw.
///
/// With [`PretrainingFacts::Supports`] it makes the vectors of a
/// [`KgeModel`](rana_models::vectors::KgeModel), an ordinary model beside few-shot ones:
///
/// ```no_run
/// use rana::VectorTraining;
/// use rana::embed::{EmbedConfig, ModelKind};
/// use rana::eval::CardSettings;
/// use rana::fewshot::PretrainingFacts;
/// use rana::graph::Store;
/// use rana::models::vectors::KgeModel;
///
/// let store = Store::open("nell")?;
/// let config = EmbedConfig { seed: 1, ..EmbedConfig::preset("nell-one-few-shot", ModelKind::DistMult)? };
/// let set = VectorTraining::new(&store, config, PretrainingFacts::Supports, None, 5)?.finish()?;
/// let model = KgeModel::new(&set, &store.graph, &store.tasks)?;
/// let card = CardSettings::default().evaluate(("distmult", &model), &[], &store.graph, &store.tasks, &())?;
/// println!("{:.3}", card.result.official.micro.mrr);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct VectorTraining<'s> {
    store: &'s Store,
    pretraining: Pretraining<'s>,
    metadata: EmbeddingMetadata,
}

/// Why there are no vectors.
#[derive(Debug, thiserror::Error)]
pub enum VectorTrainingError {
    /// The training failed.
    #[error(transparent)]
    Train(#[from] TrainError),
    /// Its result cannot be used as vectors.
    #[error(transparent)]
    Table(#[from] VectorError),
}

impl<'s> VectorTraining<'s> {
    /// Gathers what is trained on, without the train tasks of a fold; `shots` is how many facts of a dev or test task are its support.
    ///
    /// # Errors
    /// If the configuration cannot be used.
    pub fn new(
        store: &'s Store,
        config: EmbedConfig,
        facts: PretrainingFacts,
        fold: Option<Fold>,
        shots: usize,
    ) -> Result<Self, TrainError> {
        let tasks = tasks_without(fold, &store.tasks);
        let pretraining = Pretraining::new(&store.graph, &facts.of(&tasks, shots), config)?;
        let metadata =
            EmbeddingMetadata { fold: fold.map(|fold| fold.to_string()), ..facts.metadata(&tasks, shots) };
        Ok(Self { store, pretraining, metadata })
    }

    /// Holds rows fixed that are known already, while the others are trained to their places.
    #[must_use]
    pub fn with_fixed_rows(mut self, fixed: FixedRows) -> Self {
        for (name, count) in [("entities", fixed.entity_count()), ("relations", fixed.relation_count())] {
            if count > 0 {
                self.metadata.metrics.insert(format!("fixed.{name}"), count as f64);
            }
        }
        Self { pretraining: self.pretraining.with_fixed_rows(fixed), ..self }
    }

    /// The training itself, to observe, stop or resume it.
    #[must_use]
    pub fn pretraining(&self) -> &Pretraining<'s> {
        &self.pretraining
    }

    /// The vectors that a trainer of this training has made.
    ///
    /// # Errors
    /// If a value is not finite.
    pub fn vectors(&self, trainer: Trainer<'_>) -> Result<EmbeddingSet, VectorError> {
        let mut metadata = self.metadata.clone();
        metadata.metrics.extend(training_metrics(trainer.checkpoint()));
        let config = self.pretraining.config().clone();
        EmbeddingSet::trained(&self.store.graph, config, trainer.into_parameters(), metadata)
    }

    /// Trains from start to end without an observer.
    ///
    /// # Errors
    /// If there are no facts, or the training diverges.
    pub fn finish(&self) -> Result<EmbeddingSet, VectorTrainingError> {
        let mut trainer = self.pretraining.trainer(None)?;
        self.pretraining.run(&mut trainer, "training", &(), None)?;
        Ok(self.vectors(trainer)?)
    }
}

/// How often the state of a training is kept.
pub const CHECKPOINT_EVERY: Duration = Duration::from_secs(30);

/// Facts of a training that the speed of the machine is measured by.
const SAMPLE: usize = 20_000;

/// How long an epoch takes on this machine, told by a part of one.
pub(crate) fn seconds_per_epoch(
    graph: &Graph,
    facts: &[Fact],
    config: &EmbedConfig,
) -> Result<f64, TrainError> {
    let every = facts.len().div_ceil(SAMPLE).max(1);
    let sample: Vec<Fact> = facts.iter().step_by(every).copied().collect();
    if sample.is_empty() {
        return Ok(0.0);
    }
    let share = facts.len() as f64 / sample.len() as f64;
    let config = EmbedConfig { epochs: 1, ..config.clone() };
    let training = Pretraining::of_facts(graph, &sample, config)?;
    let mut trainer = training.trainer(None)?;
    let started = Instant::now();
    trainer.finish()?;
    Ok(share * started.elapsed().as_secs_f64())
}

/// Trains from the checkpoint of an interrupted training, if there is one of the same facts and settings. Gives the
/// trainer at its end, or nothing if the observer stopped it; then there is a new checkpoint.
pub(crate) fn train_resumably<'p, E: From<TrainError> + From<CheckpointError>>(
    pretraining: &'p Pretraining<'_>,
    checkpoint: &Path,
    stage: &str,
    observer: &dyn Observer,
) -> Result<Option<Trainer<'p>>, E> {
    // A checkpoint that cannot be read, or is of other facts, only costs the time to begin again.
    let kept = Checkpoint::read(checkpoint).ok().filter(|kept| kept.config == *pretraining.config());
    let mut trainer = match pretraining.trainer(kept) {
        Ok(trainer) => trainer,
        Err(_) => pretraining.trainer(None)?,
    };
    let checkpoints = Checkpoints { path: checkpoint, every: CHECKPOINT_EVERY };
    let report = pretraining.run(&mut trainer, stage, observer, Some(checkpoints))?;
    if report.outcome == PretrainingOutcome::Stopped {
        trainer.checkpoint().write(checkpoint)?;
        return Ok(None);
    }
    Ok(Some(trainer))
}
