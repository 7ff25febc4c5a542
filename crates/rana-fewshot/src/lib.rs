//! What is done with few-shot tasks: cutting them out of a graph, choosing what a model trains
//! on, drawing episodes, and fixing the supports of an evaluation.
//!
//! This is the stretch `graph → tasks → episodes` of the way data flows. Tasks as data
//! ([`TaskSet`](rana_graph::TaskSet)) live in `rana-graph`, beside the graph they belong to.
//!
//! Everything random here is keyed by a seed and by what the number is for, so the same seed gives
//! the same tasks and episodes on every platform and with any number of threads.

mod candidates;
mod episode;
mod mode;
mod named;
mod seed;
mod split;
mod support;

pub use candidates::{CandidateBuilder, CandidateConfig, CandidateRule};
pub use episode::{Episode, EpisodeConfig, EpisodeError, EpisodeSampler, Sampling};
pub use mode::{DataMode, TrainingTasks};
pub use split::{
    Assignment, Ratio, RelationNames, RemovedInverse, SplitConfig, SplitCount, SplitError, SplitOutcome,
    SplitReport, SplitSettings, TaskReport, split,
};
pub use support::{SupportOrder, first_k, resampled};
