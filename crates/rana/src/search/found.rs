//! [`Found`]: an entity that a search found, and how it matches.

use rana_graph::EntityId;
use serde::Serialize;

/// An entity that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// The entity.
    pub entity: EntityId,
    /// How its name or label matches.
    pub matched: Match,
}

/// How well a name or label fits a query, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Match {
    /// It is the query.
    Exact,
    /// It begins with the query.
    Prefix,
    /// The query begins at one of its later words.
    Word,
    /// Words of it are nearly the query.
    Fuzzy,
}
