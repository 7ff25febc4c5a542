//! [`Side`]: the two ends of a fact.

use std::fmt;

use rana_graph::{EntityId, Fact};
use serde::{Deserialize, Serialize};

/// An end of a fact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// The head, where the fact starts.
    Head,
    /// The tail, where the fact ends; the default.
    #[default]
    Tail,
}

impl Side {
    /// Both sides.
    pub const ALL: [Self; 2] = [Self::Head, Self::Tail];

    /// `head` or `tail`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Head => "head",
            Self::Tail => "tail",
        }
    }

    /// The end of a fact that a query for this side asks for.
    pub(crate) const fn answer(self, fact: Fact) -> EntityId {
        match self {
            Self::Head => fact.head,
            Self::Tail => fact.tail,
        }
    }

    /// The end of a fact that a query for this side gives.
    pub(crate) const fn anchor(self, fact: Fact) -> EntityId {
        match self {
            Self::Head => fact.tail,
            Self::Tail => fact.head,
        }
    }

    /// The relation itself for a tail, its inverse for a head.
    #[inline(always)]
    pub(crate) const fn sign(self) -> f32 {
        match self {
            Self::Head => -1.0,
            Self::Tail => 1.0,
        }
    }
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
