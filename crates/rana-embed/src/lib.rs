//! Embeddings of knowledge graphs: models, their training, tables of vectors, link prediction.
//!
//! This crate does the step `graph → embeddings` of the data flow. It does not know tasks.
//!
//! Every model is a *query* and a *similarity*. The query is a vector that the model builds from one end of a fact
//! and its relation. The score of the fact is the similarity of the query and the row of the entity at the other end.
//! A higher score is better, for every model.
//!
//! | file | concept |
//! | --- | --- |
//! | `embed_config.rs`, `config_error.rs`, `preset.rs`, `recommended_config.rs` | the settings of a training |
//! | `model/`, `similarity/` | the queries of each model, and how they are compared with entity rows |
//! | `loss.rs`, `regulariser.rs`, `optimiser.rs` | what is minimised, and how |
//! | `negatives.rs`, `negative_sampler.rs` | which negatives facts get, and how they are drawn |
//! | `fixed_rows.rs` | rows that are known already and do not learn |
//! | `training/` | the training |
//! | `parameters.rs`, `table.rs`, `vectors.rs`, `relation_rows.rs`, `side.rs` | vectors in memory |
//! | `embedding_set.rs`, `embedding_manifest.rs`, `vector_error.rs` | vectors as a directory, and why they cannot be used |
//! | `format/` | vectors as files of other programs |
//! | `link_prediction/` | ranks of the ends of facts |
//! | `matmul.rs`, `elementary_functions.rs`, `prefetch.rs`, `huge_pages.rs` | fast arithmetic and memory |

mod config_error;
pub mod elementary_functions;
mod embed_config;
mod embedding_manifest;
mod embedding_set;
mod fixed_rows;
pub mod format;
mod huge_pages;
pub mod link_prediction;
mod loss;
pub mod matmul;
mod model;
mod negative_sampler;
mod negatives;
mod optimiser;
mod parameters;
pub mod prefetch;
mod preset;
mod recommended_config;
mod regulariser;
mod relation_rows;
mod seed;
mod side;
mod similarity;
mod table;
mod training;
mod vector_error;
mod vectors;

pub use config_error::ConfigError;
pub use embed_config::{EmbedConfig, Updates, Validation};
pub use embedding_manifest::EMBEDDING_VERSION;
pub use embedding_set::{EmbeddingMetadata, EmbeddingSet, VectorsTarget};
pub use fixed_rows::FixedRows;
pub use loss::Loss;
pub use model::{ModelKind, Norm};
pub use negatives::{Negatives, Pool, Sides};
pub use optimiser::Optimiser;
pub use parameters::Parameters;
pub use preset::{PRESETS, Preset, PresetError, preset_names};
pub use regulariser::Regulariser;
pub use relation_rows::RelationRows;
pub use side::Side;
pub use similarity::{Blocks, Similarity};
pub use table::{Norms, Table};
pub use training::{
    Best, Checkpoint, CheckpointError, Checkpoints, EpochReport, Hooks, Position, Pretraining,
    PretrainingOutcome, PretrainingReport, TrainError, Trainer, TrainingData, Validate, training_metrics,
};
pub use vector_error::VectorError;
pub use vectors::Vectors;
