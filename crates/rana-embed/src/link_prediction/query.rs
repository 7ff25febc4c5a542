//! [`LinkQuery`] and [`LinkScorer`]: what is asked, and who answers.

use std::ops::Range;

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

/// Scores how plausible answers are. A higher score is more plausible.
pub trait LinkScorer: Sync {
    /// The number of entities: the candidates of every query.
    fn entities(&self) -> usize;

    /// The number of relations, without inverses.
    fn relations(&self) -> usize;

    /// Scores each candidate as the answer of each query, into `out[query * candidates.len() + candidate]`.
    ///
    /// A score must depend only on its query and its candidate, to the last bit, and not on the rest of the block.
    /// The evaluation checks this where it can.
    fn scores(&self, queries: &[LinkQuery], candidates: Range<usize>, out: &mut [f32]);

    /// The same, faster and less exact, for instance with a matrix product. Returns the largest possible difference
    /// from [`scores`](Self::scores).
    ///
    /// Candidates within that difference of the right answer are scored again exactly, so the ranks are always those
    /// of [`scores`](Self::scores).
    fn approximate_scores(&self, queries: &[LinkQuery], candidates: Range<usize>, out: &mut [f32]) -> f32 {
        self.scores(queries, candidates, out);
        0.0
    }
}
