//! [`Trainer`]: runs the epochs of a training, with validation, early stopping and resuming.

use std::time::Instant;

use rana_graph::Observer;

use super::checkpoint::Checkpoint;
use super::epoch::{Engine, EpochOrder};
use super::error::TrainError;
use super::slice::Plan;
use super::training_data::TrainingData;
use crate::embed_config::EmbedConfig;
use crate::link_prediction::LinkPredictionError;
use crate::negative_sampler::Sampler;
use crate::parameters::Parameters;

/// Why a training ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PretrainingOutcome {
    /// All epochs are done.
    Finished,
    /// Early stopping: validation has not improved for `patience` validations.
    Converged,
    /// The observer stopped it; training can resume from the checkpoint.
    Stopped,
}

/// Scores parameters on held-out facts.
pub type Validate<'v> = dyn FnMut(&Parameters) -> Result<f64, LinkPredictionError> + 'v;

/// The result of one epoch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EpochReport {
    /// The number of finished epochs.
    pub epoch: u32,
    /// The mean loss per fact and side.
    pub loss: f64,
    /// Facts per second, without validation. For a resumed epoch, only since it was resumed.
    pub facts_per_second: f64,
    /// The score of the validation, if there was one.
    pub validation: Option<f64>,
    /// Whether this score is the best so far.
    pub is_best: bool,
}

/// The callbacks of a training.
pub struct Hooks<'h> {
    /// Scores parameters on held-out facts; higher is better.
    pub validate: Option<&'h mut Validate<'h>>,
    /// Sees each batch, and may stop the training before the next.
    pub observer: &'h dyn Observer,
    /// Called after each epoch. The training can be resumed from this checkpoint.
    pub epoch_ended: &'h mut dyn FnMut(&EpochReport, &Checkpoint),
}

/// A training, from its start or from a checkpoint.
///
/// It uses the threads of the rayon pool that [`run`](Self::run) is called in.
///
/// ```
/// use rana_embed::{EmbedConfig, Trainer, TrainingData};
/// use rana_graph::{Duplicates, GraphBuilder};
/// let mut builder = GraphBuilder::new(Duplicates::Remove);
/// builder.add_named("paris", "capital_of", "france");
/// builder.add_named("rome", "capital_of", "italy");
/// let graph = builder.finish();
/// let data = TrainingData::new(&graph);
/// let mut trainer = Trainer::new(EmbedConfig { dim: 8, epochs: 5, ..EmbedConfig::default() }, &data)?;
/// trainer.finish()?;
/// assert_eq!(trainer.into_parameters().entity_count(), 4);
/// # Ok::<(), rana_embed::TrainError>(())
/// ```
pub struct Trainer<'d> {
    data: &'d TrainingData<'d>,
    checkpoint: Checkpoint,
}

impl<'d> Trainer<'d> {
    /// A new training.
    ///
    /// # Errors
    /// If the settings cannot be used, there are no facts, or fixed rows do not fit.
    pub fn new(config: EmbedConfig, data: &'d TrainingData<'d>) -> Result<Self, TrainError> {
        config.check()?;
        if data.facts().is_empty() {
            return Err(TrainError::NoFacts);
        }
        data.fixed_rows().check(&config)?;
        let mut parameters = Parameters::random(&config, data.graph().entity_count(), data.relation_count());
        data.fixed_rows().restore(&mut parameters);
        Ok(Self { data, checkpoint: Checkpoint::start(config, data.fingerprint(), parameters) })
    }

    /// A training that resumes from a checkpoint.
    ///
    /// In deterministic mode the result has the same bits as without the interruption.
    ///
    /// # Errors
    /// If the checkpoint was made from other facts or fixed rows.
    pub fn resume(checkpoint: Checkpoint, data: &'d TrainingData<'d>) -> Result<Self, TrainError> {
        checkpoint.config.check()?;
        let parameters = &checkpoint.parameters;
        let fits = parameters.entity_count() == data.graph().entity_count()
            && parameters.relation_count() == data.relation_count()
            && checkpoint.fingerprint == data.fingerprint();
        if !fits {
            return Err(TrainError::OtherFacts);
        }
        Ok(Self { data, checkpoint })
    }

    /// The state of the training, for [`resume`](Self::resume).
    #[must_use]
    pub fn checkpoint(&self) -> &Checkpoint {
        &self.checkpoint
    }

    /// The best parameters by validation, or the last ones without validation.
    #[must_use]
    pub fn into_parameters(self) -> Parameters {
        self.checkpoint.best.map_or(self.checkpoint.parameters, |best| best.parameters)
    }

    /// Trains to the end without validation.
    ///
    /// # Errors
    /// If the loss becomes infinite or NaN.
    pub fn finish(&mut self) -> Result<PretrainingOutcome, TrainError> {
        self.run(Hooks { validate: None, observer: &(), epoch_ended: &mut |_, _| {} })
    }

    /// Trains until all epochs are done, validation stops improving, or the observer stops it.
    ///
    /// # Errors
    /// If the loss becomes infinite or NaN.
    pub fn run(&mut self, mut hooks: Hooks<'_>) -> Result<PretrainingOutcome, TrainError> {
        let Self { data, checkpoint } = self;
        let config = checkpoint.config.clone();
        let plan = Plan {
            config: &config,
            facts: data.facts(),
            fixed: data.fixed_rows(),
            entities: data.graph().entity_count(),
            sampler: Sampler::new(config.negatives, data.graph(), data.facts(), data.relation_count()),
        };
        let mut engine = Engine::new(&plan, checkpoint);
        let mut next_order = None;
        while checkpoint.position.epoch < config.epochs {
            if checkpoint.is_out_of_patience() {
                return Ok(PretrainingOutcome::Converged);
            }
            let (started, first) = (Instant::now(), checkpoint.position.fact);
            let epoch = checkpoint.position.epoch;
            let order = next_order.take().unwrap_or_else(|| EpochOrder::new(&plan, epoch));
            // The order of the next epoch is computed while this one runs.
            let is_over = rayon::in_place_scope(|scope| {
                if epoch + 1 < config.epochs {
                    scope.spawn(|_| next_order = Some(EpochOrder::new(&plan, epoch + 1)));
                }
                engine.finish_epoch(&plan, checkpoint, &order, &mut hooks)
            })?;
            if !is_over {
                return Ok(PretrainingOutcome::Stopped);
            }
            let facts_per_second = (data.facts().len() - first) as f64 / started.elapsed().as_secs_f64();
            let loss = checkpoint.end_epoch();
            let (validation, is_best) = validate(&config, checkpoint, &mut hooks)?;
            let epoch = checkpoint.position.epoch;
            let report = EpochReport { epoch, loss, facts_per_second, validation, is_best };
            (hooks.epoch_ended)(&report, checkpoint);
        }
        Ok(PretrainingOutcome::Finished)
    }
}

/// Validates if it is due, and always after the last epoch. Gives the score, and whether it is the best.
fn validate(
    config: &EmbedConfig,
    checkpoint: &mut Checkpoint,
    hooks: &mut Hooks<'_>,
) -> Result<(Option<f64>, bool), LinkPredictionError> {
    let (epoch, every) = (checkpoint.position.epoch, config.validation.every);
    let is_due = every > 0 && (epoch.is_multiple_of(every) || epoch == config.epochs);
    match &mut hooks.validate {
        Some(validate) if is_due => {
            let score = validate(&checkpoint.parameters)?;
            Ok((Some(score), checkpoint.record_validation(score)))
        }
        _ => Ok((None, false)),
    }
}
