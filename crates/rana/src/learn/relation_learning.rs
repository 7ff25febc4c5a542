//! [`RelationLearning`]: how sure it is which relation holds between two entities, measured on relations left out.
//!
//! The facts of all relations of a group are hidden. Each of these relations is then known by a few pairs, as one that a
//! user brings, and the others by all their facts. Other facts of the hidden relations are asked for: which relation joins
//! this pair?

use std::sync::Arc;

use rana_eval::confidence::{RelationConfidence, RelationExample};
use rana_fewshot::{Direction, FewShotModel};
use rana_graph::{Graph, Observer, Pair, RelationId};
use rana_models::fused::{FusedModel, Sources, TrustedSource};

use super::error::LearnError;
use super::evidence_learning::{EvidenceLearning, PARTS, Share, check, shares};
use super::known_facts::KnownFacts;
use super::measuring::SHOTS;
use super::quality::{LEARNED, Quality, RelationQuality, WithheldRelation};
use super::withheld_relations::WithheldRelations;
use crate::relate::{ConsideredRelation, RelationScorers, evenly};
use crate::schedule::Stage;

/// The most facts of a relation that are asked for.
const QUERIES: usize = 5;
/// Relations that join more facts are considered by so many of them.
const MOST_FACTS: usize = 60;
/// More relations are not considered: the largest ones are.
const MOST_RELATIONS: usize = 3000;
const RELATING: &str = "learning which relations hold between two entities";
/// Relations in the order of their facts, and of how much the pair is like their ends.
const FREQUENCY: &str = "frequency";
const LIKENESS: &str = "type-compatibility";

/// The stage, and how long it takes for so many relations that are left out.
pub(super) fn stage(relations: usize) -> Stage {
    Stage::new(RELATING, 0.3 * relations as f64)
}

/// What was learned about the question which relation holds.
pub(super) struct RelationLearning {
    /// What it is worth.
    pub(super) quality: Option<RelationQuality>,
    /// How sure it is; none if too few relations could be left out.
    pub(super) confidence: Option<RelationConfidence>,
}

/// One pair that was asked about: the relations that were considered, the likeliest ends first.
struct Asked {
    relation: RelationId,
    part: usize,
    /// The relation and its signs if it was looked at closely, else only its number of facts.
    considered: Vec<(RelationId, RelationExample, bool)>,
}

impl RelationLearning {
    /// Learns from the facts of relations that the sources of each group do not know and do not see.
    pub(super) fn new(
        graph: &Graph,
        known: &KnownFacts,
        withheld: &WithheldRelations,
        sources: &[Sources],
        evidence: [&EvidenceLearning; 2],
        observer: &dyn Observer,
    ) -> Result<Self, LearnError> {
        let shares = shares(withheld, PARTS.min(withheld.len()));
        observer.begin(RELATING, Some(withheld.len() as u64), rana_graph::Unit::Steps);
        let temperatures = evidence.map(|of| of.calibration.as_ref().map_or(1.0, |of| of.temperature));
        let mut asked = Vec::new();
        for share in &shares {
            let models = [Direction::Tails, Direction::Heads].map(|direction| -> Arc<dyn FewShotModel> {
                let trusted: Vec<TrustedSource> = evidence[direction as usize].by_part[share.part].clone();
                Arc::new(FusedModel::new(sources[share.group].clone(), trusted).asking(direction))
            });
            let edges = Arc::clone(sources[share.group].edges());
            let scorers = RelationScorers::new(graph, edges, models, temperatures);
            let scorers = scorers.with(supports(graph, known, &withheld.groups[share.group], withheld));
            ask(graph, known, withheld, share, &scorers, &mut asked, observer)?;
        }
        observer.end();
        let of = |asked: &[&Asked]| -> Vec<RelationExample> {
            let close = asked.iter().flat_map(|of| of.considered.iter().filter(|(_, _, is_close)| *is_close));
            close.map(|(_, example, _)| *example).collect()
        };
        let parts = shares.iter().map(|share| share.part + 1).max().unwrap_or(0);
        let mut relations: Vec<WithheldRelation> = Vec::new();
        for part in 0..parts {
            let others: Vec<&Asked> = asked.iter().filter(|of| of.part != part).collect();
            let learned = RelationConfidence::learn(&of(&others));
            let own: Vec<&Asked> = asked.iter().filter(|of| of.part == part).collect();
            for queries in own.chunk_by(|one, other| one.relation == other.relation) {
                relations.extend(learned.as_ref().map(|learned| measured(graph, known, learned, queries)));
            }
        }
        let confidence = RelationConfidence::learn(&of(&asked.iter().collect::<Vec<_>>()));
        let rows = [LEARNED, FREQUENCY, LIKENESS];
        let quality = Quality::new(SHOTS, &rows, relations).map(|quality| RelationQuality {
            among: asked.iter().map(|of| of.considered.len()).max().unwrap_or(0),
            expected_error: confidence.as_ref().map(|of| of.reliability.expected_error),
            quality,
        });
        Ok(Self { quality, confidence })
    }
}

/// The pairs by which each relation is known: five of one that is left out, and facts of the others.
fn supports(
    graph: &Graph,
    known: &KnownFacts,
    hidden: &[RelationId],
    withheld: &WithheldRelations,
) -> Vec<(RelationId, Vec<Pair>)> {
    let named = (0..graph.named_relation_count() as u32).map(RelationId::forward);
    let mut relations: Vec<RelationId> = named
        .filter(|&relation| !graph.type_relations().contains(&relation) && !known.of(relation).is_empty())
        .collect();
    // The sort is stable, so the choice is always the same.
    relations
        .sort_by_key(|&relation| (!hidden.contains(&relation), std::cmp::Reverse(known.of(relation).len())));
    relations.truncate(MOST_RELATIONS);
    let support = |relation: RelationId| match hidden.contains(&relation) {
        true => withheld.episode(relation).map(|(support, _)| support).unwrap_or_default(),
        false => {
            let facts = evenly(known.of(relation), MOST_FACTS);
            facts.iter().map(|fact| Pair { head: fact.head, tail: fact.tail }).collect()
        }
    };
    let all = relations.into_iter().map(|relation| (relation, support(relation)));
    all.filter(|(_, support)| !support.is_empty()).collect()
}

/// Asks which relation joins pairs of the relations of a share.
fn ask(
    graph: &Graph,
    known: &KnownFacts,
    withheld: &WithheldRelations,
    share: &Share<'_>,
    scorers: &RelationScorers,
    asked: &mut Vec<Asked>,
    observer: &dyn Observer,
) -> Result<(), LearnError> {
    for task in &share.tasks {
        let Some((_, queries)) = withheld.episode(task.relation) else { continue };
        for &pair in queries.iter().take(QUERIES) {
            let holds = |relation: RelationId| {
                graph.contains(pair.head, relation, pair.tail)
                    || known.of(relation).iter().any(|fact| fact.head == pair.head && fact.tail == pair.tail)
            };
            // Another relation that joins the pair is no wrong answer.
            let is_left_out = |of: &ConsideredRelation| {
                of.relation.is_some_and(|relation| relation != task.relation && holds(relation))
            };
            let all = scorers.consider(pair, &[], is_left_out)?;
            let considered = all.into_iter().filter_map(|of| {
                let relation = of.relation.relation?;
                let is_right = relation == task.relation;
                let example = RelationExample { task: task.relation.0, signs: of.signs, is_right };
                Some((relation, example, of.is_close))
            });
            let considered = considered.collect();
            asked.push(Asked { relation: task.relation, part: share.part, considered });
        }
        observer.advance(1);
        check(observer)?;
    }
    Ok(())
}

/// How well the relation of some pairs is found.
fn measured(
    graph: &Graph,
    known: &KnownFacts,
    learned: &RelationConfidence,
    queries: &[&Asked],
) -> WithheldRelation {
    let relation = queries[0].relation;
    let mut ranks: [Vec<f64>; 3] = Default::default();
    for asked in queries {
        // Relations that were not looked at follow those that were.
        let by_odds = |&(_, example, is_close): &(RelationId, RelationExample, bool)| match is_close {
            true => 1e6 + learned.odds(&example.signs),
            false => f64::from(example.signs.likeness()),
        };
        let by_facts = |of: &(RelationId, RelationExample, bool)| known.of(of.0).len() as f64;
        let by_likeness = |of: &(RelationId, RelationExample, bool)| f64::from(of.1.signs.likeness());
        ranks[0].push(rank(&asked.considered, by_odds));
        ranks[1].push(rank(&asked.considered, by_facts));
        ranks[2].push(rank(&asked.considered, by_likeness));
    }
    let count = queries.len() as f64;
    let mean = |of: &Vec<f64>, value: fn(f64) -> f64| of.iter().map(|&rank| value(rank)).sum::<f64>() / count;
    WithheldRelation {
        name: graph.relation_name(relation).to_owned(),
        facts: known.of(relation).len(),
        queries: queries.len(),
        mrr: ranks.iter().map(|of| mean(of, |rank| 1.0 / rank)).collect(),
        hits_at_10: ranks.iter().map(|of| mean(of, |rank| f64::from(rank <= 10.0))).collect(),
    }
}

/// The rank of the right relation; ties count half. If it was not considered, it follows all that were.
fn rank(
    considered: &[(RelationId, RelationExample, bool)],
    value: impl Fn(&(RelationId, RelationExample, bool)) -> f64,
) -> f64 {
    let right = considered.iter().find(|(_, example, _)| example.is_right).map(&value);
    let Some(right) = right else { return 1.0 + considered.len() as f64 };
    let ahead = |of: &(RelationId, RelationExample, bool)| match value(of) {
        other if other > right => 1.0,
        other => 0.5 * f64::from(u8::from(other == right)),
    };
    1.0 + considered.iter().filter(|(_, example, _)| !example.is_right).map(ahead).sum::<f64>()
}
