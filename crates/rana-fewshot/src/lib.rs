//! What is done with few-shot tasks: cutting them out of a graph, choosing what a model trains
//! on, drawing episodes, and fixing the supports of an evaluation.
//!
//! This is the stretch `graph → tasks → episodes` of the way data flows. Tasks as data
//! ([`TaskSet`](rana_graph::TaskSet)) live in `rana-graph`, beside the graph they belong to.
//!
//! Everything random here is keyed by a seed and by what the number is for, so the same seed gives
//! the same tasks and episodes on every platform and with any number of threads.

mod candidate_places;
mod candidates;
mod episode;
mod fold;
pub mod fused;
mod gathered;
mod left_out;
mod mode;
mod model;
mod pretraining_facts;
pub mod rana;
mod seed;
mod split;
mod support;
mod translation;

pub use candidate_places::CandidatePlaces;
pub use candidates::{CandidateBuilder, CandidateConfig, CandidateRule};
pub use episode::{Episode, EpisodeConfig, EpisodeError, EpisodeSampler, Sampling};
pub use fold::{Fold, tasks_without};
pub use gathered::Gathered;
pub use left_out::LeftOut;
pub use mode::{DataMode, TrainingTasks};
pub use model::{AdaptedRelation, FewShotModel, Support, SupportError};
pub use pretraining_facts::PretrainingFacts;
pub use split::{
    Assignment, Ratio, RelationNames, RemovedInverse, SplitConfig, SplitCount, SplitError, SplitOutcome,
    SplitReport, SplitSettings, TaskReport, split,
};
pub use support::{SupportOrder, first_k, resampled};
pub use translation::Translation;

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
        check_names!(CandidateRule, DataMode, PretrainingFacts, Sampling);
        use fused::EvidenceKind;
        check_names!(EvidenceKind);
        let error = "typo".parse::<CandidateRule>().unwrap_err();
        assert_eq!(error, "`typo` is no candidate rule; say one of: auto, types, tails, all");
    }
}
