//! [`MetaTask`]: an episode with its negatives drawn, ready to be learned from.

use std::ops::Range;

use rana_graph::{EntityId, Pair, RelationId};

/// Pairs, each with the negatives it is contrasted with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contrasts {
    pairs: Vec<Pair>,
    /// Where the negatives of each pair end.
    ends: Vec<usize>,
    negatives: Vec<EntityId>,
}

impl Contrasts {
    /// Adds a pair with its negatives.
    pub fn push(&mut self, pair: Pair, negatives: impl IntoIterator<Item = EntityId>) {
        self.pairs.push(pair);
        self.negatives.extend(negatives);
        self.ends.push(self.negatives.len());
    }

    /// The pairs.
    #[must_use]
    pub fn pairs(&self) -> &[Pair] {
        &self.pairs
    }

    /// All negatives, those of one pair after those of another.
    #[must_use]
    pub fn negatives(&self) -> &[EntityId] {
        &self.negatives
    }

    /// Where among all negatives those of pair number `at` stand.
    #[must_use]
    pub fn range(&self, at: usize) -> Range<usize> {
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        start..self.ends[at]
    }

    /// Every entity of the pairs, then all negatives.
    pub fn entities(&self) -> impl Iterator<Item = EntityId> + '_ {
        let ends = self.pairs.iter().flat_map(|pair| [pair.head, pair.tail]);
        ends.chain(self.negatives.iter().copied())
    }

    /// Each pair with its negatives.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (Pair, &[EntityId])> + '_ {
        (0..self.pairs.len()).map(|at| (self.pairs[at], &self.negatives[self.range(at)]))
    }
}

impl MetaTask {
    /// Every entity of the task.
    pub fn entities(&self) -> impl Iterator<Item = EntityId> + '_ {
        self.support.entities().chain(self.query.entities())
    }
}

/// An episode with its negatives drawn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MetaTask {
    /// The relation of the task, if the graph has a name for it.
    pub relation: Option<RelationId>,
    /// The pairs the model is given.
    pub support: Contrasts,
    /// The pairs it has to predict.
    pub query: Contrasts,
    /// Pairs that a user rejected; none in training.
    pub rejected: Vec<Pair>,
}
