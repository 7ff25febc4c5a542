//! [`EpisodeError`]: why no episode can be drawn.

use rana_graph::RelationId;

use super::episode_sampler::Sampling;

/// Why no episode can be drawn.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EpisodeError {
    /// A support set cannot be empty.
    #[error("shots is 0; an episode needs at least one support pair")]
    NoShots,
    /// A query set cannot be empty.
    #[error("queries is 0; an episode needs at least one query pair")]
    NoQueries,
    /// Every task is too small.
    #[error(
        "none of the {tasks} tasks is large enough: {sampling} sampling needs {requirement}; \
         ask for less or train on more relations"
    )]
    NoTask {
        /// How many tasks were offered.
        tasks: usize,
        /// The sampling asked for.
        sampling: Sampling,
        /// What it asks of a task.
        requirement: String,
    },
    /// A task has no fact left to ask about.
    #[error(
        "relation number {} has {facts} facts, which leaves no queries after {shots} support pairs; \
         lower the shots or leave the relation out",
        relation.number()
    )]
    TooFewFacts {
        /// The relation of the task.
        relation: RelationId,
        /// How many facts it has.
        facts: usize,
        /// How many of them supports would take.
        shots: usize,
    },
}
