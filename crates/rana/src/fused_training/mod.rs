//! The training of `rana-fused`: the trainings that it needs, and the trust in evidence.
//!
//! | file | concept |
//! | --- | --- |
//! | `fused_training.rs` | the training, step by step |
//! | `parts.rs` | the sources of evidence for each fold, from which trust is learned |
//! | `stages.rs` | how long each part of it is expected to take |
//! | `error.rs` | why it fails |

mod error;
#[allow(clippy::module_inception)]
mod fused_training;
mod parts;
mod stages;

pub use error::FusedError;
pub use fused_training::FusedTraining;
pub use parts::{Part, Parts};
