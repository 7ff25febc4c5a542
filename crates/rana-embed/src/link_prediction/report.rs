//! [`LinkReport`]: the results of link prediction.

use rana_graph::RelationId;
use serde::Serialize;

use super::metrics::Metrics;
use super::rank::{FactRanks, TieRule};

/// The results of link prediction.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LinkReport {
    /// The tie rule.
    pub tie_rule: TieRule,
    /// Queries for heads.
    pub head: Metrics,
    /// Queries for tails.
    pub tail: Metrics,
    /// All queries.
    pub both: Metrics,
    /// The same for each relation with queries, in the order of ids, if asked for.
    pub relations: Option<Vec<RelationReport>>,
}

/// The results of one relation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RelationReport {
    /// The relation.
    pub relation: RelationId,
    /// Queries for heads.
    pub head: Metrics,
    /// Queries for tails.
    pub tail: Metrics,
    /// All queries.
    pub both: Metrics,
}

impl LinkReport {
    /// Summarises the ranks of facts.
    #[must_use]
    pub fn of(ranks: &[FactRanks], tie_rule: TieRule, per_relation: bool) -> Self {
        let [head, tail, both] = sides(ranks, tie_rule);
        let relations = per_relation.then(|| by_relation(ranks, tie_rule));
        Self { tie_rule, head, tail, both, relations }
    }
}

fn sides(ranks: &[FactRanks], rule: TieRule) -> [Metrics; 3] {
    [
        Metrics::of(ranks.iter().map(|fact| fact.head), rule),
        Metrics::of(ranks.iter().map(|fact| fact.tail), rule),
        Metrics::of(ranks.iter().flat_map(|fact| [fact.head, fact.tail]), rule),
    ]
}

fn by_relation(ranks: &[FactRanks], rule: TieRule) -> Vec<RelationReport> {
    let mut ranks = ranks.to_vec();
    ranks.sort_by_key(|fact| fact.fact.relation);
    ranks
        .chunk_by(|a, b| a.fact.relation == b.fact.relation)
        .map(|ranks| {
            let [head, tail, both] = sides(ranks, rule);
            RelationReport { relation: ranks[0].fact.relation, head, tail, both }
        })
        .collect()
}
