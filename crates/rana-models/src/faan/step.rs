//! One step of FAAN: the loss of a batch of tasks (eq. 12) and the gradients of all that learns.

use rana_graph::Pair;

use super::matching::Matching;
use super::neighbourhood::Neighbourhood;
use super::network::Network;
use super::pair_batch::{PairBatch, Tables};
use crate::real::Real;
use crate::tape::{DropoutKey, Segments, Tape};
use crate::training::{MetaTask, StepResult};

/// All that a step reads.
#[derive(Clone, Copy)]
pub(super) struct Inputs<'w, T> {
    pub(super) network: &'w Network,
    pub(super) neighbourhood: &'w Neighbourhood,
    pub(super) weights: &'w [T],
    pub(super) tables: Tables<'w, T>,
}

/// The queries of a batch and how they are compared.
#[derive(Default)]
struct Queries {
    /// The place of each pair.
    places: Vec<u32>,
    /// Which queries each margin compares.
    positives: Vec<u32>,
    negatives: Vec<u32>,
}

impl Queries {
    fn push(&mut self, place: u32) -> u32 {
        self.places.push(place);
        self.places.len() as u32 - 1
    }
}

/// The loss of a batch and its gradients. Every pair of the batch is encoded once; with dropout, wherever it comes up
/// its encoding is the same.
pub(super) fn step<T: Real>(
    inputs: Inputs<'_, T>,
    tasks: &[MetaTask],
    dropout: Option<DropoutKey>,
) -> StepResult<T> {
    let Inputs { network, neighbourhood, weights, tables } = inputs;
    let (mut pairs, mut supports, mut queries) = (PairBatch::default(), Vec::new(), Queries::default());
    let mut of_tasks = Vec::with_capacity(tasks.len());
    for task in tasks {
        let hidden = neighbourhood.hidden(task.relation);
        supports.extend(task.support.pairs().iter().map(|&pair| pairs.place(pair, hidden)));
        let before = queries.places.len();
        for (pair, negatives) in task.query.iter() {
            let positive = queries.push(pairs.place(pair, hidden));
            for &tail in negatives {
                let negative = queries.push(pairs.place(Pair { tail, ..pair }, hidden));
                queries.positives.push(positive);
                queries.negatives.push(negative);
            }
        }
        of_tasks.push(queries.places.len() - before);
    }

    let mut tape = Tape::new(weights).with_dropout(dropout);
    let rows = pairs.rows(&mut tape, tables, neighbourhood);
    let ends = network.encoder.encode(&mut tape, &rows);
    let encoded = network.transformer.encode(&mut tape, ends);
    let references = tape.gather_rows(encoded, supports);
    let compared = tape.gather_rows(encoded, queries.places);
    let matching = Matching {
        queries: Segments::of_lengths(of_tasks),
        references: Segments::of_lengths(tasks.iter().map(|task| task.support.pairs().len())),
        scale: network.config.reference_scale,
    };
    let scores = matching.scores(&mut tape, compared, references);
    let positives = tape.gather_rows(scores, queries.positives);
    let negatives = tape.gather_rows(scores, queries.negatives);
    let losses = tape.margin_loss(positives, negatives, network.config.margin.into());
    let loss = tape.mean(losses);

    let mean = |of: &[T], f: fn(f64) -> f64| {
        of.iter().map(|value| f(value.wide())).sum::<f64>() / of.len().max(1) as f64
    };
    let diagnostics = vec![
        ("positive_score", mean(tape.values(positives), |score| score)),
        ("negative_score", mean(tape.values(negatives), |score| score)),
        ("active_negatives", mean(tape.values(losses), |loss| f64::from(loss > 0.0))),
    ];
    let gradients = tape.backward(loss);
    StepResult {
        loss: tape.scalar(loss).wide(),
        buffers: Vec::new(),
        relations: rows.relation_gradients(&gradients),
        rows: rows.row_gradients(&gradients, tables.dim),
        weights: gradients.weights,
        diagnostics,
    }
}
