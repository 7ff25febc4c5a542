//! One step of GANA: the loss of a batch of tasks and the gradients of all that learns.

use super::config::GanaConfig;
use super::hyperplane::Hyperplane;
use super::network::{NamedSupport, Network};
use crate::real::Real;
use crate::relation_meta::{Objective, Surroundings};
use crate::tape::DropoutKey;
use crate::training::{MetaTask, Rows, StepResult};

/// All that a step reads.
#[derive(Clone, Copy)]
pub(super) struct Inputs<'a, T> {
    pub(super) config: &'a GanaConfig,
    pub(super) network: &'a Network,
    pub(super) weights: &'a [T],
    pub(super) surroundings: Surroundings<'a, T>,
    /// The rows that are scored.
    pub(super) rows: &'a dyn Rows<T>,
}

impl<'a, T: Real> Inputs<'a, T> {
    /// The losses of tasks, given the distance.
    pub(super) fn objective(&self, distance: &'a Hyperplane) -> Objective<'a, T, Hyperplane> {
        let (settings, row_width) = (self.config.losses(), self.network.dim);
        Objective { settings, distance, rows: self.rows, row_width }
    }
}

/// The loss of a batch and its gradients.
pub(super) fn step<T: Real>(
    inputs: Inputs<'_, T>,
    tasks: &[MetaTask],
    dropout: Option<DropoutKey>,
) -> StepResult<T> {
    let Inputs { config, network, weights, surroundings, .. } = inputs;
    let supports: Vec<NamedSupport<'_>> = tasks.iter().map(|task| (task.relation, &task.support)).collect();
    let pass = network.forward(weights, surroundings, &supports, dropout, true);
    let distance = Hyperplane { length: config.normal_length, step: config.normal_step, is_training: true };
    let batch = inputs.objective(&distance).batch(tasks, &pass.relations);
    StepResult {
        loss: batch.loss,
        weights: network.backward(pass, &batch.relations),
        buffers: Vec::new(),
        relations: Vec::new(),
        rows: batch.rows.summed(),
        diagnostics: batch.diagnostics,
    }
}
