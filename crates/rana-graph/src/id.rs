//! [`EntityId`], [`RelationId`] and [`TypeId`]: `u32` newtypes, so that an entity cannot be used as a relation by mistake.

use bytemuck::{Pod, Zeroable};
use serde::{Deserialize, Serialize};

/// An entity: its position among the graph's entity names, and its row in every entity table.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Pod, Zeroable, Serialize, Deserialize,
)]
#[serde(transparent)]
#[repr(transparent)]
pub struct EntityId(pub u32);

/// A relation *in one direction*.
///
/// Relation number `n` of the vocabulary owns two ids, `2n` read forwards and `2n + 1` read
/// backwards, so the inverse is one bit away and relation tables with inverses are plain arrays.
///
/// ```
/// use rana_graph::RelationId;
/// let directs = RelationId::forward(3);
/// assert_eq!(directs.inverse().inverse(), directs);
/// assert!(directs.inverse().is_inverse());
/// assert_eq!(directs.inverse().number(), 3);
/// ```
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Pod, Zeroable, Serialize, Deserialize,
)]
#[serde(transparent)]
#[repr(transparent)]
pub struct RelationId(pub u32);

/// A type (class) of entities, such as `concept:city` or the target of `rdf:type`.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Pod, Zeroable, Serialize, Deserialize,
)]
#[serde(transparent)]
#[repr(transparent)]
pub struct TypeId(pub u32);

impl EntityId {
    /// The id as an array index.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl TypeId {
    /// The id as an array index.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl RelationId {
    /// How many relations (counted without inverses) a vocabulary can hold.
    pub const MAX_RELATIONS: usize = (u32::MAX / 2) as usize;

    /// The forward direction of relation number `n`.
    #[must_use]
    pub const fn forward(n: u32) -> Self {
        Self(n << 1)
    }

    /// The same relation read in the other direction.
    #[must_use]
    pub const fn inverse(self) -> Self {
        Self(self.0 ^ 1)
    }

    /// Whether this is the backward reading of a relation.
    #[must_use]
    pub const fn is_inverse(self) -> bool {
        self.0 & 1 == 1
    }

    /// The number of the relation in the vocabulary, for either direction.
    #[must_use]
    pub const fn number(self) -> usize {
        (self.0 >> 1) as usize
    }

    /// The directed id as an array index (a row of a relation table with inverses).
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}
