//! One step of MetaR: the loss of a batch of tasks and the gradients of all that learns.

use rana_graph::Pair;

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
    let mut pass = learner.forward(weights, buffers, input, &places, mode);
    let mut starts = vec![0];
    for task in tasks {
        starts.push(starts[starts.len() - 1] + task.support.pairs().len());
    }
    let pairs_of = |at: usize| starts[at] * dim..starts[at + 1] * dim;
    let relations: Vec<T> =
        (0..tasks.len()).flat_map(|at| mean_relation(&pass.output[pairs_of(at)], dim)).collect();
    let objective = Objective { settings: config.losses(), distance: &Translated, rows, row_width: dim };
    let batch = objective.batch(tasks, &relations);
    // Late in training most tasks have no pair within the margin, so nothing goes back through the learner from them.
    let is_still = |gradient: &[T]| mode == Mode::Evaluate && gradient.iter().all(|&value| value == T::ZERO);
    let (mut moved, mut at_pairs) = (Vec::new(), Vec::new());
    for (at, gradient) in batch.relations.chunks_exact(dim).enumerate() {
        if is_still(gradient) {
            continue;
        }
        let share = T::ONE / T::of((starts[at + 1] - starts[at]) as f64);
        for pair in starts[at]..starts[at + 1] {
            moved.push(pair);
            at_pairs.extend(gradient.iter().map(|&value| share * value));
        }
    }
    let buffers = std::mem::take(&mut pass.buffers);
    let pass = if moved.len() < places.len() { pass.of_pairs(learner, &moved) } else { pass };
    let moved_places: Vec<usize> = moved.iter().map(|&pair| places[pair]).collect();
    let gradients = learner.backward(weights, &pass, &moved_places, at_pairs);
    let mut row_gradients = batch.rows;
    if config.train_entities {
        let pairs: Vec<&Pair> = tasks.iter().flat_map(|task| task.support.pairs()).collect();
        for (&pair, gradient) in moved.iter().zip(gradients.input.chunks_exact(2 * dim)) {
            row_gradients.push(pairs[pair].head, T::ONE, &gradient[..dim]);
            row_gradients.push(pairs[pair].tail, T::ONE, &gradient[dim..]);
        }
    }
    StepResult {
        loss: batch.loss,
        weights: gradients.weights,
        buffers,
        relations: Vec::new(),
        rows: row_gradients.summed(),
        diagnostics: batch.diagnostics,
    }
}
