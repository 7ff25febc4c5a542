//! [`FewShotRule`]: which relations count as few-shot.

use serde::{Deserialize, Serialize};

/// Which relations count as few-shot: those with `more_than < facts < less_than`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FewShotRule {
    /// A few-shot relation has more facts than this.
    pub more_than: u64,
    /// A few-shot relation has fewer facts than this.
    pub less_than: u64,
}

impl Default for FewShotRule {
    /// The rule by which NELL-One and Wiki-One were made: 50 < n < 500.
    fn default() -> Self {
        Self { more_than: 50, less_than: 500 }
    }
}

impl FewShotRule {
    /// Whether a relation with this many facts is few-shot.
    #[must_use]
    pub fn holds(self, facts: u64) -> bool {
        self.more_than < facts && facts < self.less_than
    }
}
