//! Candidate tails: the entities among which a relation's queries are ranked.

use std::mem::replace;
use std::sync::OnceLock;

use rana_graph::{EntityId, Graph, Lists, RelationId};
use rand::seq::index;
use serde::{Deserialize, Serialize};

use crate::seed::{Purpose, rng};

/// How the candidate tails of a relation are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CandidateRule {
    /// [`Types`](Self::Types) where a tail of the relation has a type, else [`Tails`](Self::Tails).
    #[default]
    Auto,
    /// Every entity that has a type of one of the relation's tails: the published rule of NELL-One.
    Types,
    /// Every entity that some background relation points to which also points to one of the
    /// relation's tails: a stand-in for types where the graph has none.
    Tails,
    /// Every entity.
    All,
}

rana_graph::named!(CandidateRule, "candidate rule", {
    Auto => "auto",
    Types => "types",
    Tails => "tails",
    All => "all",
});

/// How candidates are found and how many are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CandidateConfig {
    /// The rule.
    pub rule: CandidateRule,
    /// At most this many candidates per relation, if given. The relation's own tails are always
    /// kept, even where they alone are more; the others are a sample without replacement.
    pub cap: Option<usize>,
    /// The seed of that sample.
    pub seed: u64,
}

/// Builds the candidate tails of any number of relations over one graph.
///
/// The index it needs is built once, when the first relation asks for it.
///
/// ```
/// use rana_fewshot::{CandidateBuilder, CandidateConfig};
/// use rana_graph::{Duplicates, GraphBuilder};
/// let mut builder = GraphBuilder::new(Duplicates::Remove);
/// builder.add_named("alice", "lives_in", "paris");
/// builder.add_named("bob", "lives_in", "rome");
/// builder.add_named("alice", "likes", "tea");
/// let graph = builder.finish();
/// let candidates = CandidateBuilder::new(&graph, CandidateConfig::default());
/// let likes = graph.relation("likes").unwrap();
/// // Rome becomes a candidate because `lives_in` points to it as it does to Paris; tea does not.
/// let paris = graph.entity("paris").unwrap();
/// let names: Vec<_> =
///     candidates.candidates(likes, [paris]).into_iter().map(|e| graph.entity_name(e)).collect();
/// assert_eq!(names, ["paris", "rome"]);
/// ```
#[derive(Debug)]
pub struct CandidateBuilder {
    graph: Graph,
    config: CandidateConfig,
    types: OnceLock<Groups>,
    targets: OnceLock<Groups>,
}

impl CandidateBuilder {
    /// A builder over a graph.
    #[must_use]
    pub fn new(graph: &Graph, config: CandidateConfig) -> Self {
        Self { graph: graph.clone(), config, types: OnceLock::new(), targets: OnceLock::new() }
    }

    /// The candidate tails of a relation with these tails, ascending and distinct.
    ///
    /// They always contain every one of `tails`. The relation only keys the sample under a cap.
    pub fn candidates(
        &self,
        relation: RelationId,
        tails: impl IntoIterator<Item = EntityId>,
    ) -> Vec<EntityId> {
        let tails = ascending(tails.into_iter().collect());
        let wide = match self.groups(&tails) {
            Some(groups) => groups.joined(&tails),
            None => self.graph.entities().collect(),
        };
        match self.config.cap {
            Some(cap) if cap < wide.len() => self.sampled(relation, tails, &wide, cap),
            _ => wide,
        }
    }

    /// The groups the rule joins, none if it takes all entities.
    fn groups(&self, tails: &[EntityId]) -> Option<&Groups> {
        let types = || self.types.get_or_init(|| Groups::by_type(&self.graph));
        let targets = || self.targets.get_or_init(|| Groups::by_incoming_relation(&self.graph));
        let typed = || tails.iter().any(|&tail| !self.graph.types(tail).is_empty());
        match self.config.rule {
            CandidateRule::All => None,
            CandidateRule::Types => Some(types()),
            CandidateRule::Tails => Some(targets()),
            CandidateRule::Auto if typed() => Some(types()),
            CandidateRule::Auto => Some(targets()),
        }
    }

    fn sampled(
        &self,
        relation: RelationId,
        tails: Vec<EntityId>,
        wide: &[EntityId],
        cap: usize,
    ) -> Vec<EntityId> {
        // Both are ascending and `wide` contains every tail, so one pass separates them.
        let mut own = tails.iter().peekable();
        let others: Vec<EntityId> =
            wide.iter().filter(|entity| own.next_if_eq(entity).is_none()).copied().collect();
        let room = cap.saturating_sub(tails.len());
        let mut rng = rng(self.config.seed, Purpose::Candidates, [relation.0.into(), 0]);
        let mut kept = tails;
        kept.extend(index::sample(&mut rng, others.len(), room).into_iter().map(|at| others[at]));
        ascending(kept)
    }
}

fn ascending(mut entities: Vec<EntityId>) -> Vec<EntityId> {
    entities.sort_unstable();
    entities.dedup();
    entities
}

/// Overlapping groups of entities: those of one type, or those one relation points to.
#[derive(Debug)]
struct Groups {
    members: Lists<EntityId>,
    /// The groups of each entity.
    of: Lists<u32>,
}

impl Groups {
    fn by_type(graph: &Graph) -> Self {
        let typed = graph
            .entities()
            .flat_map(|entity| graph.types(entity).iter().map(move |group| (group.index(), entity)));
        Self::new(graph, Lists::group(graph.type_names().len(), typed))
    }

    fn by_incoming_relation(graph: &Graph) -> Self {
        let ends = graph.facts().iter().map(|fact| (fact.relation.number(), fact.tail));
        let repeated = Lists::group(graph.relation_count(), ends);
        Self::new(graph, repeated.iter().map(|tails| ascending(tails.to_vec())).collect())
    }

    fn new(graph: &Graph, members: Lists<EntityId>) -> Self {
        let memberships = members
            .iter()
            .enumerate()
            .flat_map(|(group, entities)| entities.iter().map(move |entity| (entity.index(), group as u32)));
        let of = Lists::group(graph.entity_count(), memberships);
        Self { members, of }
    }

    /// The given entities and all that share a group with one of them, ascending.
    fn joined(&self, entities: &[EntityId]) -> Vec<EntityId> {
        let mut met = vec![false; self.members.len()];
        let mut joined = vec![false; self.of.len()];
        for entity in entities {
            joined[entity.index()] = true;
            for &group in self.of.get(entity.index()) {
                if !replace(&mut met[group as usize], true) {
                    for member in self.members.get(group as usize) {
                        joined[member.index()] = true;
                    }
                }
            }
        }
        (0..joined.len() as u32).map(EntityId).filter(|entity| joined[entity.index()]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rana_graph::{Duplicates, GraphBuilder};

    fn towns() -> Graph {
        let mut builder = GraphBuilder::new(Duplicates::Remove);
        builder.add_named("alice", "lives_in", "paris");
        builder.add_named("bob", "lives_in", "rome");
        builder.add_named("alice", "likes", "tea");
        for (name, class) in [("paris", "city"), ("rome", "city"), ("oslo", "city"), ("alice", "person")] {
            let entity = builder.intern_entity(name);
            builder.add_type(entity, class);
        }
        builder.finish()
    }

    fn names(graph: &Graph, rule: CandidateRule, tails: &[&str]) -> Vec<String> {
        let builder = CandidateBuilder::new(graph, CandidateConfig { rule, ..Default::default() });
        let tails = tails.iter().map(|name| graph.entity(name).unwrap());
        let candidates = builder.candidates(RelationId::forward(0), tails);
        assert!(candidates.is_sorted_by(|a, b| a < b));
        candidates.into_iter().map(|entity| graph.entity_name(entity).to_owned()).collect()
    }

    #[test]
    fn each_rule_joins_what_it_says() {
        let graph = towns();
        assert_eq!(names(&graph, CandidateRule::Types, &["paris"]), ["paris", "rome", "oslo"]);
        assert_eq!(names(&graph, CandidateRule::Tails, &["paris"]), ["paris", "rome"]);
        assert_eq!(names(&graph, CandidateRule::All, &["paris"]).len(), graph.entity_count());
    }

    #[test]
    fn auto_takes_types_only_where_a_tail_has_one() {
        let graph = towns();
        assert_eq!(names(&graph, CandidateRule::Auto, &["paris", "tea"]), ["paris", "rome", "tea", "oslo"]);
        assert_eq!(names(&graph, CandidateRule::Auto, &["tea"]), ["tea"]);
    }

    #[test]
    fn a_tail_without_a_type_or_an_edge_is_a_candidate_still() {
        let graph = towns();
        assert_eq!(names(&graph, CandidateRule::Types, &["bob"]), ["bob"]);
        assert_eq!(names(&graph, CandidateRule::Tails, &["oslo"]), ["oslo"]);
    }
}
