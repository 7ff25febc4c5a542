//! [`PretrainingFacts`]: which facts entity vectors are trained on.

use rana_embed::EmbeddingMetadata;
use rana_graph::{Fact, Pair, Split, Task, TaskSet};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

/// Which facts of a benchmark the pre-training of entity vectors may see.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PretrainingFacts {
    /// The background alone: tasks stay unseen.
    #[default]
    Background,
    /// Also all facts of the train tasks.
    TrainTasks,
    /// Also the supports of the dev and test tasks. This makes link-prediction models comparable with few-shot
    /// models.
    Supports,
}

rana_graph::named!(PretrainingFacts, "choice of pre-training facts", {
    Background => "background",
    TrainTasks => "train-tasks",
    Supports => "supports",
});

impl PretrainingFacts {
    /// The facts to add to the background: support being the first `shots` facts of a task.
    #[must_use]
    pub fn of(self, tasks: &TaskSet, shots: usize) -> Vec<Fact> {
        let facts = |task: Task<'_>, count: usize| {
            let fact = |pair: &Pair| Fact { head: pair.head, relation: task.relation, tail: pair.tail };
            task.facts.iter().take(count).map(fact).collect::<Vec<_>>()
        };
        tasks
            .iter()
            .flat_map(|task| match (self, task.split) {
                (Self::TrainTasks | Self::Supports, Split::Train) => facts(task, usize::MAX),
                (Self::Supports, _) => facts(task, shots),
                _ => Vec::new(),
            })
            .collect()
    }

    /// What vectors have to say of the facts they were trained on; the rest is left to the training.
    #[must_use]
    pub fn metadata(self, tasks: &TaskSet, shots: usize) -> EmbeddingMetadata {
        let facts = self.of(tasks, shots);
        EmbeddingMetadata {
            origin: self.to_string(),
            support_shots: (self == Self::Supports).then_some(shots),
            task_facts: (!facts.is_empty())
                .then(|| format!("{:016x}", xxh3_64(bytemuck::cast_slice(&facts)))),
            ..EmbeddingMetadata::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rana_graph::{EntityId, RelationId, TaskSetBuilder};

    #[test]
    fn tasks_are_seen_as_far_as_told() {
        let mut builder = TaskSetBuilder::default();
        for (relation, split) in [(0, Split::Train), (1, Split::Dev), (2, Split::Test)] {
            let pair = |at| Pair { head: EntityId(at), tail: EntityId(at + 1) };
            builder.add_task(split, RelationId::forward(relation), (0..4).map(pair).collect());
        }
        let tasks = builder.finish();
        let seen = |facts: PretrainingFacts| {
            let facts = facts.of(&tasks, 3);
            [0, 1, 2].map(|number| facts.iter().filter(|fact| fact.relation.number() == number).count())
        };
        assert_eq!(seen(PretrainingFacts::Background), [0, 0, 0]);
        assert_eq!(seen(PretrainingFacts::TrainTasks), [4, 0, 0]);
        assert_eq!(seen(PretrainingFacts::Supports), [4, 3, 3]);
        let metadata = PretrainingFacts::ALL.iter().map(|facts| facts.metadata(&tasks, 3));
        let seen: Vec<_> = metadata.map(|of| (of.origin, of.support_shots, of.task_facts)).collect();
        let [background, train_tasks, supports] = &seen[..] else { panic!("three choices") };
        assert_eq!(*background, ("background".to_owned(), None, None));
        assert_eq!((train_tasks.1, supports.1), (None, Some(3)));
        let other = PretrainingFacts::Supports.metadata(&tasks, 2).task_facts;
        assert!(supports.2.is_some() && supports.2 != other && supports.2 != train_tasks.2);
    }
}
