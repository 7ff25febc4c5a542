//! One step of MetaR: the loss of a batch of tasks and the gradients of all that learns.

use rayon::prelude::*;

use super::config::MetarConfig;
use super::learner::{Learner, Mode};
use super::objective::{Factors, Measured, Objective, TaskResult};
use crate::real::{Real, add_scaled};
use crate::training::row_gradients::RowGradients;
use crate::training::{Contrasts, Diagnostics, MetaTask, Rows, StepResult};

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
    let factors = factors(config, tasks);
    let objective = Objective { config, rows };
    let results: Vec<TaskResult<T>> = tasks
        .par_iter()
        .enumerate()
        .with_min_len(8)
        .map(|(at, task)| {
            let relation = mean_relation(&pass.output[starts[at] * dim..starts[at + 1] * dim], dim);
            objective.task(task, &relation, tasks.len(), factors, config.train_entities)
        })
        .collect();
    let mut at_pairs = vec![T::ZERO; places.len() * dim];
    for (at, result) in results.iter().enumerate() {
        let share = T::ONE / T::of((starts[at + 1] - starts[at]) as f64);
        for pair in at_pairs[starts[at] * dim..starts[at + 1] * dim].chunks_exact_mut(dim) {
            add_scaled(pair, share, &result.relation);
        }
    }
    let gradients = learner.backward(weights, &pass, &places, at_pairs);
    let mut row_gradients = RowGradients::new(dim);
    if config.train_entities {
        results.iter().for_each(|result| row_gradients.append(&result.rows));
        let pairs = tasks.iter().flat_map(|task| task.support.pairs());
        for (pair, gradient) in pairs.zip(gradients.input.chunks_exact(2 * dim)) {
            row_gradients.push(pair.head, T::ONE, &gradient[..dim]);
            row_gradients.push(pair.tail, T::ONE, &gradient[dim..]);
        }
    }
    StepResult {
        loss: results.iter().map(|result| result.loss).sum(),
        weights: gradients.weights,
        buffers: pass.buffers,
        relations: Vec::new(),
        rows: row_gradients.summed(),
        diagnostics: diagnostics(results.iter().map(|result| &result.measured), tasks.len()),
    }
}

/// How much each pair counts: the mean over all queries of the batch, and over all support pairs if they count.
fn factors(config: &MetarConfig, tasks: &[MetaTask]) -> Factors {
    let share = |count: usize| 1.0 / count.max(1) as f64;
    let queries = tasks.iter().map(|task| task.query.pairs().len()).sum();
    let support = tasks.iter().map(|task| task.support.pairs().len()).sum();
    Factors {
        query: share(queries),
        support: if config.outer_includes_support { share(support) } else { 0.0 },
    }
}

fn diagnostics<'m>(all: impl Iterator<Item = &'m Measured>, tasks: usize) -> Diagnostics {
    let mut sum = Measured::default();
    for of in all {
        sum.queries += of.queries;
        sum.negatives += of.negatives;
        sum.positive += of.positive;
        sum.negative += of.negative;
        sum.active += of.active;
        sum.support_norm += of.support_norm;
        sum.query_norm += of.query_norm;
    }
    let mean = |sum: f64, count: f64| if count > 0.0 { sum / count } else { 0.0 };
    vec![
        ("positive_distance", mean(sum.positive, sum.queries)),
        ("negative_distance", mean(sum.negative, sum.negatives)),
        ("support_relation_norm", mean(sum.support_norm, tasks as f64)),
        ("query_relation_norm", mean(sum.query_norm, tasks as f64)),
        ("active_negatives", mean(sum.active, sum.negatives)),
    ]
}
