//! Evaluation of few-shot models: ranks, reports, training-free baselines.
//!
//! This is the stretch `run → evaluation` of the way data flows. It knows nothing of how a model
//! is trained: a model is whatever turns a support set into scores.

mod baseline;
mod few_shot;
mod mean_translation;
mod report;

pub use baseline::{Baseline, BaselineKind};
pub use few_shot::{FewShotError, FewShotEvaluation, NotANumber, QueryRank};
pub use mean_translation::MeanTranslation;
pub use report::{FewShotReport, MacroMetrics, TaskReport};
