//! Training by steps: what every model shares.
//!
//! | file | concept |
//! | --- | --- |
//! | `stepped_model.rs` | what a model must do to be trained |
//! | `trainer_config.rs`, `model_config.rs`, `run_config.rs` | the trainer's settings, the model's, and both together |
//! | `field_checks.rs` | the checks of settings, and their error |
//! | `meta_task.rs` | an episode with its negatives |
//! | `trainer.rs`, `training_state.rs` | the loop: batches, steps, dev evaluation, patience; and what it changes |
//! | `training_log.rs`, `error.rs` | what a training writes down, and why it fails |
//! | `start_vectors.rs` | the vectors that a training starts from |
//! | `weight_blocks.rs`, `learned_rows.rs`, `parameters.rs` | what learns |
//! | `uniform_negatives.rs` | negatives drawn uniformly from the candidates |
//! | `row_gradients.rs`, `adam.rs`, `learning_rate.rs` | from gradients to updates |
//! | `running_mean.rs` | the mean of the parameters over the last steps |
//! | `run.rs`, `run_manifest.rs`, `run_error.rs`, `manifest_error.rs` | the run directory: manifest, log, models; and why it cannot be read or written |
//! | `checkpoint.rs`, `parameter_tensors.rs` | the state that a training resumes from, and parameters as tensors |
//! | `meta_training.rs` | a training on disk: from a graph and vectors to a run |
//! | `calibration.rs` | how the scores of a trained model become confidence |

mod adam;
mod calibration;
mod checkpoint;
mod error;
mod field_checks;
mod learned_rows;
mod learning_rate;
mod manifest_error;
mod meta_task;
mod meta_training;
mod model_config;
mod parameter_tensors;
mod parameters;
pub(crate) mod row_gradients;
mod run;
mod run_config;
mod run_error;
mod run_manifest;
mod running_mean;
mod start_vectors;
mod stepped_model;
mod trainer;
mod trainer_config;
mod training_log;
mod training_state;
mod uniform_negatives;
mod weight_blocks;

pub use calibration::calibrate;
pub use error::TrainingError;
pub(crate) use field_checks::FieldChecks;
pub use field_checks::{ConfigError, require};
pub use learned_rows::LearnedRows;
pub(crate) use learned_rows::Rows;
pub use manifest_error::ManifestError;
pub use meta_task::{Contrasts, MetaTask};
pub use meta_training::MetaTraining;
pub use model_config::ModelConfig;
pub use parameters::{ParameterLayout, Parameters};
pub use row_gradients::SummedRows;
pub use run::Run;
pub use run_config::{Misfit, RunConfig};
pub use run_error::RunError;
pub use run_manifest::{BestRecord, RunManifest};
pub use start_vectors::{DimensionMismatch, StartVectors};
pub use stepped_model::{
    Diagnostics, NegativeChoice, NegativeCounts, NegativeRule, StepResult, SteppedConfig, SteppedModel,
};
pub use trainer::{DEV_MRR, Trainer};
pub use trainer_config::{Lengths, RowUpdates, TrainerConfig};
pub use training_log::{LogEntry, LogLine, StepReport, TrainingLog, ValidationReport};
pub use training_state::{Best, TrainingOutcome, TrainingState};
pub(crate) use uniform_negatives::UniformNegatives;
pub use weight_blocks::{Block, Init, WeightBlocks};
