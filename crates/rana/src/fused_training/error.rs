//! [`FusedError`]: why `rana-fused` cannot be trained.

use std::path::PathBuf;

use rana_eval::FewShotError;
use rana_fewshot::SupportError;
use rana_models::fused::{EvidenceRunError, FusedConfigError};
use rana_models::training::RunError;

use crate::trial::TrialError;

/// Why `rana-fused` cannot be trained.
#[derive(Debug, thiserror::Error)]
pub enum FusedError {
    /// A setting cannot be used.
    #[error(transparent)]
    Config(#[from] FusedConfigError),
    /// A training of a part failed.
    #[error(transparent)]
    Trial(#[from] TrialError),
    /// The run of a part cannot be read.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The run cannot be written.
    #[error(transparent)]
    Evidence(#[from] EvidenceRunError),
    /// A source cannot answer.
    #[error(transparent)]
    Support(#[from] SupportError),
    /// The evaluation failed.
    #[error(transparent)]
    Evaluation(#[from] FewShotError),
    /// There is nothing to learn trust from.
    #[error(
        "no train task has enough facts for a support and a query. Lower `shots`, or cut more tasks out of the graph"
    )]
    NoExamples,
    /// There is a model already.
    #[error("{}: there is a run already. Choose another directory", path.display())]
    Exists {
        /// The directory.
        path: PathBuf,
    },
}
