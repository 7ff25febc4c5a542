//! [`PredictorError`]: why a relation cannot be completed.

use rana_fewshot::SupportError;
use rana_models::OpenError;

use super::name_lookup::UnknownRelation;
use crate::search::Unresolved;

/// Why a relation cannot be completed.
#[derive(Debug, thiserror::Error)]
pub enum PredictorError {
    /// The run cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The model cannot answer.
    #[error(transparent)]
    Support(#[from] SupportError),
    /// A text names no entity.
    #[error(transparent)]
    Unresolved(#[from] Unresolved),
    /// A text names no relation.
    #[error(transparent)]
    UnknownRelation(#[from] UnknownRelation),
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

/// Why a precision cannot be promised.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PrecisionError {
    /// It is not known how sure answers are.
    #[error("no precision can be promised: {note}")]
    Unknown {
        /// Why.
        note: String,
    },
    /// No confidence had so high a precision.
    #[error(
        "no confidence promises a precision of {wanted} by what was measured on relations left out; the best is {best:.3}"
    )]
    TooHigh {
        /// What was asked for.
        wanted: f64,
        /// The best there is.
        best: f64,
    },
}
