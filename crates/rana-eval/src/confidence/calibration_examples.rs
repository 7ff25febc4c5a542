//! [`CalibrationExamples`]: the best answers to tasks that a model was not trained on, and which of them are right.

use rana_fewshot::{FewShotModel, Support, SupportError, SupportOrder};
use rana_graph::{EntityId, Pair, Task, TaskSet};
use rayon::prelude::*;

use super::head_scores::{HeadScores, Tails};
use super::leave_one_out::leave_one_out_rank;

/// How many examples are gathered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CalibrationSize {
    /// The sizes of support that are learned from.
    pub shots: Vec<usize>,
    /// The most heads that are asked about with each support.
    pub heads: usize,
}

impl Default for CalibrationSize {
    fn default() -> Self {
        Self { shots: vec![2, 3, 5, 8], heads: 30 }
    }
}

/// How many answers of a head count: readers seldom look further.
pub(super) const TOP: usize = 10;
/// Temperatures among which one is chosen.
pub(super) const TEMPERATURES: [f64; 11] = [0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 5.0, 8.0, 12.0];

/// What a calibration is learned from: heads of tasks that the model does not know, with their best answers.
#[derive(Clone, Debug, Default)]
pub struct CalibrationExamples {
    pub(super) heads: Vec<ExampleHead>,
}

/// One head, its best answers, and which of them are right.
#[derive(Clone, Debug)]
pub(super) struct ExampleHead {
    /// The relation, to tell tasks apart.
    pub(super) task: u32,
    /// How well the model finds each pair of the support by the others ([`leave_one_out_rank`]).
    pub(super) record: f32,
    /// How many pairs the support has.
    pub(super) shots: usize,
    /// [`HeadScores::log_sum`] at each temperature.
    pub(super) log_sums: [f64; TEMPERATURES.len()],
    /// The scores of the best answers, and whether they are right.
    pub(super) answers: Vec<(f32, bool)>,
    /// The scores of all right tails.
    pub(super) right: Vec<f32>,
}

impl CalibrationExamples {
    /// Gathers examples from tasks that the model does not know.
    ///
    /// Each task gets supports of several sizes, and the model is asked about the heads of the remaining facts. A task
    /// with too few facts for a size gives no example of that size.
    ///
    /// # Errors
    /// If the model cannot answer for a support.
    pub fn gather(
        model: &dyn FewShotModel,
        tasks: &TaskSet,
        of: &[Task<'_>],
        size: &CalibrationSize,
        seed: u64,
    ) -> Result<Self, SupportError> {
        let plans: Vec<(&Task<'_>, usize)> =
            of.iter().flat_map(|task| size.shots.iter().map(move |&shots| (task, shots))).collect();
        let heads: Result<Vec<Vec<ExampleHead>>, SupportError> = plans
            .par_iter()
            .map(|&(task, shots)| {
                let order = SupportOrder::resampled(task, seed, shots as u64);
                let Ok(episode) = order.episode(shots) else { return Ok(Vec::new()) };
                let seed = u64::from(task.relation.0) | (shots as u64) << 32;
                of_support(model, tasks, task, &episode.support, &episode.query, size.heads, seed)
            })
            .collect();
        Ok(Self { heads: heads?.into_iter().flatten().collect() })
    }

    /// Adds the examples of another collection.
    pub fn extend(&mut self, others: Self) {
        self.heads.extend(others.heads);
    }
}

/// The examples of one support of a task: the heads of its other facts.
pub(super) fn of_support(
    model: &dyn FewShotModel,
    tasks: &TaskSet,
    task: &Task<'_>,
    support: &[Pair],
    queries: &[Pair],
    most_heads: usize,
    seed: u64,
) -> Result<Vec<ExampleHead>, SupportError> {
    let of = Support::of_task(task, support, seed);
    let record = leave_one_out_rank(model, &of)?.unwrap_or(0.0);
    let relation = model.adapt(&of)?;
    let mut heads: Vec<EntityId> = Vec::new();
    for query in queries {
        if !heads.contains(&query.head) {
            heads.push(query.head);
        }
        if heads.len() == most_heads {
            break;
        }
    }
    let tails = Tails::new(task.candidates.to_vec());
    let examples = heads.into_iter().map(|head| {
        // Only the support is known when a relation is completed.
        let scores = HeadScores::of(&*relation, head, &tails).without(Pair::tails_of(support, head));
        let right = tasks.known_tails(head, task.relation);
        let is_right = |tail: EntityId| right.binary_search(&tail).is_ok();
        ExampleHead {
            task: task.relation.0,
            record,
            shots: support.len(),
            log_sums: TEMPERATURES.map(|temperature| scores.log_sum(temperature)),
            answers: scores.best(TOP).into_iter().map(|(tail, score)| (score, is_right(tail))).collect(),
            right: scores.of_tails(right),
        }
    });
    Ok(examples.collect())
}
