//! [`Negatives`]: the negatives of true facts, and how they are drawn.

use serde::{Deserialize, Serialize};

use crate::config_error::{ConfigError, at_least_one};

/// The entities that negatives are drawn from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pool {
    /// All entities.
    #[default]
    All,
    /// Entities that share a type with the true one; all entities if it has no type.
    Types,
    /// Entities that some fact of the relation has at this end.
    Range,
}

rana_graph::named!(Pool, "pool of negatives", { All => "all", Types => "types", Range => "range" });

/// For which ends of a fact negatives are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sides {
    /// Head and tail of every fact in every epoch.
    #[default]
    Both,
    /// One end per fact and epoch. The facts of a chunk have the same end, and consecutive chunks alternate.
    Alternating,
    /// The tail only.
    Tail,
}

rana_graph::named!(Sides, "sides", { Both => "both", Alternating => "alternating", Tail => "tail" });

/// How negatives are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Negatives {
    /// Negatives per fact and side.
    pub count: usize,
    /// How many facts share the same negatives; 1 draws new ones for every fact.
    ///
    /// With sharing the scores are a matrix product, which is several times faster.
    pub shared_by: usize,
    /// What they are drawn from. If the pool depends on the fact, the facts of a chunk take turns.
    pub pool: Pool,
    /// Whether negatives that are known facts are left out.
    pub filtered: bool,
    /// For which ends of a fact negatives are drawn.
    pub sides: Sides,
}

impl Default for Negatives {
    /// 256 negatives, shared by 256 facts, filtered, on both sides.
    fn default() -> Self {
        Self { count: 256, shared_by: 256, pool: Pool::All, filtered: true, sides: Sides::Both }
    }
}

impl Negatives {
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        at_least_one("negatives.count", self.count)?;
        at_least_one("negatives.shared_by", self.shared_by)
    }
}
