//! RANA: the relation-aware network with attention-based loss (section 4 of the paper).

mod adam;
mod attend;
mod batch;
mod config;
mod diagnostics;
mod encoder;
#[cfg(test)]
mod gradient_tests;
mod inputs;
mod inspection;
mod kernels;
mod kinds;
mod learned_rows;
mod model;
#[cfg(test)]
mod model_tests;
mod negatives;
mod neighbours;
mod objective;
mod pairs;
mod parameters;
mod preset;
mod real;
#[cfg(test)]
mod reference;
mod row_gradients;
mod run;
mod step;
mod trainer;
mod walk;
mod weights;

pub use batch::{Contrasts, MetaTask};
pub use config::{
    Activation, AdamRows, AggInput, Attn, AttnInput, BetaScale, BetaSpace, Ends, FewSurvivors, Init,
    InnerReduction, MetaOrder, NegWeight, NeighbourChoice, OuterReduction, Padding, Prune, PruneSpace,
    RScope, RanaConfig, RanaConfigError, RelInit, Residual, ScoreSpace, TestNegatives, TrainEntities,
};
pub use diagnostics::Diagnostics;
pub use inspection::{Attention, InspectedNegative, InspectedPair, Inspection, ScoreParts};
pub use learned_rows::LearnedRows;
pub use model::RanaModel;
pub use parameters::{DimensionMismatch, RanaParameters, StartVectors};
pub use preset::{NoRanaPreset, RANA_PRESETS, RanaPreset};
pub use run::{BestRecord, RUN_VERSION, Run, RunError, RunManifest};
pub use trainer::{
    Best, LogEntry, LogLine, MetaError, MetaObserver, MetaOutcome, MetaTrainer, StepReport, TrainingState,
    ValidationReport,
};
pub use weights::{Block, Layout};
