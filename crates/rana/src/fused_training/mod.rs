//! The training of `rana-fused`: the trainings that it needs, and the trust in evidence.

mod error;
#[allow(clippy::module_inception)]
mod fused_training;
mod parts;

pub use error::FusedError;
pub use fused_training::FusedTraining;
pub use parts::{Part, Parts};
