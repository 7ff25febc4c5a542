//! Evaluation of few-shot models: ranks, evaluation cards, confidence.
//!
//! This crate does the step `run → evaluation` of the data flow. It knows neither which models exist nor how they are
//! trained: a model is anything that turns a support set into scores.
//!
//! | file | concept |
//! | --- | --- |
//! | `task_ranking.rs` | a task prepared for ranking, once for all supports and models |
//! | `candidate_policy.rs` | which entities a true tail competes with |
//! | `few_shot_evaluation.rs`, `few_shot_report.rs` | the ranks on the official support |
//! | `card_evaluation.rs`, `row_ranks.rs`, `evaluation_card.rs`, `averages.rs`, `peak_memory.rs` | the evaluation card |
//! | `comparison.rs` | two models side by side, relation by relation |
//! | `error_analysis.rs` | which queries of a relation a model fails, and what the graph knows of them |
//! | `confidence/` | how scores become confidence, and how reliable that is |

mod averages;
mod candidate_policy;
mod card_evaluation;
mod comparison;
pub mod confidence;
mod error_analysis;
mod evaluation_card;
mod few_shot_evaluation;
mod few_shot_report;
mod peak_memory;
mod row_ranks;
mod task_ranking;
#[cfg(test)]
mod test_models;

pub use averages::{Averages, Spread};
pub use candidate_policy::CandidatePolicy;
pub use card_evaluation::{CardSettings, NamedModel};
pub use comparison::{ComparedKind, ComparedQueries, ComparedRelation, Comparison, QueryChange, QueryKind};
pub use error_analysis::{AnalysedFact, ErrorAnalysis, NeighbourGroup};
pub use evaluation_card::{
    BaselineRow, CardResult, Common, EvaluationCard, HitsAt, Official, Protocol, Provenance, RelationCard,
    RelationMrr, RelationResampled, Resampled, Ties,
};
pub use few_shot_evaluation::{FewShotError, FewShotEvaluation};
pub use few_shot_report::{FewShotReport, MacroMetrics, TaskReport};
pub use peak_memory::peak_memory;
