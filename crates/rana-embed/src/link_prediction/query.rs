//! [`LinkQuery`]: a fact with one end missing.

use rana_graph::{EntityId, Fact, RelationId};

use crate::side::Side;

/// A fact with one end missing. The order is by side, then relation, then anchor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkQuery {
    /// The end that is asked for: `(anchor, relation, ?)` is a query for the tail.
    pub side: Side,
    /// The relation, read forwards.
    pub relation: RelationId,
    /// The end that is given.
    pub anchor: EntityId,
}

impl LinkQuery {
    /// The query that asks for one end of a fact, and the entity that answers it.
    #[must_use]
    pub const fn of(fact: Fact, side: Side) -> (Self, EntityId) {
        let (anchor, answer) = match side {
            Side::Head => (fact.tail, fact.head),
            Side::Tail => (fact.head, fact.tail),
        };
        (Self { side, relation: fact.relation, anchor }, answer)
    }
}
