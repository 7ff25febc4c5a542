//! The settings of a split, and what can be wrong with them.

use serde::{Deserialize, Serialize};

use super::assignment_rule::Assignment;
use super::error::SplitError;
use crate::candidates::CandidateRule;

/// The settings of a split as they are written down; [`SplitConfig`] is the checked form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SplitSettings {
    /// A few-shot relation has more facts than this.
    pub more_than: usize,
    /// A few-shot relation has fewer facts than this.
    pub less_than: usize,
    /// How relations are assigned to train, dev and test.
    pub assignment: Assignment,
    /// How the candidate tails of a task are found.
    pub candidates: CandidateRule,
    /// At most this many candidates per task, if given; a task's own tails are always kept.
    pub cap: Option<usize>,
    /// Whether relations that are the inverse of a task relation stay where they are.
    pub keep_inverses: bool,
    /// Another relation is the inverse of a task relation if at least this share of the facts of
    /// each stands reversed under the other.
    pub inverse_share: f64,
    /// The same seed gives the same split.
    pub seed: u64,
}

impl Default for SplitSettings {
    /// The published rule, 50 < facts < 500, and the published proportions of NELL-One.
    fn default() -> Self {
        Self {
            more_than: 50,
            less_than: 500,
            assignment: Assignment::default(),
            candidates: CandidateRule::default(),
            cap: None,
            keep_inverses: false,
            inverse_share: 0.8,
            seed: 0,
        }
    }
}

/// Checked settings of a split.
///
/// ```
/// use rana_fewshot::{SplitConfig, SplitSettings};
/// let settings = SplitSettings { more_than: 500, ..SplitSettings::default() };
/// let error = SplitConfig::try_from(settings).unwrap_err();
/// assert!(error.to_string().starts_with("more_than is 500"));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "SplitSettings", into = "SplitSettings")]
pub struct SplitConfig(SplitSettings);

impl SplitConfig {
    /// The settings, all in range.
    #[must_use]
    pub const fn settings(&self) -> &SplitSettings {
        &self.0
    }
}

impl From<SplitConfig> for SplitSettings {
    fn from(config: SplitConfig) -> Self {
        config.0
    }
}

impl TryFrom<SplitSettings> for SplitConfig {
    type Error = SplitError;

    fn try_from(settings: SplitSettings) -> Result<Self, SplitError> {
        let SplitSettings { more_than, less_than, inverse_share, .. } = settings;
        if more_than >= less_than {
            return Err(SplitError::EmptyRange { more_than, less_than });
        }
        if !(inverse_share > 0.0 && inverse_share <= 1.0) {
            return Err(SplitError::BadInverseShare { value: inverse_share });
        }
        match &settings.assignment {
            Assignment::Ratio(ratio) => ratio.check()?,
            Assignment::Names(names) => names.check()?,
        }
        Ok(Self(settings))
    }
}
