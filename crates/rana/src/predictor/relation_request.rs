//! [`RelationRequest`]: what is known of a relation that is to be completed.

use rana_fewshot::{Direction, Support};
use rana_graph::{EntityId, Pair, RelationId, TypeId};

/// What is known of a relation that is to be completed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct RelationRequest {
    /// Which relation of the graph it is, if it is one.
    pub relation: Option<RelationId>,
    /// Pairs that it holds for.
    pub support: Vec<Pair>,
    /// Pairs that it does not hold for: they are never answered, and models that can learn from them do.
    pub rejected: Vec<Pair>,
    /// What its answers are looked for among.
    pub candidates: CandidateChoice,
    /// Whether answers may be facts that the graph has already. Without it, a head is not its own tail either, unless a
    /// pair of the support is.
    pub include_known: bool,
    /// Whether tails of heads are asked for, or heads of tails.
    pub direction: Direction,
}

impl RelationRequest {
    /// The same as a model sees it: a question for tails, turned around if heads are asked for.
    pub(super) fn turned(&self) -> Self {
        let turn = |pairs: &[Pair]| self.direction.turn_all(pairs);
        Self {
            relation: self.relation.map(|relation| self.direction.turn_relation(relation)),
            support: turn(&self.support),
            rejected: turn(&self.rejected),
            direction: Direction::Tails,
            ..self.clone()
        }
    }

    /// What a model is told of it, with the candidates that it is learned among.
    pub(super) fn to_support<'a>(&'a self, candidates: &'a [EntityId]) -> Support<'a> {
        // As in an evaluation, so that the same support gives the same scores.
        let seed = self.relation.map_or(0, |relation| relation.0.into());
        Support { relation: self.relation, pairs: &self.support, candidates, rejected: &self.rejected, seed }
    }
}

/// What the answers of a relation are looked for among.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum CandidateChoice {
    /// The candidates of the task, if the relation is one and its tails are asked for; else what has a type of one of
    /// the support's tails (or heads, if they are asked for), or, in a graph without types, what a relation points to
    /// that points to one of them.
    #[default]
    Fitting,
    /// What has one of these types.
    Types(Vec<TypeId>),
    /// These.
    Listed(Vec<EntityId>),
    /// Every entity.
    All,
}
