//! [`Pretraining`]: from a graph and settings to trained parameters.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use rana_graph::{Fact, Graph, HeldOut, Observer, Unit};
use rand::seq::SliceRandom;

use super::checkpoint::Checkpoint;
use super::error::TrainError;
use super::trainer::{EpochReport, Hooks, PretrainingOutcome, Trainer};
use super::training_data::TrainingData;
use crate::embed_config::EmbedConfig;
use crate::fixed_rows::FixedRows;
use crate::link_prediction::{KnownAnswers, LinkPrediction, LinkPredictionSettings};
use crate::parameters::Parameters;
use crate::seed::{Purpose, rng};

/// A pre-training that is ready to run: its facts, its validation facts, and the known answers.
///
/// ```
/// use rana_embed::{EmbedConfig, Pretraining};
/// use rana_graph::{Duplicates, GraphBuilder};
/// let mut builder = GraphBuilder::new(Duplicates::Remove);
/// builder.add_named("paris", "capital_of", "france");
/// builder.add_named("rome", "capital_of", "italy");
/// let graph = builder.finish();
/// let config = EmbedConfig { dim: 8, epochs: 5, ..EmbedConfig::default() };
/// let parameters = Pretraining::new(&graph, &[], config)?.finish()?;
/// assert_eq!(parameters.entity_count(), 4);
/// # Ok::<(), rana_embed::TrainError>(())
/// ```
pub struct Pretraining<'g> {
    config: EmbedConfig,
    data: TrainingData<'g>,
    validation: Vec<Fact>,
    known: KnownAnswers,
}

impl<'g> Pretraining<'g> {
    /// Collects the background facts of a graph, and others over its entities, such as those of tasks. Holds out
    /// validation facts if the settings ask for validation.
    ///
    /// # Errors
    /// If the settings cannot be used, or a fact does not belong to the graph.
    pub fn new(graph: &'g Graph, others: &[Fact], config: EmbedConfig) -> Result<Self, TrainError> {
        let mut data = TrainingData::new(graph);
        if !others.is_empty() {
            data = data.with_facts(others, graph.named_relation_count())?;
        }
        Self::of_data(data, config)
    }

    /// Takes some facts over the entities and relations of a graph instead, such as a part of its own.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn of_facts(graph: &'g Graph, facts: &[Fact], config: EmbedConfig) -> Result<Self, TrainError> {
        Self::of_data(TrainingData::of_facts(graph, facts)?, config)
    }

    /// Holds rows fixed that are known already, while the others are trained to their places.
    #[must_use]
    pub fn with_fixed_rows(self, fixed: FixedRows) -> Self {
        Self { data: self.data.with_fixed_rows(fixed), ..self }
    }

    fn of_data(mut data: TrainingData<'g>, config: EmbedConfig) -> Result<Self, TrainError> {
        config.check()?;
        let graph = data.graph();
        let held_out = HeldOut::ALL.into_iter().flat_map(|part| graph.held_out(part));
        let validates = config.validation.every > 0;
        let known = match validates {
            true => KnownAnswers::new(data.facts().iter().chain(held_out).copied()),
            false => KnownAnswers::default(),
        };
        let validation = match graph.held_out(HeldOut::Valid) {
            _ if !validates => Vec::new(),
            [] => data.hold_out(config.validation.facts, config.seed),
            valid => sample(valid, config.validation.facts, config.seed),
        };
        Ok(Self { config, data, validation, known })
    }

    /// The settings.
    #[must_use]
    pub fn config(&self) -> &EmbedConfig {
        &self.config
    }

    /// The facts to train on.
    #[must_use]
    pub fn data(&self) -> &TrainingData<'g> {
        &self.data
    }

    /// The facts to validate on; empty without validation.
    #[must_use]
    pub fn validation_facts(&self) -> &[Fact] {
        &self.validation
    }

    /// A new trainer, or one that resumes from a checkpoint.
    ///
    /// # Errors
    /// If there are no facts, or the checkpoint was made from other facts.
    pub fn trainer(&self, checkpoint: Option<Checkpoint>) -> Result<Trainer<'_>, TrainError> {
        match checkpoint {
            Some(checkpoint) => Trainer::resume(checkpoint, &self.data),
            None => Trainer::new(self.config.clone(), &self.data),
        }
    }

    /// Trains until all epochs are done, validation stops improving, or the observer stops it. This is one stage for the
    /// observer.
    ///
    /// # Errors
    /// If the loss or a score is not finite.
    pub fn run(
        &self,
        trainer: &mut Trainer<'_>,
        stage: &str,
        observer: &dyn Observer,
        checkpoints: Option<Checkpoints<'_>>,
    ) -> Result<PretrainingReport, TrainError> {
        let evaluation = LinkPrediction::new(LinkPredictionSettings::default())?;
        let mut mrr = |parameters: &Parameters| {
            let report = evaluation.evaluate(&parameters.vectors(), &self.validation, &self.known, &())?;
            Ok(report.both.mrr)
        };
        let (epochs, facts) = (self.config.epochs, self.data.facts().len() as u64);
        observer.begin(stage, Some(facts * u64::from(epochs)), Unit::Facts);
        let Checkpoint { position, best, .. } = trainer.checkpoint();
        observer.resume(facts * u64::from(position.epoch) + position.fact as u64);
        if let Some(best) = best {
            observer.measured(VALIDATION, best.score);
        }
        let (mut rates, mut kept_at) = (Vec::new(), Instant::now());
        let mut epoch_ended = |report: &EpochReport, checkpoint: &Checkpoint| {
            rates.push(report.facts_per_second);
            if let Some(mrr) = report.validation {
                observer.measured(VALIDATION, mrr);
            }
            let is_due = report.epoch.is_multiple_of(epochs.div_ceil(LINES)) || report.epoch == epochs;
            if report.validation.is_some() || is_due {
                observer.detail(&report.line(epochs));
            }
            if let Some(Checkpoints { path, every }) = checkpoints
                && kept_at.elapsed() >= every
                && report.epoch < epochs
            {
                if let Err(error) = checkpoint.write(path) {
                    observer.note(&format!("no checkpoint could be written: {error}"));
                }
                kept_at = Instant::now();
            }
        };
        let validate: Option<&mut super::Validate<'_>> =
            if self.validation.is_empty() { None } else { Some(&mut mrr) };
        let outcome = trainer.run(Hooks { validate, observer, epoch_ended: &mut epoch_ended });
        observer.end();
        rates.sort_by(f64::total_cmp);
        let facts_per_second = rates.get(rates.len() / 2).copied().unwrap_or_default();
        Ok(PretrainingReport { outcome: outcome?, facts_per_second })
    }

    /// Trains from start to end without an observer.
    ///
    /// # Errors
    /// If there are no facts, or the loss or a score is not finite.
    pub fn finish(&self) -> Result<Parameters, TrainError> {
        let mut trainer = self.trainer(None)?;
        self.run(&mut trainer, "training", &(), None)?;
        Ok(trainer.into_parameters())
    }
}

/// The name of the score on validation facts.
const VALIDATION: &str = "valid MRR";
/// At least so many epochs have a line in the log.
const LINES: u32 = 10;

/// Where, and how often, the state of a training is kept.
#[derive(Clone, Copy, Debug)]
pub struct Checkpoints<'p> {
    /// The file.
    pub path: &'p Path,
    /// The least time between two of them.
    pub every: Duration,
}

/// The account of a training.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PretrainingReport {
    /// How it ended.
    pub outcome: PretrainingOutcome,
    /// The median speed of its epochs.
    pub facts_per_second: f64,
}

impl EpochReport {
    /// A line of a log.
    fn line(&self, epochs: u32) -> String {
        let validation = self.validation.map_or_else(String::new, |mrr| format!(", {VALIDATION} {mrr:.3}"));
        let rate = self.facts_per_second / 1000.0;
        format!("epoch {}/{epochs}: loss {:.4}{validation}, {rate:.0} k facts/s", self.epoch, self.loss)
    }
}

/// The results of a training, by the names in [`EmbeddingMetadata::metrics`](crate::EmbeddingMetadata::metrics).
#[must_use]
pub fn training_metrics(checkpoint: &Checkpoint) -> BTreeMap<String, f64> {
    let mut metrics = BTreeMap::from([("epochs".to_owned(), f64::from(checkpoint.position.epoch))]);
    if let Some(best) = &checkpoint.best {
        metrics.insert("valid.mrr".to_owned(), best.score);
        metrics.insert("valid.epoch".to_owned(), f64::from(best.epoch));
    }
    metrics
}

/// A random sample of facts, in their original order.
fn sample(facts: &[Fact], count: usize, seed: u64) -> Vec<Fact> {
    let mut at: Vec<usize> = (0..facts.len()).collect();
    at.shuffle(&mut rng(seed, Purpose::HoldOut, [0, 0]));
    at.truncate(count);
    at.sort_unstable();
    at.into_iter().map(|at| facts[at]).collect()
}
