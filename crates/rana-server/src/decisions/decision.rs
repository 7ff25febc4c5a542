//! [`Decision`]: a user's verdict on a fact.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A user's verdict on a fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Verdict {
    /// The fact is right.
    Accepted,
    /// The fact is wrong.
    Rejected,
    /// The earlier verdict is withdrawn.
    Withdrawn,
}

/// A decision that is not saved yet.
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

/// A decision as a line of the journal. It has names, because ids change with the graph.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Decision {
    /// The number of the decision, from 1.
    pub(crate) number: u64,
    pub(crate) relation: String,
    pub(crate) head: String,
    pub(crate) tail: String,
    pub(crate) verdict: Verdict,
    pub(crate) score: Option<f64>,
    pub(crate) confidence: Option<f64>,
    /// The time of the decision, in UTC.
    pub(crate) time: String,
}

impl Decision {
    pub(crate) fn new(number: u64, draft: Draft, time: String) -> Self {
        let Draft { relation, head, tail, verdict, score, confidence } = draft;
        Self { number, relation, head, tail, verdict, score, confidence, time }
    }

    /// Whether a line is a decision as the journal writes it.
    pub(crate) fn is_line(line: &[u8]) -> bool {
        // Serde would also accept an array of the same values.
        line.trim_ascii_start().starts_with(b"{") && serde_json::from_slice::<Self>(line).is_ok()
    }
}
