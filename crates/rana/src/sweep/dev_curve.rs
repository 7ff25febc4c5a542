//! The learning curve of a run, read from its log.

use std::path::Path;

use serde::Deserialize;

/// A dev evaluation during training.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
pub struct CurvePoint {
    /// How many steps were done.
    pub step: u64,
    /// The MRR the best model is chosen by.
    #[serde(rename = "dev_mrr")]
    pub mrr: f64,
}

/// The learning curve of a run; empty if its log is not there.
#[must_use]
pub fn dev_curve(run: &Path) -> Vec<CurvePoint> {
    let text = std::fs::read_to_string(run.join("metrics.jsonl")).unwrap_or_default();
    // Lines about steps have no dev MRR.
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}
