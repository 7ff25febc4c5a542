//! Training of embeddings: batches, epochs, validation, early stopping, resuming.

mod buckets;
mod checkpoint;
mod data;
mod deterministic;
mod lock_free;
mod observer;
mod one_negative;
mod relation_copies;
mod row_lease;
mod row_listing;
mod rows;
mod shard;
mod table;
#[cfg(test)]
mod tests;
mod unshared_negatives;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use rana_graph::Fact;
use rand::seq::SliceRandom;

use crate::config::{ConfigError, EmbedConfig, Updates};
use crate::link_prediction::LinkPredictionError;
use crate::negatives::{Sampler, Sides};
use crate::optimiser::Update;
use crate::parameters::Parameters;
use crate::seed::{Purpose, rng};
use crate::side::Side;

pub use checkpoint::{Best, Checkpoint, CheckpointError, Position};
pub use data::TrainingData;
pub use observer::{EpochReport, Observer};

pub(crate) use shard::{Among, Listed};

use buckets::Dealing;
use lock_free::{Round, Workplace};
use row_listing::Listing;
use shard::{Plan, Scratch, Shard, Slice, Spares};
use table::Table;

/// Why a training cannot start, or fails.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TrainError {
    /// The settings cannot be used.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// There are no facts.
    #[error("there are no facts to train on")]
    NoFacts,
    /// A fact does not belong to the graph.
    #[error(
        "fact ({}, {}, {}) is out of range: there are {entities} entities and {relations} relations, \
         and facts name relations forwards",
        fact.head.0, fact.relation.0, fact.tail.0
    )]
    FactOutOfRange {
        /// The fact.
        fact: Fact,
        /// How many entities there are.
        entities: usize,
        /// How many relations there are.
        relations: usize,
    },
    /// A checkpoint was made from other facts.
    #[error(
        "the checkpoint was made from other facts; train from the start, or give the facts it was made from"
    )]
    OtherFacts,
    /// The validation failed.
    #[error(transparent)]
    Validation(#[from] LinkPredictionError),
    /// The loss is not finite.
    #[error("the loss is not finite in epoch {epoch}; lower learning_rate")]
    Diverged {
        /// The epoch, counted from 1.
        epoch: u32,
    },
}

/// Why a training ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PretrainingOutcome {
    /// All epochs are done.
    Finished,
    /// Early stopping: validation has not improved for `patience` validations.
    Converged,
    /// The stop flag was set; training can resume from the checkpoint.
    Stopped,
}

/// Scores parameters on held-out facts.
pub type Validate<'v> = dyn FnMut(&Parameters) -> Result<f64, LinkPredictionError> + 'v;

/// The callbacks of a training, and its stop flag.
pub struct Hooks<'h> {
    /// Scores parameters on held-out facts; higher is better.
    pub validate: Option<&'h mut Validate<'h>>,
    /// Receives the progress.
    pub observer: &'h mut dyn Observer,
    /// Stops the training when true; checked between batches.
    pub stop: &'h AtomicBool,
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
    /// If the settings cannot be used, or there are no facts.
    pub fn new(config: EmbedConfig, data: &'d TrainingData<'d>) -> Result<Self, TrainError> {
        config.check()?;
        if data.facts().is_empty() {
            return Err(TrainError::NoFacts);
        }
        let parameters = Parameters::random(&config, data.graph().entity_count(), data.relation_count());
        Ok(Self { data, checkpoint: Checkpoint::start(config, data.fingerprint(), parameters) })
    }

    /// A training that resumes from a checkpoint.
    ///
    /// In deterministic mode the result has the same bits as without the interruption.
    ///
    /// # Errors
    /// If the checkpoint was made from other facts.
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
        self.run(Hooks { validate: None, observer: &mut (), stop: &AtomicBool::new(false) })
    }

    /// Trains until all epochs are done, validation stops improving, or the stop flag is set.
    ///
    /// # Errors
    /// If the loss becomes infinite or NaN.
    pub fn run(&mut self, mut hooks: Hooks<'_>) -> Result<PretrainingOutcome, TrainError> {
        let Self { data, checkpoint } = self;
        let config = checkpoint.config.clone();
        let plan = Plan {
            config: &config,
            facts: data.facts(),
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
            hooks.observer.epoch_ended(&report, checkpoint);
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

/// The order of the facts in an epoch.
enum EpochOrder {
    /// Random.
    Shuffled(Vec<Listed>),
    /// By buckets of entities, so that threads share no rows.
    Dealt(Dealing),
}

impl EpochOrder {
    fn new(plan: &Plan<'_>, epoch: u32) -> Self {
        let Plan { config, facts, .. } = *plan;
        match config.updates {
            Updates::Deterministic => {
                let mut order: Vec<Listed> = Listed::all(facts).collect();
                order.shuffle(&mut rng(config.seed, Purpose::Order, [epoch.into(), 0]));
                Self::Shuffled(order)
            }
            Updates::LockFree => Self::Dealt(Dealing::new(config, epoch, facts, plan.entities)),
        }
    }
}

/// Buffers that are reused from batch to batch.
struct Buffers {
    scratch: Spares<(Listing, Scratch)>,
    /// The gradients of a batch (deterministic).
    shards: Vec<Shard>,
    /// Buffers that no thread uses at the moment (lock-free).
    spare: Spares<Workplace>,
}

/// Runs the batches of epochs; holds the buffers.
struct Engine {
    buffers: Buffers,
    entity_heads: Vec<u32>,
    relation_heads: Vec<u32>,
}

impl Engine {
    fn new(plan: &Plan<'_>, checkpoint: &Checkpoint) -> Self {
        let heads = |rows: usize| match plan.config.updates {
            Updates::Deterministic => vec![u32::MAX; rows],
            Updates::LockFree => Vec::new(),
        };
        let parameters = &checkpoint.parameters;
        Self {
            buffers: Buffers { scratch: Spares::new(), shards: Vec::new(), spare: Spares::new() },
            entity_heads: heads(parameters.entity_count()),
            relation_heads: heads(parameters.relations.len() / parameters.relation_width()),
        }
    }

    /// Trains on the rest of an epoch. Gives false if it was stopped before the end.
    fn finish_epoch(
        &mut self,
        plan: &Plan<'_>,
        checkpoint: &mut Checkpoint,
        order: &EpochOrder,
        hooks: &mut Hooks<'_>,
    ) -> Result<bool, TrainError> {
        while checkpoint.position.fact < plan.facts.len() {
            if hooks.stop.load(Ordering::Relaxed) {
                return Ok(false);
            }
            let (facts, loss) = self.advance(plan, checkpoint, order);
            if !loss.is_finite() {
                return Err(TrainError::Diverged { epoch: checkpoint.position.epoch + 1 });
            }
            hooks.observer.advanced(facts, loss);
        }
        Ok(true)
    }

    /// Trains on the next batch or round. Gives the number of facts and their mean loss.
    fn advance(&mut self, plan: &Plan<'_>, checkpoint: &mut Checkpoint, order: &EpochOrder) -> (usize, f64) {
        let config = plan.config;
        let Position { epoch, fact: first, .. } = checkpoint.position;
        let done = (f64::from(epoch) + first as f64 / plan.facts.len() as f64) / f64::from(config.epochs);
        let share = 1.0 - (1.0 - config.final_learning_rate) * done as f32;
        let rate = config.learning_rate * share;
        let update = |max_norm| Update { optimiser: config.optimiser, rate, max_norm };
        let updates = [update(config.max_norm), update(None)];

        let width = checkpoint.parameters.relation_width();
        let state_width = |width| config.optimiser.state_width(width);
        let tables = [
            Table {
                width: config.dim,
                state_width: state_width(config.dim),
                values: &mut checkpoint.parameters.entities,
                state: &mut checkpoint.entity_state,
                heads: &mut self.entity_heads,
            },
            Table {
                width,
                state_width: state_width(width),
                values: &mut checkpoint.parameters.relations,
                state: &mut checkpoint.relation_state,
                heads: &mut self.relation_heads,
            },
        ];
        let Round { end, queries, loss } = match order {
            EpochOrder::Shuffled(order) => {
                let end = order.len().min(first + config.batch);
                let slices = slices(plan, epoch, first, &order[first..end]);
                let loss = deterministic::step(plan, &slices, &mut self.buffers, tables, updates);
                Round { end, queries: slices.iter().map(|slice| slice.facts.len()).sum(), loss }
            }
            EpochOrder::Dealt(dealing) => {
                lock_free::step(plan, dealing, epoch, first, &self.buffers, tables, updates)
            }
        };
        checkpoint.position.fact = end;
        checkpoint.position.queries += queries as u64;
        checkpoint.position.loss += loss;
        (end - first, loss / queries as f64)
    }
}

/// Divides facts into slices. The division does not depend on the number of threads.
fn slices<'o>(plan: &Plan<'_>, epoch: u32, first: usize, facts: &'o [Listed]) -> Vec<Slice<'o>> {
    let size = plan.shard_facts();
    let pieces = facts.chunks(size).enumerate();
    pieces
        .flat_map(|(piece, facts)| {
            let place = first + piece * size;
            let sides: &[Side] = match plan.config.negatives.sides {
                Sides::Both => &[Side::Tail, Side::Head],
                Sides::Tail => &[Side::Tail],
                Sides::Alternating if (place / size + epoch as usize).is_multiple_of(2) => &[Side::Tail],
                Sides::Alternating => &[Side::Head],
            };
            sides.iter().map(move |&side| Slice { epoch, place, side, facts, among: None })
        })
        .collect()
}
