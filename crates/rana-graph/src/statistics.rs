//! [`Statistics`]: counts and distributions of a graph and its tasks.

use std::collections::BTreeMap;
use std::fmt;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::fact::Fact;
use crate::few_shot_rule::FewShotRule;
use crate::graph::Graph;
use crate::held_out::HeldOut;
use crate::id::RelationId;
use crate::split::Split;
use crate::store::{Counts, TaskCounts};
use crate::tasks::TaskSet;

/// How many tails a head has under a relation, and the other way round, by the usual 1.5 rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Cardinality {
    /// Fewer than 1.5 tails per head and fewer than 1.5 heads per tail.
    #[serde(rename = "1-1")]
    OneToOne,
    /// Many tails per head.
    #[serde(rename = "1-N")]
    OneToMany,
    /// Many heads per tail.
    #[serde(rename = "N-1")]
    ManyToOne,
    /// Many of both.
    #[serde(rename = "N-N")]
    ManyToMany,
}

impl Cardinality {
    /// The class of a relation with these numbers of facts, distinct heads and distinct tails.
    #[must_use]
    pub fn of(facts: u64, heads: u64, tails: u64) -> Self {
        let many = |per: u64| per > 0 && facts as f64 / per as f64 >= 1.5;
        match (many(heads), many(tails)) {
            (false, false) => Self::OneToOne,
            (true, false) => Self::OneToMany,
            (false, true) => Self::ManyToOne,
            (true, true) => Self::ManyToMany,
        }
    }
}

impl fmt::Display for Cardinality {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::OneToOne => "1-1",
            Self::OneToMany => "1-N",
            Self::ManyToOne => "N-1",
            Self::ManyToMany => "N-N",
        })
    }
}

/// Counts and distributions of a graph and its tasks.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Statistics {
    /// Entities.
    pub entities: u64,
    /// Background relations, inverses not counted.
    pub relations: u64,
    /// Background facts.
    pub triples: u64,
    /// Held-out facts.
    pub held_out: BTreeMap<HeldOut, u64>,
    /// Types.
    pub types: u64,
    /// Entities with a label.
    pub labelled_entities: u64,
    /// Entities without a single background fact.
    pub isolated_entities: u64,
    /// Facts that join an entity with itself.
    pub self_loops: u64,
    /// How many facts entities take part in.
    pub degrees: Degrees,
    /// The rule by which relations count as few-shot.
    pub few_shot_rule: FewShotRule,
    /// How many background relations are few-shot by that rule.
    pub few_shot_relations: u64,
    /// Background relations by cardinality.
    pub cardinalities: BTreeMap<Cardinality, u64>,
    /// Every background relation, the largest first.
    pub relation_table: Vec<RelationStatistics>,
    /// Task relations and facts by split.
    pub tasks: BTreeMap<Split, TaskCounts>,
    /// Every task in its order.
    pub task_table: Vec<TaskStatistics>,
    /// Sizes of the tasks' candidate lists.
    pub candidates: Option<MinMedianMax>,
    /// How many pairs of a head and a relation the filter has known tails for.
    pub filter_questions: u64,
}

/// The distribution of degrees.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Degrees {
    /// The mean.
    pub mean: f64,
    /// Order statistics.
    #[serde(flatten)]
    pub spread: MinMedianMax,
    /// The 90th percentile.
    pub p90: u64,
    /// The 99th percentile.
    pub p99: u64,
    /// How many entities have a degree of 0, 1, 2–3, 4–7, 8–15, … in this order.
    pub histogram: Vec<DegreeBucket>,
}

/// How many entities have a degree within bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct DegreeBucket {
    /// The smallest degree counted.
    pub from: u64,
    /// The largest degree counted.
    pub to: u64,
    /// How many entities have such a degree.
    pub entities: u64,
}

/// The smallest, the middle and the largest of some numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct MinMedianMax {
    /// The smallest.
    pub min: u64,
    /// The (lower) median.
    pub median: u64,
    /// The largest.
    pub max: u64,
}

/// One background relation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RelationStatistics {
    /// Its name.
    pub name: String,
    /// Its label, if it has one.
    pub label: Option<String>,
    /// Its facts.
    pub facts: u64,
    /// Distinct heads.
    pub heads: u64,
    /// Distinct tails.
    pub tails: u64,
    /// Its class by the 1.5 rule.
    pub cardinality: Cardinality,
    /// Whether it is few-shot by the rule.
    pub few_shot: bool,
}

/// One task.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TaskStatistics {
    /// The relation's name.
    pub relation: String,
    /// The split.
    pub split: Split,
    /// Its facts.
    pub facts: u64,
    /// Distinct heads.
    pub heads: u64,
    /// Distinct tails.
    pub tails: u64,
    /// Its class by the 1.5 rule.
    pub cardinality: Cardinality,
    /// Its candidates.
    pub candidates: u64,
}

impl Statistics {
    /// Computes the statistics of a graph and its tasks.
    #[must_use]
    pub fn of(graph: &Graph, tasks: &TaskSet, rule: FewShotRule) -> Self {
        let counts = Counts::of(graph, tasks);
        let relation_table = relation_table(graph, rule);
        let mut cardinalities = BTreeMap::new();
        for relation in &relation_table {
            *cardinalities.entry(relation.cardinality).or_default() += 1;
        }
        Self {
            entities: counts.entities,
            relations: counts.relations,
            triples: counts.triples,
            held_out: counts.held_out,
            types: counts.types,
            labelled_entities: graph.entities().filter(|&e| graph.entity_label(e).is_some()).count() as u64,
            isolated_entities: graph.entities().filter(|&e| graph.degree(e) == 0).count() as u64,
            self_loops: graph.facts().iter().filter(|fact| fact.head == fact.tail).count() as u64,
            degrees: Degrees::of(graph),
            few_shot_rule: rule,
            few_shot_relations: relation_table.iter().filter(|relation| relation.few_shot).count() as u64,
            cardinalities,
            relation_table,
            tasks: counts.tasks,
            task_table: tasks.iter().map(|task| task_statistics(graph, &task)).collect(),
            candidates: MinMedianMax::of(tasks.iter().map(|task| task.candidates.len() as u64).collect()),
            filter_questions: tasks.filter().len() as u64,
        }
    }
}

impl MinMedianMax {
    /// Those of some numbers, if there are any.
    #[must_use]
    pub fn of(mut numbers: Vec<u64>) -> Option<Self> {
        numbers.sort_unstable();
        let (min, max) = (*numbers.first()?, *numbers.last()?);
        Some(Self { min, median: numbers[(numbers.len() - 1) / 2], max })
    }
}

impl Degrees {
    fn of(graph: &Graph) -> Self {
        let mut degrees: Vec<u64> = graph.entities().map(|entity| graph.degree(entity) as u64).collect();
        degrees.sort_unstable();
        let total: u64 = degrees.iter().sum();
        let quantile = |share: f64| match degrees.len() {
            0 => 0,
            count => degrees[((count - 1) as f64 * share) as usize],
        };
        let mut histogram: Vec<DegreeBucket> = Vec::new();
        for &degree in &degrees {
            let from = if degree == 0 { 0 } else { 1 << degree.ilog2() };
            match histogram.last_mut() {
                Some(bucket) if bucket.from == from => bucket.entities += 1,
                _ => histogram.push(DegreeBucket { from, to: (2 * from).saturating_sub(1), entities: 1 }),
            }
        }
        Self {
            mean: total as f64 / degrees.len().max(1) as f64,
            p90: quantile(0.90),
            p99: quantile(0.99),
            spread: MinMedianMax::of(degrees).unwrap_or(MinMedianMax { min: 0, median: 0, max: 0 }),
            histogram,
        }
    }
}

fn relation_table(graph: &Graph, rule: FewShotRule) -> Vec<RelationStatistics> {
    let by_relation = graph.facts_by_relation();
    let mut table: Vec<RelationStatistics> = (0..graph.relation_count())
        .into_par_iter()
        .map(|number| {
            let facts: &[Fact] = by_relation.get(number);
            let heads = distinct(facts.iter().map(|fact| fact.head.0));
            let tails = distinct(facts.iter().map(|fact| fact.tail.0));
            let relation = RelationId::forward(number as u32);
            let count = facts.len() as u64;
            RelationStatistics {
                name: graph.relation_name(relation).to_owned(),
                label: graph.relation_label(relation).map(str::to_owned),
                facts: count,
                heads,
                tails,
                cardinality: Cardinality::of(count, heads, tails),
                few_shot: rule.holds(count),
            }
        })
        .collect();
    table.sort_by(|a, b| b.facts.cmp(&a.facts).then_with(|| a.name.cmp(&b.name)));
    table
}

fn task_statistics(graph: &Graph, task: &crate::tasks::Task<'_>) -> TaskStatistics {
    let heads = distinct(task.facts.iter().map(|pair| pair.head.0));
    let tails = distinct(task.facts.iter().map(|pair| pair.tail.0));
    let facts = task.facts.len() as u64;
    TaskStatistics {
        relation: graph.relation_name(task.relation).to_owned(),
        split: task.split,
        facts,
        heads,
        tails,
        cardinality: Cardinality::of(facts, heads, tails),
        candidates: task.candidates.len() as u64,
    }
}

fn distinct(ids: impl Iterator<Item = u32>) -> u64 {
    let mut ids: Vec<u32> = ids.collect();
    ids.sort_unstable();
    ids.dedup();
    ids.len() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph_builder::{Duplicates, GraphBuilder};

    #[test]
    fn cardinality_by_the_usual_rule() {
        assert_eq!(Cardinality::of(10, 10, 10), Cardinality::OneToOne);
        assert_eq!(Cardinality::of(15, 10, 15), Cardinality::OneToMany);
        assert_eq!(Cardinality::of(14, 10, 14), Cardinality::OneToOne);
        assert_eq!(Cardinality::of(15, 15, 10), Cardinality::ManyToOne);
        assert_eq!(Cardinality::of(30, 10, 10), Cardinality::ManyToMany);
    }

    #[test]
    fn a_small_graph_is_counted_by_hand() {
        let mut builder = GraphBuilder::new(Duplicates::Remove);
        for tail in ["b", "c", "d"] {
            builder.add_named("a", "likes", tail);
        }
        builder.add_named("a", "is", "a");
        builder.intern_entity("alone");
        let statistics = Statistics::of(
            &builder.finish(),
            &TaskSet::default(),
            FewShotRule { more_than: 2, less_than: 5 },
        );
        assert_eq!(statistics.entities, 5);
        assert_eq!(statistics.isolated_entities, 1);
        assert_eq!(statistics.self_loops, 1);
        assert_eq!(statistics.few_shot_relations, 1);
        assert_eq!(statistics.degrees.spread, MinMedianMax { min: 0, median: 1, max: 5 });
        let buckets: Vec<_> =
            statistics.degrees.histogram.iter().map(|b| (b.from, b.to, b.entities)).collect();
        assert_eq!(buckets, [(0, 0, 1), (1, 1, 3), (4, 7, 1)]);
        let likes = &statistics.relation_table[0];
        assert_eq!((likes.name.as_str(), likes.facts, likes.heads, likes.tails), ("likes", 3, 1, 3));
        assert_eq!(likes.cardinality, Cardinality::OneToMany);
    }
}
