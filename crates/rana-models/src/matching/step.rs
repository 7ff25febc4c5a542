//! One step of a matching model: the loss of a batch of tasks and the gradients of all that learns.

use std::collections::HashMap;

use rana_graph::{EntityId, Pair};

use super::neighbourhoods::{Neighbourhoods, Seen, Tables};
use super::network::{Network, References};
use crate::real::Real;
use crate::tape::{DropoutKey, Segments, Tape, Var};
use crate::training::{Contrasts, MetaTask, StepResult};

/// All that a step reads.
#[derive(Clone, Copy)]
pub(super) struct Inputs<'w, T> {
    pub(super) neighbourhoods: &'w Neighbourhoods,
    pub(super) weights: &'w [T],
    pub(super) tables: Tables<'w, T>,
}

/// The entities of a batch, each once.
#[derive(Default)]
pub(super) struct EntityBatch {
    pub(super) seen: Vec<Seen>,
    places: HashMap<Seen, u32>,
}

impl EntityBatch {
    pub(super) fn place(&mut self, seen: Seen) -> u32 {
        *self.places.entry(seen).or_insert_with(|| {
            self.seen.push(seen);
            self.seen.len() as u32 - 1
        })
    }
}

/// Pairs by the places of their ends.
#[derive(Default)]
pub(super) struct PairPlaces {
    pub(super) heads: Vec<u32>,
    pub(super) tails: Vec<u32>,
}

impl PairPlaces {
    pub(super) fn push(&mut self, batch: &mut EntityBatch, pair: Pair, hidden: Option<usize>) {
        let [head, tail] = [pair.head, pair.tail].map(|entity| batch.place(Seen { entity, hidden }));
        self.heads.push(head);
        self.tails.push(tail);
    }
}

/// The pairs of a batch and how they are compared.
#[derive(Default)]
struct Batch {
    entities: EntityBatch,
    supports: PairPlaces,
    queries: PairPlaces,
    /// The task of each query pair.
    tasks: Vec<u32>,
    /// Which queries each margin compares.
    positives: Vec<u32>,
    negatives: Vec<u32>,
}

impl Batch {
    fn add_queries(&mut self, contrasts: &Contrasts, task: u32, hidden: Option<usize>) {
        for (pair, negatives) in contrasts.iter() {
            let positive = self.add_query(pair.head, pair.tail, task, hidden);
            for &tail in negatives {
                let negative = self.add_query(pair.head, tail, task, hidden);
                self.positives.push(positive);
                self.negatives.push(negative);
            }
        }
    }

    fn add_query(&mut self, head: EntityId, tail: EntityId, task: u32, hidden: Option<usize>) -> u32 {
        self.queries.push(&mut self.entities, Pair { head, tail }, hidden);
        self.tasks.push(task);
        self.tasks.len() as u32 - 1
    }
}

/// The scores of queries, a column: each is matched with all references of its task, and the best match counts.
pub(super) fn scores<T: Real>(
    network: &impl Network,
    tape: &mut Tape<'_, T>,
    queries: Var,
    tasks: &[u32],
    references: &References,
) -> Var {
    let ranges = tasks.iter().map(|&task| references.of_tasks.range(task as usize));
    let each: Segments = Segments::of_lengths(ranges.clone().map(|range| range.len()));
    let of: Vec<u32> = ranges.flatten().map(|reference| reference as u32).collect();
    if of.len() == tasks.len() {
        return network.processor().scores(tape, queries, references.rows, &of);
    }
    let repeated = tape.gather_rows(queries, each.owners());
    let scores = network.processor().scores(tape, repeated, references.rows, &of);
    tape.segment_max(scores, &each)
}

/// The loss of a batch and its gradients. Every entity of the batch is encoded once; with dropout, all its pairs see
/// the same encoding.
pub(super) fn step<T: Real>(
    network: &impl Network,
    inputs: Inputs<'_, T>,
    tasks: &[MetaTask],
    dropout: Option<DropoutKey>,
) -> StepResult<T> {
    let Inputs { neighbourhoods, weights, tables } = inputs;
    let mut batch = Batch::default();
    for (number, task) in tasks.iter().enumerate() {
        let hidden = neighbourhoods.hidden(task.relation);
        for &pair in task.support.pairs() {
            batch.supports.push(&mut batch.entities, pair, hidden);
        }
        batch.add_queries(&task.query, number as u32, hidden);
    }
    let shots = Segments::of_lengths(tasks.iter().map(|task| task.support.pairs().len()));

    let mut tape = Tape::new(weights).with_dropout(dropout);
    let slots = neighbourhoods.slots(&mut tape, tables, &batch.entities.seen);
    let encoded = network.encode(&mut tape, &slots);
    let pairs = network.pair_encoder();
    let ends = pairs.ends(&mut tape, encoded);
    let supports = pairs.pairs(&mut tape, &ends, batch.supports.heads, batch.supports.tails);
    let references = network.references(&mut tape, supports, &shots);
    let queries = pairs.pairs(&mut tape, &ends, batch.queries.heads, batch.queries.tails);
    let scores = scores(network, &mut tape, queries, &batch.tasks, &references);
    let positives = tape.gather_rows(scores, batch.positives);
    let negatives = tape.gather_rows(scores, batch.negatives);
    let losses = tape.margin_loss(positives, negatives, network.settings().margin.into());
    let mut loss = tape.mean(losses);
    if let Some(other) = references.loss {
        loss = tape.add(loss, other);
    }

    let mean = |of: &[T], f: fn(f64) -> f64| {
        of.iter().map(|value| f(value.wide())).sum::<f64>() / of.len().max(1) as f64
    };
    let mut diagnostics = vec![
        ("positive_score", mean(tape.values(positives), |score| score)),
        ("negative_score", mean(tape.values(negatives), |score| score)),
        ("active_negatives", mean(tape.values(losses), |loss| f64::from(loss > 0.0))),
    ];
    if let Some(other) = references.loss {
        diagnostics.push(("support_loss", tape.scalar(other).wide()));
    }
    let gradients = tape.backward(loss);
    StepResult {
        loss: tape.scalar(loss).wide(),
        buffers: Vec::new(),
        relations: slots.relation_gradients(&gradients),
        rows: slots.row_gradients(&gradients, tables.dim),
        weights: gradients.weights,
        diagnostics,
    }
}
