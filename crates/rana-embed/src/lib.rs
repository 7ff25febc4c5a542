//! Embeddings of knowledge graphs: models, their training, tables of vectors, link prediction.
//!
//! This is the stretch `graph → embeddings` of the way data flows. It knows nothing of tasks.
//!
//! Every model is a *query* and a *similarity*: from one end of a fact and its relation the model
//! builds a vector as wide as an entity row, and the score of the fact is the similarity of that
//! vector to the row of the entity at the other end. Higher is better, for every model.

mod config;
mod loss;
mod math;
mod matmul;
mod model;
mod negatives;
mod optimiser;
mod parameters;
mod seed;
mod similarity;
mod train;

pub use config::{ConfigError, EmbedConfig, Updates, Validation};
pub use loss::Loss;
pub use model::{ModelKind, Norm, Side};
pub use negatives::{Negatives, Pool, Sides};
pub use optimiser::{Optimiser, Regulariser};
pub use parameters::Parameters;
pub use similarity::{Blocks, Similarity};
pub use train::{
    Best, Checkpoint, CheckpointError, EpochReport, Hooks, Observer, Outcome, Position, TrainError, Trainer,
    TrainingData,
};
