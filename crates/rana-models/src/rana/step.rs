//! One step of meta-training: the loss of a batch of tasks and the gradient of all that learns.
//!
//! Three passes, each parallel: pairs are encoded, tasks are learned from, and pairs are gone back
//! through. What is summed over pairs or tasks is summed in an order that depends on the batch alone, so
//! that the same batch gives the same bits with any number of threads.

use pulp::Arch;
use rayon::prelude::*;

use super::config::{OuterReduction, RScope, ScoreSpace, TrainEntities};
use super::diagnostics::{RanaDiagnostics, relative_entropy};
use super::encoded_pairs::EncodedPairs;
use super::encoder::{CHUNK, ChunkGradients, End, Projection};
use super::encoder_gradients::EncoderGradients;
use super::inputs::Inputs;
use super::objective::{ComputeTask, Factors, Objective, TaskOutcome};
use crate::real::{Real, add_scaled};
use crate::training::MetaTask;
use crate::training::StepResult;
use crate::training::row_gradients::RowGradients;

/// The number of parts of the backward pass. Each has its own sum, as large as all weights and twice all relations,
/// so every part costs memory.
const PARTS: usize = 8;

/// The loss of a batch and its gradients.
pub(crate) fn step<T: Real>(inputs: Inputs<'_, T>, tasks: &[MetaTask]) -> StepResult<T> {
    let projection = Projection::new(inputs);
    let pairs = EncodedPairs::new(inputs, &projection, tasks);
    let objective = Objective { inputs, chunks: &pairs.chunks };
    let factors = factors(inputs, tasks);
    let outcomes: Vec<(Vec<usize>, TaskOutcome<T>)> = tasks
        .par_iter()
        .enumerate()
        .with_min_len(8)
        .map(|(number, task)| {
            let task = pairs.objective_task(inputs, number, task);
            let outcome = Arch::new().dispatch(ComputeTask { objective, task: &task, factors });
            (task.support_pairs, outcome)
        })
        .collect();
    let at_outputs = OutputGradients::of(inputs, &pairs, &outcomes);
    let (mut gradients, r) = back_through_pairs(inputs, &projection, &pairs, &at_outputs);
    gradients.finish(inputs);
    let mut rows = RowGradients::new(inputs.dim());
    for (_, outcome) in &outcomes {
        rows.append(&outcome.rows);
    }
    if let Some(entities) = &gradients.entities {
        rows.append(entities);
        add_pair_translations(inputs, tasks, &pairs, &r, &mut rows);
    }
    let alpha_entropy = alpha_entropy(inputs, &pairs);
    StepResult {
        loss: outcomes.iter().map(|(_, outcome)| outcome.loss).sum(),
        weights: gradients.weights,
        buffers: Vec::new(),
        relations: gradients.relations,
        rows: rows.summed(),
        diagnostics: RanaDiagnostics::of(
            outcomes.iter().map(|(_, outcome)| &outcome.diagnostics),
            alpha_entropy,
        )
        .named(),
    }
}

/// How much queries and support pairs count in what is minimised (eq. 17).
fn factors<T: Real>(inputs: Inputs<'_, T>, tasks: &[MetaTask]) -> Factors {
    let share = |count: usize| match inputs.config.outer_reduction {
        OuterReduction::Mean => 1.0 / count.max(1) as f64,
        OuterReduction::Sum => 1.0,
    };
    let queries = tasks.iter().map(|task| task.query.pairs().len()).sum();
    let support = tasks.iter().map(|task| task.support.pairs().len()).sum();
    let counts_support = inputs.config.outer_includes_support;
    Factors { query: share(queries), support: if counts_support { share(support) } else { 0.0 } }
}

/// The gradients at what the encoder put out, pair by pair.
struct OutputGradients<T> {
    relation: Vec<T>,
    /// At heads and tails; empty unless they are scored.
    encoded: [Vec<T>; 2],
}

impl<T: Real> OutputGradients<T> {
    fn of(inputs: Inputs<'_, T>, pairs: &EncodedPairs<T>, outcomes: &[(Vec<usize>, TaskOutcome<T>)]) -> Self {
        let (dim, len) = (inputs.dim(), pairs.len() * inputs.dim());
        let encoded = if inputs.config.score_space == ScoreSpace::Raw { 0 } else { len };
        let mut this =
            Self { relation: vec![T::ZERO; len], encoded: [(); 2].map(|()| vec![T::ZERO; encoded]) };
        for (support, outcome) in outcomes {
            // eq. 7 is a mean.
            let share = T::ONE / T::of(support.len() as f64);
            for &pair in support {
                add_scaled(&mut this.relation[pair * dim..(pair + 1) * dim], share, &outcome.relation);
            }
            for (pair, end, gradient) in outcome.encoded.iter() {
                let to = &mut this.encoded[end as usize];
                add_scaled(&mut to[pair * dim..(pair + 1) * dim], T::ONE, gradient);
            }
        }
        this
    }
}

/// The gradients of the encoder, and of eq. 1 if entity rows learn from it.
fn back_through_pairs<T: Real>(
    inputs: Inputs<'_, T>,
    projection: &Projection<T>,
    pairs: &EncodedPairs<T>,
    at_outputs: &OutputGradients<T>,
) -> (EncoderGradients<T>, Vec<T>) {
    let dim = inputs.dim();
    let learns_entities = inputs.config.train_entities == TrainEntities::Shared;
    // As even as can be: a part more than the others would be what all threads but one wait for.
    let count = pairs.chunks.len();
    let (mut parts, r): (Vec<EncoderGradients<T>>, Vec<Vec<T>>) = (0..PARTS.min(count))
        .into_par_iter()
        .map(|part| {
            let share = |part: usize| part * count / PARTS.min(count);
            let (first, chunks) = (share(part) * CHUNK, &pairs.chunks[share(part)..share(part + 1)]);
            let mut gradients = EncoderGradients::new(inputs, projection, learns_entities);
            let mut r = Vec::new();
            for (at, chunk) in chunks.iter().enumerate() {
                let start = (first + at * CHUNK) * dim;
                let range = start..(start + CHUNK * dim).min(at_outputs.relation.len());
                let mut own_r = vec![T::ZERO; if learns_entities { range.len() } else { 0 }];
                let is_scored = !at_outputs.encoded[0].is_empty();
                let from = ChunkGradients {
                    relation: &at_outputs.relation[range.clone()],
                    encoded: is_scored
                        .then(|| End::BOTH.map(|end| &at_outputs.encoded[end as usize][range.clone()])),
                    r: learns_entities.then_some(&mut own_r),
                };
                chunk.backward(inputs, projection, from, &mut gradients);
                r.append(&mut own_r);
            }
            (gradients, r)
        })
        .unzip();
    let Some((gradients, others)) = parts.split_first_mut() else {
        return (EncoderGradients::new(inputs, projection, learns_entities), Vec::new());
    };
    gradients.add(others);
    (parts.swap_remove(0), r.concat())
}

/// From the gradient of `r = t − h` to those of both rows.
fn add_pair_translations<T: Real>(
    inputs: Inputs<'_, T>,
    tasks: &[MetaTask],
    pairs: &EncodedPairs<T>,
    r: &[T],
    rows: &mut RowGradients<T>,
) {
    for ((pair, task), gradient) in pairs.iter().zip(r.chunks_exact(inputs.dim())) {
        let own = [pair];
        let over = match inputs.config.r_scope {
            RScope::Pair => &own[..],
            RScope::TaskMean => tasks[task].support.pairs(),
        };
        let share = T::ONE / T::of(over.len() as f64);
        for pair in over {
            rows.push(pair.tail, share, gradient);
            rows.push(pair.head, -share, gradient);
        }
    }
}

/// The mean entropy of attention over the neighbours of some of a batch's entities.
///
/// A sample is enough to watch attention, and all would cost a noticeable share of a step.
fn alpha_entropy<T: Real>(inputs: Inputs<'_, T>, pairs: &EncodedPairs<T>) -> f64 {
    const SAMPLE: usize = CHUNK;
    let entropies: Vec<f64> = pairs
        .iter()
        .take(SAMPLE)
        .enumerate()
        .flat_map(|(at, _)| End::BOTH.map(|end| (at, end)))
        .filter_map(|(at, end)| {
            let chunk = &pairs.chunks[at / CHUNK];
            let neighbours = chunk.count(inputs, at % CHUNK, end);
            let alpha = &chunk.alpha(at % CHUNK, end)[..neighbours];
            (neighbours > 1).then(|| relative_entropy(alpha))
        })
        .collect();
    entropies.iter().sum::<f64>() / entropies.len().max(1) as f64
}
