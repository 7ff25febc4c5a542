//! Training of embeddings.
//!
//! | file | content |
//! | --- | --- |
//! | `pretraining.rs` | from a graph and settings to trained parameters |
//! | `training_data.rs` | the facts to train on, and held-out ones |
//! | `trainer.rs` | epochs, validation, early stopping, resuming |
//! | `checkpoint.rs`, `checkpoint_error.rs`, `error.rs` | the state of a training, and why trainings fail |
//! | `epoch.rs` | the batches of one epoch |
//! | `deterministic_update.rs` | updates batch by batch |
//! | `lock_free_update.rs` | updates in place; uses `entity_buckets.rs`, `row_lease.rs`, `relation_copies.rs` |
//! | `slice.rs`, `row_listing.rs` | the facts that one thread works on, and their rows |
//! | `gradient_shard.rs`, `row_gradients.rs` | the gradients of a slice, row by row; `unshared_negatives.rs` if facts do not share negatives |
//! | `one_negative.rs` | a fast path for TransE with one negative per fact |
//! | `table_in_training.rs`, `row_access.rs`, `buffer_pool.rs` | tables, access to their rows, reused buffers |

mod buffer_pool;
mod checkpoint;
mod checkpoint_error;
mod deterministic_update;
mod entity_buckets;
mod epoch;
mod error;
mod gradient_shard;
#[cfg(test)]
mod gradient_tests;
mod lock_free_update;
mod one_negative;
mod pretraining;
mod relation_copies;
mod row_access;
mod row_gradients;
mod row_lease;
mod row_listing;
mod slice;
mod table_in_training;
mod trainer;
mod training_data;
mod unshared_negatives;

pub use checkpoint::{Best, Checkpoint, Position};
pub use checkpoint_error::CheckpointError;
pub use error::TrainError;
pub use pretraining::{Checkpoints, Pretraining, PretrainingReport, training_metrics};
pub use trainer::{EpochReport, Hooks, PretrainingOutcome, Trainer, Validate};
pub use training_data::TrainingData;

pub(crate) use slice::{Among, Listed};
