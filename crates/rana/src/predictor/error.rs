//! [`PredictorError`]: why a relation cannot be completed.

use std::path::PathBuf;

use rana_embed::TableError;
use rana_fewshot::SupportError;
use rana_fewshot::rana::{MetaError, RunError};
use rana_graph::StoreError;

use crate::fused::FusedError;

/// Why a relation cannot be completed.
#[derive(Debug, thiserror::Error)]
pub enum PredictorError {
    /// There is no run.
    #[error(
        "{}: there is no run here. Make one with `rana train KG --out RUN` or `rana fuse KG --out RUN`",
        path.display()
    )]
    NoRun {
        /// Where one was looked for.
        path: PathBuf,
    },
    /// The graph of the run cannot be opened.
    #[error("{}: the graph of the run cannot be opened. Say where it is with --graph", path.display())]
    Graph {
        /// Where it should be.
        path: PathBuf,
        /// Why not.
        source: StoreError,
    },
    /// The vectors of the run cannot be opened.
    #[error("the vectors of the run cannot be opened")]
    Vectors(#[from] TableError),
    /// The run cannot be read.
    #[error(transparent)]
    Run(#[from] RunError),
    /// Vectors and run do not go together.
    #[error(transparent)]
    Meta(#[from] MetaError),
    /// The run of `rana-fused` cannot be read.
    #[error(transparent)]
    Fused(#[from] FusedError),
    /// The model cannot answer.
    #[error(transparent)]
    Support(#[from] SupportError),
    /// There is nothing to learn from.
    #[error("the support is empty. Give at least one pair that the relation holds for; five are better")]
    NoSupport,
    /// A pair is said to be right and wrong.
    #[error("`{head}` → `{tail}` is in the support and among the rejected pairs. Take it out of one of them")]
    Contradiction {
        /// The head.
        head: String,
        /// The tail.
        tail: String,
    },
    /// Nothing is left to answer with.
    #[error("no candidate is left. Ask for other types, list other candidates, or restrict them less")]
    NoCandidates,
}
