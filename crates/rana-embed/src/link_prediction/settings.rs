//! [`LinkPredictionSettings`]: the settings of an evaluation.

use serde::{Deserialize, Serialize};

use super::rank::TieRule;

/// The settings of an evaluation; [`LinkPrediction`](super::LinkPrediction) is the checked form.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LinkPredictionSettings {
    /// The tie rule.
    pub tie_rule: TieRule,
    /// Whether the report also has results per relation.
    pub per_relation: bool,
    /// How many queries a thread scores at once.
    pub queries_per_block: usize,
    /// How many candidates a thread scores at once. The product of both is the number of scores in memory per thread.
    pub candidates_per_block: usize,
}

impl Default for LinkPredictionSettings {
    /// Half a mebibyte of scores per thread, which fits the cache.
    fn default() -> Self {
        Self {
            tie_rule: TieRule::default(),
            per_relation: false,
            queries_per_block: 32,
            candidates_per_block: 4096,
        }
    }
}
