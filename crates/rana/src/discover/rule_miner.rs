//! [`RuleMiner`]: the rules of a relation.

use std::collections::{HashMap, HashSet};

use rana_graph::{EntityId, Graph, Lists, Pair, RelationId};
use rana_models::paths::VisibleEdges;

use super::rule::{Rule, RuleBody};
use crate::relate::evenly;

/// Known facts of a relation at which patterns are looked for.
const MOST_FACTS: usize = 400;
/// Edges of an end of a fact that are looked at.
const MOST_EDGES: usize = 60;
/// The most patterns of joined pairs that are counted, those that most facts have first.
const MOST_PATTERNS: usize = 80;
/// Heads from which a pattern of joined pairs is followed to count it.
const MOST_STARTS: usize = 250;
/// Pairs that are looked at to count a pattern.
const MOST_PAIRS: u32 = 10_000;
/// Fewer facts with a pattern are an accident.
const FEWEST: u32 = 3;

/// Finds rules on the edges of a graph, those of the asked relation included: a fact is never evidence for itself, but
/// other facts of its relation are.
pub(super) struct RuleMiner<'g> {
    pub(super) edges: &'g VisibleEdges,
    /// The entities that have each directed relation.
    pub(super) starts: Lists<EntityId>,
}

impl<'g> RuleMiner<'g> {
    pub(super) fn new(graph: &Graph, edges: &'g VisibleEdges) -> Self {
        let of_entity = |entity: EntityId| edges.relations(entity).map(move |by| (by.index(), entity));
        let all = graph.entities().flat_map(of_entity).collect::<Vec<_>>();
        let starts = Lists::group(2 * (graph.named_relation_count() + 1), all.iter().copied());
        Self { edges, starts }
    }

    /// The rules of a relation with these known facts that are right in at least this share of cases, the surest first.
    pub(super) fn rules(&self, relation: RelationId, facts: &[Pair], least: f32) -> Vec<Rule> {
        let known: HashSet<Pair> = facts.iter().copied().collect();
        let sample = evenly(facts, MOST_FACTS);
        let mut rules = self.joining(relation, &sample, &known);
        rules.extend(self.having(relation, facts, false));
        rules.extend(self.having(relation, facts, true));
        rules.retain(|rule| rule.precision() >= least);
        rules.sort_by(|one, other| {
            other.precision().total_cmp(&one.precision()).then(one.body.cmp(&other.body))
        });
        rules
    }

    /// Patterns of one or two relations that join pairs.
    fn joining(&self, relation: RelationId, sample: &[Pair], known: &HashSet<Pair>) -> Vec<Rule> {
        let mut counts: HashMap<RuleBody, u32> = HashMap::new();
        for &pair in sample {
            let one =
                self.edges.joining(pair.head, pair.tail).filter(|&by| by != relation).map(RuleBody::One);
            let two = self.edges.two_hops(pair).into_iter().map(RuleBody::Two);
            let own: HashSet<RuleBody> = one.chain(two).collect();
            own.into_iter().for_each(|body| *counts.entry(body).or_default() += 1);
        }
        let mut patterns: Vec<(RuleBody, u32)> =
            counts.into_iter().filter(|(_, count)| *count >= FEWEST.min(sample.len() as u32)).collect();
        patterns.sort_by_key(|&(body, count)| (std::cmp::Reverse(count), body));
        patterns.truncate(MOST_PATTERNS);
        patterns.into_iter().map(|(body, _)| self.counted(body, known)).collect()
    }

    /// How often a pattern leads to known facts.
    fn counted(&self, body: RuleBody, known: &HashSet<Pair>) -> Rule {
        let mut rule = Rule { body, right: 0, of: 0 };
        for head in evenly(self.heads(body), MOST_STARTS) {
            for tail in self.tails(body, head) {
                rule.of += 1;
                rule.right += u32::from(known.contains(&Pair { head, tail }));
            }
            if rule.of >= MOST_PAIRS {
                break;
            }
        }
        rule
    }

    /// The heads from which a pattern of joined pairs may lead anywhere.
    pub(super) fn heads(&self, body: RuleBody) -> &[EntityId] {
        match body {
            RuleBody::One(by) | RuleBody::Two([by, _]) => self.starts.get(by.index()),
            RuleBody::HeadHas { .. } | RuleBody::TailHas { .. } => &[],
        }
    }

    /// Where a pattern of joined pairs leads from a head.
    pub(super) fn tails(&self, body: RuleBody, head: EntityId) -> Vec<EntityId> {
        match body {
            RuleBody::One(by) => {
                let edges = self.edges.by(head, by).iter();
                edges.map(|edge| edge.entity).filter(|&tail| tail != head).collect()
            }
            RuleBody::Two(by) => self.edges.reached(head, by),
            RuleBody::HeadHas { .. } | RuleBody::TailHas { .. } => Vec::new(),
        }
    }

    /// What heads of one tail have in common, or tails of one head.
    fn having(&self, relation: RelationId, facts: &[Pair], of_tails: bool) -> Vec<Rule> {
        let mut counts: HashMap<RuleBody, u32> = HashMap::new();
        let own = if of_tails { relation.inverse() } else { relation };
        for &Pair { head, tail } in facts {
            let (has, fixed) = if of_tails { (tail, head) } else { (head, tail) };
            for edge in self.edges.edges(has).take(MOST_EDGES) {
                if (edge.relation, edge.entity) == (own, fixed) {
                    continue;
                }
                let edge = (edge.relation, edge.entity);
                let body = match of_tails {
                    true => RuleBody::TailHas { edge, head: fixed },
                    false => RuleBody::HeadHas { edge, tail: fixed },
                };
                *counts.entry(body).or_default() += 1;
            }
        }
        let rules = counts.into_iter().filter(|(_, right)| *right >= FEWEST);
        rules.map(|(body, right)| Rule { body, right, of: self.having_edge(body).len() as u32 }).collect()
    }

    /// The entities that have the edge of a pattern with a fixed end.
    pub(super) fn having_edge(&self, body: RuleBody) -> &[rana_graph::Edge] {
        match body {
            RuleBody::HeadHas { edge: (by, to), .. } | RuleBody::TailHas { edge: (by, to), .. } => {
                self.edges.by(to, by.inverse())
            }
            RuleBody::One(_) | RuleBody::Two(_) => &[],
        }
    }
}
