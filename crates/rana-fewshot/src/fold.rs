//! [`Fold`]: cross-validation over the train tasks of a benchmark.

use std::borrow::Cow;
use std::fmt;
use std::num::NonZeroUsize;
use std::str::FromStr;

use rana_graph::{Split, Task, TaskSet, TaskSetBuilder};
use serde::{Deserialize, Serialize};

/// One part of the train tasks, left out of training to choose settings by; written `2/5`.
///
/// A benchmark's dev split may be a handful of relations and a weak guide. The train tasks are many:
/// with five folds each of them is unseen once.
///
/// ```
/// use rana_fewshot::Fold;
/// let fold: Fold = "2/5".parse().unwrap();
/// assert_eq!(fold, Fold::new(2, 5).unwrap());
/// assert!("6/5".parse::<Fold>().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Fold {
    /// Counted from 1.
    number: NonZeroUsize,
    of: NonZeroUsize,
}

impl Fold {
    /// Fold `number`, counted from 1, of `of`; none unless there are at least two and it is one of them.
    #[must_use]
    pub fn new(number: usize, of: usize) -> Option<Self> {
        let fold = Self { number: NonZeroUsize::new(number)?, of: NonZeroUsize::new(of)? };
        (of >= 2 && number <= of).then_some(fold)
    }

    /// Whether the train task at this place is of this part: every `of`-th is.
    fn leaves_out(self, at: usize) -> bool {
        at % self.of == self.number.get() - 1
    }

    /// The train tasks of this part.
    pub fn left_out(self, tasks: &TaskSet) -> impl Iterator<Item = Task<'_>> {
        tasks.of(Split::Train).enumerate().filter(move |&(at, _)| self.leaves_out(at)).map(|(_, task)| task)
    }

    /// Tasks to train and to choose by: of the train tasks, every `of`-th is a dev task now; the
    /// benchmark's own dev and test tasks are gone. Candidates and filter stay as they are.
    #[must_use]
    pub fn of(self, tasks: &TaskSet) -> TaskSet {
        let mut builder = TaskSetBuilder::default();
        for (at, task) in tasks.of(Split::Train).enumerate() {
            let split = if self.leaves_out(at) { Split::Dev } else { Split::Train };
            builder.add_task(split, task.relation, task.facts.to_vec());
            builder.add_candidates(task.relation, task.candidates.to_vec());
        }
        for (question, tails) in tasks.filter() {
            tails.iter().for_each(|&tail| builder.add_known(question.head, question.relation, tail));
        }
        builder.finish()
    }
}

/// The tasks to train on: as they are, or [those of a fold](Fold::of).
#[must_use]
pub fn tasks_without(fold: Option<Fold>, tasks: &TaskSet) -> Cow<'_, TaskSet> {
    fold.map_or(Cow::Borrowed(tasks), |fold| Cow::Owned(fold.of(tasks)))
}

impl fmt::Display for Fold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

impl FromStr for Fold {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parsed = text
            .split_once('/')
            .and_then(|(number, of)| Self::new(number.trim().parse().ok()?, of.trim().parse().ok()?));
        parsed.ok_or_else(|| format!("`{text}` is no fold; say for instance 2/5, the second of five"))
    }
}

impl TryFrom<String> for Fold {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Fold> for String {
    fn from(fold: Fold) -> Self {
        fold.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rana_graph::{EntityId, Pair, RelationId};

    #[test]
    fn every_train_task_is_left_out_once_and_no_other_is_seen() {
        let mut builder = TaskSetBuilder::default();
        for number in 0..9 {
            let split =
                [Split::Train, Split::Dev, Split::Test][usize::from(number >= 7) + usize::from(number == 8)];
            let relation = RelationId::forward(number);
            builder.add_task(split, relation, vec![Pair { head: EntityId(number), tail: EntityId(0) }]);
            builder.add_candidates(relation, vec![EntityId(number)]);
        }
        builder.filter_from_tasks();
        let tasks = builder.finish();
        let mut left_out = Vec::new();
        for number in 1..=3 {
            let folded = Fold::new(number, 3).unwrap().of(&tasks);
            assert_eq!(folded.len(), 7);
            assert_eq!(folded.of(Split::Test).count(), 0);
            assert_eq!(folded.filter().count(), tasks.filter().count());
            for task in folded.of(Split::Dev) {
                assert_eq!(task.facts, tasks.task(task.relation).unwrap().facts);
                assert_eq!(task.candidates, tasks.task(task.relation).unwrap().candidates);
                left_out.push(task.relation);
            }
        }
        left_out.sort();
        assert_eq!(left_out, (0..7).map(RelationId::forward).collect::<Vec<_>>());
    }

    #[test]
    fn what_is_no_fold_is_refused() {
        for text in ["", "1", "0/5", "6/5", "1/1", "a/b", "1/0"] {
            assert!(text.parse::<Fold>().unwrap_err().contains("2/5"), "{text}");
        }
    }
}
