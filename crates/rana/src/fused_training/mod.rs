//! The training of `rana-fused`: the trainings that it needs, and the trust in evidence.

mod error;
mod training;

pub use error::FusedError;
pub use training::{FusedTraining, Part, Parts};
