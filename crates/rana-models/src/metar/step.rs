//! One step of MetaR: the loss of a batch of tasks and the gradients of all that learns.

use super::config::MetarConfig;
use super::learner::{Learner, Mode};
use crate::real::{Real, add_scaled};
use crate::relation_meta::{Objective, Translated};
use crate::training::{Contrasts, MetaTask, Rows, StepResult};

/// All that a step reads.
#[derive(Clone, Copy)]
pub(super) struct Inputs<'a, T> {
    pub(super) config: &'a MetarConfig,
    pub(super) learner: &'a Learner,
    pub(super) weights: &'a [T],
    pub(super) buffers: &'a [T],
    pub(super) rows: &'a dyn Rows<T>,
}

/// The support pairs of some tasks as rows `[h; t]`, and the place of each in its support.
pub(super) fn pair_rows<'c, T: Real>(
    rows: &dyn Rows<T>,
    supports: impl Iterator<Item = &'c Contrasts>,
    shots: usize,
) -> (Vec<T>, Vec<usize>) {
    let (mut input, mut places) = (Vec::new(), Vec::new());
    for support in supports {
        for (place, pair) in support.pairs().iter().enumerate() {
            input.extend_from_slice(rows.row(pair.head));
            input.extend_from_slice(rows.row(pair.tail));
            // A support with more pairs than were trained with repeats the last place.
            places.push(place.min(shots - 1));
        }
    }
    (input, places)
}

/// The mean of the relations of a task's pairs (eq. 2).
pub(super) fn mean_relation<T: Real>(relations: &[T], dim: usize) -> Vec<T> {
    let share = T::ONE / T::of((relations.len() / dim) as f64);
    let mut mean = vec![T::ZERO; dim];
    relations.chunks_exact(dim).for_each(|relation| add_scaled(&mut mean, share, relation));
    mean
}

/// The loss of a batch and its gradients.
pub(super) fn step<T: Real>(inputs: Inputs<'_, T>, tasks: &[MetaTask], mode: Mode) -> StepResult<T> {
    let Inputs { config, learner, weights, buffers, rows } = inputs;
    let (dim, shots) = (learner.dim, learner.shots());
    let (input, places) = pair_rows(rows, tasks.iter().map(|task| &task.support), shots);
    let pass = learner.forward(weights, buffers, input, &places, mode);
    let mut starts = vec![0];
    for task in tasks {
        starts.push(starts[starts.len() - 1] + task.support.pairs().len());
    }
    let pairs_of = |at: usize| starts[at] * dim..starts[at + 1] * dim;
    let relations: Vec<T> =
        (0..tasks.len()).flat_map(|at| mean_relation(&pass.output[pairs_of(at)], dim)).collect();
    let objective = Objective { settings: config.losses(), distance: &Translated, rows, row_width: dim };
    let batch = objective.batch(tasks, &relations);
    let mut at_pairs = vec![T::ZERO; places.len() * dim];
    for (at, gradient) in batch.relations.chunks_exact(dim).enumerate() {
        let share = T::ONE / T::of((starts[at + 1] - starts[at]) as f64);
        for pair in at_pairs[pairs_of(at)].chunks_exact_mut(dim) {
            add_scaled(pair, share, gradient);
        }
    }
    let gradients = learner.backward(weights, &pass, &places, at_pairs);
    let mut row_gradients = batch.rows;
    if config.train_entities {
        let pairs = tasks.iter().flat_map(|task| task.support.pairs());
        for (pair, gradient) in pairs.zip(gradients.input.chunks_exact(2 * dim)) {
            row_gradients.push(pair.head, T::ONE, &gradient[..dim]);
            row_gradients.push(pair.tail, T::ONE, &gradient[dim..]);
        }
    }
    StepResult {
        loss: batch.loss,
        weights: gradients.weights,
        buffers: pass.buffers,
        relations: Vec::new(),
        rows: row_gradients.summed(),
        diagnostics: batch.diagnostics,
    }
}
