//! The few-shot problem: tasks cut out of a graph, what a model trains on, episodes, the supports of an evaluation,
//! and the traits that every few-shot model implements.
//!
//! This crate does the step `graph → tasks → episodes` of the data flow. Tasks as data
//! ([`TaskSet`](rana_graph::TaskSet)) live in `rana-graph`, beside the graph they belong to. No model lives here.
//!
//! | file | concept |
//! | --- | --- |
//! | `split/` | makes a benchmark from a graph |
//! | `candidates.rs`, `candidate_places.rs` | the entities that a task's queries are ranked among |
//! | `data_mode.rs`, `training_tasks.rs` | how the background takes part in training, and the tasks that gives |
//! | `episode.rs`, `episode_sampler.rs`, `episode_error.rs` | episodes, and how they are drawn from tasks |
//! | `task_draw.rs` | how often each task is drawn |
//! | `support.rs` | all that a model is told of a relation |
//! | `direction.rs` | whether tails or heads are asked for |
//! | `support_order.rs`, `left_out.rs` | supports of evaluations, and supports with one pair left out |
//! | `fold.rs` | folds of the train tasks, for cross-validation |
//! | `pretraining_facts.rs` | which facts of tasks vectors may be trained on |
//! | `few_shot_model.rs`, `reasons.rs` | the interface of few-shot models, and the reasons for a score |
//!
//! Everything random here is keyed by a seed and by what the number is for, so the same seed gives
//! the same tasks and episodes on every platform and with any number of threads.

mod candidate_places;
mod candidates;
mod data_mode;
mod direction;
mod episode;
mod episode_error;
mod episode_sampler;
mod few_shot_model;
mod fold;
mod left_out;
mod pretraining_facts;
mod reasons;
mod seed;
mod split;
mod support;
mod support_order;
mod task_draw;
mod training_tasks;

pub use candidate_places::CandidatePlaces;
pub use candidates::{CandidateBuilder, CandidateConfig, CandidateRule};
pub use data_mode::DataMode;
pub use direction::Direction;
pub use episode::Episode;
pub use episode_error::EpisodeError;
pub use episode_sampler::{EpisodeConfig, EpisodeSampler, Sampling};
pub use few_shot_model::{AdaptedRelation, FewShotModel};
pub use fold::{Fold, tasks_without};
pub use left_out::LeftOut;
pub use pretraining_facts::PretrainingFacts;
pub use reasons::{AttentionWeight, Reasons, SourceReason};
pub use split::{
    Assignment, Ratio, RelationNames, RemovedInverse, SplitConfig, SplitCount, SplitError, SplitOutcome,
    SplitReport, SplitSettings, SplitTask, split,
};
pub use support::{Support, SupportError};
pub use support_order::{SupportOrder, first_k, resampled};
pub use task_draw::TaskDraw;
pub use training_tasks::TrainingTasks;

#[cfg(test)]
mod tests {
    use super::*;

    /// Parsing, printing and serde must agree on every name.
    macro_rules! check_names {
        ($($type:ident),+) => {$(
            for &variant in $type::ALL {
                assert_eq!(variant.to_string().parse::<$type>(), Ok(variant));
                let json = serde_json::to_string(&variant).unwrap();
                assert_eq!(json, format!("\"{variant}\""));
                assert_eq!(serde_json::from_str::<$type>(&json).unwrap(), variant);
            }
        )+};
    }

    #[test]
    fn every_name_is_the_same_everywhere() {
        check_names!(CandidateRule, DataMode, Direction, PretrainingFacts, Sampling, TaskDraw);
        let error = "typo".parse::<CandidateRule>().unwrap_err();
        assert_eq!(error, "`typo` is no candidate rule; say one of: auto, types, tails, all");
    }
}
