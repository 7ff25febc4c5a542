//! [`Decision`]: a verdict about a fact.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A verdict about a fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Verdict {
    /// It is right.
    Accepted,
    /// It is wrong.
    Rejected,
    /// An earlier verdict no longer counts.
    Withdrawn,
}

/// A verdict that is not kept yet.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Draft {
    /// The name of the relation.
    pub(crate) relation: String,
    /// The name of the head.
    pub(crate) head: String,
    /// The name of the tail.
    pub(crate) tail: String,
    pub(crate) verdict: Verdict,
    pub(crate) score: Option<f64>,
    pub(crate) confidence: Option<f64>,
}

/// A verdict as a line of the journal keeps it: by names, which outlive the ids of a graph.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Decision {
    /// Counts up from 1.
    pub(crate) number: u64,
    pub(crate) relation: String,
    pub(crate) head: String,
    pub(crate) tail: String,
    pub(crate) verdict: Verdict,
    pub(crate) score: Option<f64>,
    pub(crate) confidence: Option<f64>,
    /// When it was made, in UTC.
    pub(crate) time: String,
}

impl Decision {
    pub(crate) fn new(number: u64, draft: Draft, time: String) -> Self {
        let Draft { relation, head, tail, verdict, score, confidence } = draft;
        Self { number, relation, head, tail, verdict, score, confidence, time }
    }

    /// Whether a line holds a decision as the journal writes it.
    pub(crate) fn is_line(line: &[u8]) -> bool {
        // An array of the same values would be read as well.
        line.trim_ascii_start().starts_with(b"{") && serde_json::from_slice::<Self>(line).is_ok()
    }
}
