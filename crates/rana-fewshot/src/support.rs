//! [`Support`]: all that a model is told of a relation.

use rana_graph::{EntityId, Pair, RelationId, Task};

/// All that a model is told of a relation.
#[derive(Clone, Copy, Debug)]
pub struct Support<'a> {
    /// Which relation of the graph it is, if it is one. A model that learns from pairs does not look
    /// at this: it is for models that were trained with a row of this relation.
    pub relation: Option<RelationId>,
    /// Pairs that it holds for.
    pub pairs: &'a [Pair],
    /// The entities its tails are among; where a model needs negatives, it draws them from here.
    pub candidates: &'a [EntityId],
    /// Pairs that are known not to be facts of the relation, in addition to the negatives that a model draws.
    pub rejected: &'a [Pair],
    /// Chooses what is drawn: the same support and the same seed give the same scores.
    pub seed: u64,
}

impl<'a> Support<'a> {
    /// What a task tells: some of its pairs, and its candidates.
    #[must_use]
    pub fn of_task(task: &Task<'a>, pairs: &'a [Pair], seed: u64) -> Self {
        Self { relation: Some(task.relation), pairs, candidates: task.candidates, rejected: &[], seed }
    }
}

/// Why a model cannot answer for a support: it was trained on another one.
///
/// Models that learn from pairs can answer for all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SupportError {
    /// The relation is no dev or test task.
    #[error(
        "the relation is no dev or test task, so no support of it was trained on. Ask for a task's relation, or use a \
         model that learns from pairs"
    )]
    NoTask,
    /// The relation is a train task, all facts of which were trained on.
    #[error(
        "all facts of train tasks were trained on, so none is left to ask for. Evaluate dev or test tasks"
    )]
    TrainTask,
    /// A source of evidence needs vectors or a model, but there are none.
    #[error("the model takes evidence from vectors that it was opened without")]
    NoVectors,
    /// The support has another size.
    #[error(
        "the support has {found} facts, but the vectors were trained on the first {trained} of each task. Evaluate \
         with {trained} shots, or train vectors on supports of {found} facts"
    )]
    OtherShots {
        /// How many facts of each task were trained on.
        trained: usize,
        /// How many the support has.
        found: usize,
    },
    /// The support has other facts.
    #[error(
        "the vectors were trained on the first {trained} facts of each task, and there is a row for no other support"
    )]
    OtherFacts {
        /// How many facts of each task were trained on.
        trained: usize,
    },
}
