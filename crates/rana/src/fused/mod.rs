//! `rana-fused`, from a graph to a model: the trainings of RANA that it needs, and the trust in evidence.

mod error;
mod run;
mod training;

pub use error::FusedError;
pub use run::{FusedManifest, FusedRun};
pub use training::{FusedScores, FusedTraining, Part, Parts, Places};
