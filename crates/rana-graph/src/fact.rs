//! [`Fact`]: a head, a relation and a tail; and its parts: [`Pair`] without the relation, [`Edge`] as one end sees it.

use bytemuck::{Pod, Zeroable};
use serde::{Deserialize, Serialize};

use crate::id::{EntityId, RelationId};

/// One fact `(head, relation, tail)`; the relation is always stored forwards.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Pod, Zeroable, Serialize, Deserialize,
)]
#[repr(C)]
pub struct Fact {
    /// The head.
    pub head: EntityId,
    /// The relation.
    pub relation: RelationId,
    /// The tail.
    pub tail: EntityId,
}

/// A head and a tail; the relation is given by the context, such as a task.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Pod, Zeroable, Serialize, Deserialize,
)]
#[repr(C)]
pub struct Pair {
    /// The head.
    pub head: EntityId,
    /// The tail.
    pub tail: EntityId,
}

impl Pair {
    /// The tails of a head among some pairs, in their order.
    pub fn tails_of(pairs: &[Self], head: EntityId) -> impl Iterator<Item = EntityId> {
        pairs.iter().filter(move |pair| pair.head == head).map(|pair| pair.tail)
    }
}

/// One entry of an entity's neighbourhood: a directed relation and the entity at its other end.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Pod, Zeroable, Serialize, Deserialize,
)]
#[repr(C)]
pub struct Edge {
    /// The relation, inverse if the fact ends at the entity whose neighbourhood this is.
    pub relation: RelationId,
    /// The neighbour.
    pub entity: EntityId,
}
