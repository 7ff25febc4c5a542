//! [`Engine`]: trains on the facts of one epoch, batch by batch, in an [`EpochOrder`].

use rand::seq::SliceRandom;

use super::buffer_pool::BufferPool;
use super::checkpoint::{Checkpoint, Position};
use super::entity_buckets::Dealing;
use super::error::TrainError;
use super::gradient_shard::{Scratch, Shard};
use super::lock_free_update::{Round, Workplace};
use super::row_listing::Listing;
use super::slice::{Listed, Plan, Slice};
use super::table_in_training::Table;
use super::trainer::Hooks;
use super::{deterministic_update, lock_free_update};
use crate::embed_config::Updates;
use crate::negatives::Sides;
use crate::optimiser::Update;
use crate::seed::{Purpose, rng};
use crate::side::Side;

/// The order of the facts in an epoch.
pub(super) enum EpochOrder {
    /// Random.
    Shuffled(Vec<Listed>),
    /// By buckets of entities, so that threads share no rows.
    Dealt(Dealing),
}

impl EpochOrder {
    pub(super) fn new(plan: &Plan<'_>, epoch: u32) -> Self {
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
pub(super) struct Buffers {
    pub(super) scratch: BufferPool<(Listing, Scratch)>,
    /// The gradients of a batch (deterministic).
    pub(super) shards: Vec<Shard>,
    /// Buffers that no thread uses at the moment (lock-free).
    pub(super) spare: BufferPool<Workplace>,
}

/// Runs the batches of epochs; holds the buffers.
pub(super) struct Engine {
    buffers: Buffers,
    entity_heads: Vec<u32>,
    relation_heads: Vec<u32>,
}

impl Engine {
    pub(super) fn new(plan: &Plan<'_>, checkpoint: &Checkpoint) -> Self {
        let heads = |rows: usize| match plan.config.updates {
            Updates::Deterministic => vec![u32::MAX; rows],
            Updates::LockFree => Vec::new(),
        };
        let parameters = &checkpoint.parameters;
        Self {
            buffers: Buffers { scratch: BufferPool::new(), shards: Vec::new(), spare: BufferPool::new() },
            entity_heads: heads(parameters.entity_count()),
            relation_heads: heads(parameters.relations.len() / parameters.relation_width()),
        }
    }

    /// Trains on the rest of an epoch. Gives false if it was stopped before the end.
    pub(super) fn finish_epoch(
        &mut self,
        plan: &Plan<'_>,
        checkpoint: &mut Checkpoint,
        order: &EpochOrder,
        hooks: &mut Hooks<'_>,
    ) -> Result<bool, TrainError> {
        while checkpoint.position.fact < plan.facts.len() {
            if hooks.observer.should_stop() {
                return Ok(false);
            }
            let (facts, loss) = self.advance(plan, checkpoint, order);
            if !loss.is_finite() {
                return Err(TrainError::Diverged { epoch: checkpoint.position.epoch + 1 });
            }
            hooks.observer.advance(facts as u64);
            hooks.observer.measured("loss", loss);
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
                let loss = deterministic_update::step(plan, &slices, &mut self.buffers, tables, updates);
                Round { end, queries: slices.iter().map(|slice| slice.facts.len()).sum(), loss }
            }
            EpochOrder::Dealt(dealing) => {
                lock_free_update::step(plan, dealing, epoch, first, &self.buffers, tables, updates)
            }
        };
        plan.fixed.restore(&mut checkpoint.parameters);
        checkpoint.position.fact = end;
        checkpoint.position.queries += queries as u64;
        checkpoint.position.loss += loss;
        (end - first, loss / queries as f64)
    }
}

/// Divides facts into slices. The division does not depend on the number of threads.
pub(super) fn slices<'o>(plan: &Plan<'_>, epoch: u32, first: usize, facts: &'o [Listed]) -> Vec<Slice<'o>> {
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
