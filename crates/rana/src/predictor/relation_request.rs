//! [`RelationRequest`]: what is known of a relation that is to be completed.

use rana_fewshot::Support;
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
    /// What its tails are looked for among.
    pub candidates: CandidateChoice,
    /// Whether answers may be facts that the graph has already. Without it, a head is not its own tail either, unless a
    /// pair of the support is.
    pub include_known: bool,
}

impl RelationRequest {
    /// What a model is told of it, with the candidates that it is learned among.
    pub(super) fn to_support<'a>(&'a self, candidates: &'a [EntityId]) -> Support<'a> {
        // As in an evaluation, so that the same support gives the same scores.
        let seed = self.relation.map_or(0, |relation| relation.0.into());
        Support { relation: self.relation, pairs: &self.support, candidates, rejected: &self.rejected, seed }
    }
}

/// What the tails of a relation are looked for among.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum CandidateChoice {
    /// The candidates of the task, if the relation is one; else what has a type of one of the support's tails, or, in
    /// a graph without types, what is pointed to by a relation that points to one of them.
    #[default]
    Fitting,
    /// What has one of these types.
    Types(Vec<TypeId>),
    /// These.
    Listed(Vec<EntityId>),
    /// Every entity.
    All,
}
