//! [`Split`]: the part of a benchmark that a task belongs to.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Which part of a benchmark a task belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Split {
    /// Meta-training.
    Train,
    /// Selection of models and settings.
    Dev,
    /// The final report.
    Test,
}

impl Split {
    /// All splits in their usual order.
    pub const ALL: [Self; 3] = [Self::Train, Self::Dev, Self::Test];

    /// `train`, `dev` or `test`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Train => "train",
            Self::Dev => "dev",
            Self::Test => "test",
        }
    }

    pub(crate) fn from_code(code: u32) -> Option<Self> {
        Self::ALL.get(code as usize).copied()
    }
}

impl fmt::Display for Split {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Split {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|split| split.name() == text)
            .ok_or_else(|| format!("`{text}` is no split; say train, dev or test"))
    }
}
