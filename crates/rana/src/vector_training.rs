//! [`VectorTraining`]: from a graph and some facts of its tasks to vectors.

use std::sync::atomic::AtomicBool;

use rana_embed::{
    EmbedConfig, EmbeddingMetadata, EmbeddingSet, Pretraining, TableError, TrainError, Trainer,
    training_metrics,
};
use rana_fewshot::{Fold, PretrainingFacts, tasks_without};
use rana_graph::Store;

/// A training of vectors that remembers which facts of tasks it saw.
///
/// With [`PretrainingFacts::Supports`] it makes the vectors of a
/// [`KgeModel`](rana_models::vectors::KgeModel), an ordinary model beside few-shot ones:
///
/// ```no_run
/// use rana::VectorTraining;
/// use rana::embed::{EmbedConfig, ModelKind};
/// use rana::eval::CardSettings;
/// use rana::models::vectors::KgeModel;
/// use rana::fewshot::PretrainingFacts;
/// use rana::graph::Store;
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
    /// What it made are no vectors.
    #[error(transparent)]
    Table(#[from] TableError),
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

    /// The training itself, for those who watch it, stop it or go on with it.
    #[must_use]
    pub fn pretraining(&self) -> &Pretraining<'s> {
        &self.pretraining
    }

    /// The vectors that a trainer of this training has made.
    ///
    /// # Errors
    /// If a value is not finite.
    pub fn vectors(&self, trainer: Trainer<'_>) -> Result<EmbeddingSet, TableError> {
        let metadata =
            EmbeddingMetadata { metrics: training_metrics(trainer.checkpoint()), ..self.metadata.clone() };
        let config = self.pretraining.config().clone();
        EmbeddingSet::trained(&self.store.graph, config, trainer.into_parameters(), metadata)
    }

    /// Trains from start to end with nobody watching.
    ///
    /// # Errors
    /// If there are no facts, or the training diverges.
    pub fn finish(&self) -> Result<EmbeddingSet, VectorTrainingError> {
        let mut trainer = self.pretraining.trainer(None)?;
        self.pretraining.run(&mut trainer, &mut (), &AtomicBool::new(false))?;
        Ok(self.vectors(trainer)?)
    }
}
