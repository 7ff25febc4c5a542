//! Evaluation of few-shot models: ranks, evaluation cards, training-free baselines.
//!
//! This is the stretch `run → evaluation` of the way data flows. It knows nothing of how a model
//! is trained: a model is whatever turns a support set into scores.

mod averages;
mod baseline;
mod candidate_policy;
mod card;
mod card_settings;
pub mod confidence;
mod contest;
mod few_shot;
mod html;
mod kge_model;
mod mean_translation;
mod peak_memory;
pub mod plot;
mod report;
mod results_table;
#[cfg(test)]
mod testing;

pub use averages::{Averages, Spread};
pub use baseline::{Baseline, BaselineKind};
pub use candidate_policy::CandidatePolicy;
pub use card::{
    BaselineRow, CardResult, Common, EvaluationCard, HitsAt, Official, Protocol, Provenance, RelationCard,
    RelationMrr, RelationResampled, Resampled, Ties,
};
pub use card_settings::{CardSettings, NamedModel};
pub use few_shot::{FewShotError, FewShotEvaluation};
pub use html::html_page;
pub use kge_model::{KgeError, KgeModel};
pub use mean_translation::MeanTranslation;
pub use peak_memory::peak_memory;
pub use report::{FewShotReport, MacroMetrics, TaskReport};
pub use results_table::ResultsTable;
