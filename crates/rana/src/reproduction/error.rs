//! [`ReproductionError`]: why a table cannot be made.

use rana_embed::PresetError;
use rana_fewshot::SplitError;
use rana_graph::StoreError;
use rana_graph::format::FormatError;
use rana_models::registry::RegistryError;
use rana_models::vectors::KgeError;

use crate::fused_training::FusedError;
use crate::trial::TrialError;

/// Why a table or figure cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum ReproductionError {
    /// The raw files are nowhere.
    #[error("the raw files of {name} were not found; looked for: {looked}. {advice}")]
    NoFiles {
        /// The benchmark.
        name: String,
        /// Where they were looked for.
        looked: String,
        /// What to do.
        advice: &'static str,
    },
    /// A row needs a preset that is not there.
    #[error("the row `{row}`: {source}. Choose other presets")]
    Preset {
        /// The row.
        row: String,
        /// Which one.
        source: RegistryError,
    },
    /// Vectors need a preset that is not there.
    #[error("the vectors of `{row}`: {source}")]
    Vectors {
        /// The row.
        row: String,
        /// Which one.
        source: PresetError,
    },
    /// The settings of a row contradict each other.
    #[error("the row `{row}`: {message}")]
    Row {
        /// The row.
        row: String,
        /// What is wrong.
        message: String,
    },
    /// Vectors cannot be ranked by their own score.
    #[error(transparent)]
    Kge(#[from] KgeError),
    /// The raw files cannot be read.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// The graph cannot be cut into tasks.
    #[error(transparent)]
    Split(#[from] SplitError),
    /// The graph cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A row with evidence cannot be measured.
    #[error(transparent)]
    Fused(#[from] FusedError),
    /// A trial cannot be done, or somebody asks to stop.
    #[error(transparent)]
    Trial(#[from] TrialError),
}
