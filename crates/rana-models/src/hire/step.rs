//! One step of HiRe: the loss of a batch of tasks and the gradients of all that learns.

use super::config::HireConfig;
use super::network::{NamedSupport, Network};
use super::transfer_distance::TransferDistance;
use crate::real::Real;
use crate::relation_meta::{Objective, Surroundings};
use crate::tape::DropoutKey;
use crate::training::{MetaTask, Rows, StepResult};

/// All that a step reads.
#[derive(Clone, Copy)]
pub(super) struct Inputs<'a, T> {
    pub(super) config: &'a HireConfig,
    pub(super) network: &'a Network,
    pub(super) weights: &'a [T],
    pub(super) surroundings: Surroundings<'a, T>,
    /// The rows that are scored: vectors and transfer vectors.
    pub(super) rows: &'a dyn Rows<T>,
    pub(super) seed: u64,
}

impl<'a, T: Real> Inputs<'a, T> {
    /// The losses of tasks, given the distance.
    pub(super) fn objective(&self, distance: &'a TransferDistance) -> Objective<'a, T, TransferDistance> {
        let (settings, row_width) = (self.config.losses(), 2 * self.network.dim);
        Objective { settings, distance, rows: self.rows, row_width }
    }

    /// The distance of MTransD.
    pub(super) fn distance(&self, is_training: bool) -> TransferDistance {
        let HireConfig { entity_transfers, transfer_step: step, .. } = *self.config;
        TransferDistance { entity_transfers, step, is_training }
    }
}

/// The loss of a batch and its gradients. Outside of training nothing is dropped, and contexts are corrupted as at step 0.
pub(super) fn step<T: Real>(inputs: Inputs<'_, T>, tasks: &[MetaTask], number: Option<u64>) -> StepResult<T> {
    let Inputs { config, network, weights, surroundings, rows, seed } = inputs;
    let supports: Vec<NamedSupport<'_>> = tasks.iter().map(|task| (task.relation, &task.support)).collect();
    let distance = inputs.distance(true);
    let dropout = number.map(|step| DropoutKey { seed, step, tape: 0 });
    let pass = network.forward(weights, rows, &supports, distance, dropout, true);
    let keys = (seed, number.unwrap_or(0), dropout);
    let contexts = network.context_loss(weights, surroundings, &supports, &pass, config.context_weight, keys);
    let mut batch = inputs.objective(&distance).batch(tasks, &pass.relations);
    let mut diagnostics = batch.diagnostics;
    diagnostics.push(("context_loss", contexts.loss));
    let to = config.train_entities.then_some(&mut batch.rows);
    let weights = network.backward(pass, &supports, distance, &batch.relations, &contexts, to);
    StepResult {
        loss: batch.loss + contexts.loss,
        weights,
        buffers: Vec::new(),
        relations: Vec::new(),
        rows: batch.rows.summed(),
        diagnostics,
    }
}
