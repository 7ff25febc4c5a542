//! [`FusedError`]: why `rana-fused` cannot be trained.

use std::path::PathBuf;

use rana_eval::FewShotError;
use rana_fewshot::SupportError;
use rana_fewshot::fused::FusedConfigError;
use rana_fewshot::rana::RunError;

use crate::trial::TrialError;

/// Why `rana-fused` cannot be trained.
#[derive(Debug, thiserror::Error)]
pub enum FusedError {
    /// A setting cannot be used.
    #[error(transparent)]
    Config(#[from] FusedConfigError),
    /// A training of RANA failed.
    #[error(transparent)]
    Trial(#[from] TrialError),
    /// A run of RANA cannot be read.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A source cannot answer.
    #[error(transparent)]
    Support(#[from] SupportError),
    /// The evaluation failed.
    #[error(transparent)]
    Evaluation(#[from] FewShotError),
    /// There is nothing to learn trust from.
    #[error(
        "no train task has enough facts for a support and a query. Lower `shots`, or cut more tasks out of the graph with \
         `rana split`"
    )]
    NoLessons,
    /// There is a model already.
    #[error("{}: there is a trained model already. Choose another --out", path.display())]
    Exists {
        /// The directory.
        path: PathBuf,
    },
    /// A file makes no sense.
    #[error("{}: {message}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        message: String,
    },
}
