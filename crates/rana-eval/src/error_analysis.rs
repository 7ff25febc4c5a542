//! [`ErrorAnalysis`]: which queries of a relation a model fails, and what the graph knows of them.

use std::collections::HashSet;

use rana_embed::link_prediction::{Metrics, Rank};
use rana_fewshot::{FewShotModel, SupportOrder};
use rana_graph::{EntityId, Graph, Pair, RelationId, TaskSet, keyed_rng};
use rand::seq::index;
use serde::Serialize;

use crate::card_evaluation::CardSettings;
use crate::comparison::QueryKind;
use crate::few_shot_evaluation::{FewShotError, official_seed};
use crate::task_ranking::TaskRanking;

/// Below this many neighbours the paper calls an entity sparse.
const FEW_NEIGHBOURS: usize = 10;
/// Sets the sample apart from all other random streams under the same seed.
const PURPOSE: u64 = 0x6572_726f_7273;

/// A sample of the queries of a relation, and how well a model answers by the number of neighbours.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ErrorAnalysis {
    /// The relation.
    pub relation: String,
    /// Its label, if it has one.
    pub label: Option<String>,
    /// How many queries it has.
    pub queries: usize,
    /// Some of them, drawn at random, in their order.
    pub sample: Vec<AnalysedFact>,
    /// All of them, by the neighbours of head and tail.
    pub by_neighbours: Vec<NeighbourGroup>,
}

/// One query.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AnalysedFact {
    /// Its head.
    pub head: String,
    /// Its right tail.
    pub tail: String,
    /// The rank of the right tail.
    pub rank: f64,
    /// The answer that the model ranks first.
    pub first: String,
    /// How many background facts head and tail have.
    pub neighbours: [usize; 2],
    /// What joins head and tail beside the asked relation.
    pub kind: QueryKind,
}

/// The queries whose head and tail have so many neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct NeighbourGroup {
    /// The fewest neighbours of the sparser end.
    pub least: usize,
    /// The most; none if there is no bound.
    pub most: Option<usize>,
    /// How many queries there are.
    pub queries: usize,
    /// Their mean reciprocal rank.
    pub mrr: f64,
    /// The share of ranks up to 10.
    #[serde(rename = "hits10")]
    pub hits_at_10: f64,
}

impl AnalysedFact {
    /// Whether the right tail is among the first ten answers.
    #[must_use]
    pub fn is_hit(&self) -> bool {
        self.rank <= 10.0
    }

    /// Whether the head or the tail has fewer than ten neighbours.
    #[must_use]
    pub fn is_sparse(&self) -> bool {
        self.neighbours.iter().any(|&count| count < FEW_NEIGHBOURS)
    }
}

impl CardSettings {
    /// Analyses the errors of a model on one relation of the split, on its official support. `sample` queries are looked at one
    /// by one.
    ///
    /// # Errors
    /// As [`evaluate`](Self::evaluate), or if the relation is not a task of the split.
    pub fn errors(
        &self,
        model: &dyn FewShotModel,
        relation: RelationId,
        sample: usize,
        graph: &Graph,
        tasks: &TaskSet,
    ) -> Result<ErrorAnalysis, FewShotError> {
        let rankings = TaskRanking::of_split(graph, tasks, self.split, self.candidates, self.seed)?;
        let ranking = rankings.iter().find(|ranking| ranking.task.relation == relation);
        let ranking = ranking.ok_or(FewShotError::NoTasks { split: self.split })?;
        let episode = SupportOrder::official(&ranking.task).episode(self.shots)?;
        let seed = official_seed(ranking);
        let ranks = ranking.ranks(model, &episode, seed)?;
        let adapted = ranking.adapt(model, &episode, seed)?;
        let tails: HashSet<EntityId> = episode.support.iter().map(|pair| pair.tail).collect();
        let title = |entity: EntityId| graph.entity_title(entity).into_owned();
        let analysed = |at: usize| {
            let pair = episode.query[at];
            AnalysedFact {
                head: title(pair.head),
                tail: title(pair.tail),
                rank: ranks[at].by(self.tie_rule),
                first: title(ranking.best_answer(&*adapted, pair)),
                neighbours: neighbours(graph, pair),
                kind: QueryKind::of(graph, pair, &tails),
            }
        };
        let mut rng = keyed_rng([self.seed, PURPOSE, relation.0.into(), 0]);
        let count = episode.query.len();
        let mut drawn = index::sample(&mut rng, count, sample.min(count)).into_vec();
        drawn.sort_unstable();
        let sparser: Vec<usize> = episode
            .query
            .iter()
            .map(|&pair| neighbours(graph, pair)[0].min(neighbours(graph, pair)[1]))
            .collect();
        Ok(ErrorAnalysis {
            relation: ranking.relation().to_owned(),
            label: ranking.label().map(str::to_owned),
            queries: count,
            sample: drawn.into_iter().map(analysed).collect(),
            by_neighbours: self.groups(&sparser, &ranks),
        })
    }

    /// The ranks by the number of neighbours of the sparser end; groups without queries are left out.
    fn groups(&self, sparser: &[usize], ranks: &[Rank]) -> Vec<NeighbourGroup> {
        const BOUNDS: [(usize, Option<usize>); 4] =
            [(0, Some(FEW_NEIGHBOURS - 1)), (FEW_NEIGHBOURS, Some(24)), (25, Some(99)), (100, None)];
        let group = |(least, most): (usize, Option<usize>)| {
            let is_in = |count: usize| count >= least && most.is_none_or(|most| count <= most);
            let own = sparser.iter().zip(ranks).filter(|&(&count, _)| is_in(count));
            let own: Vec<Rank> = own.map(|(_, &rank)| rank).collect();
            let queries = own.len();
            let metrics = Metrics::of(own, self.tie_rule);
            NeighbourGroup { least, most, queries, mrr: metrics.mrr, hits_at_10: metrics.hits_at_10 }
        };
        BOUNDS.map(group).into_iter().filter(|group| group.queries > 0).collect()
    }
}

/// How many background facts head and tail have.
fn neighbours(graph: &Graph, pair: Pair) -> [usize; 2] {
    [graph.degree(pair.head), graph.degree(pair.tail)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_models::Copies;
    use rana_graph::{Duplicates, GraphBuilder, Split, TaskSetBuilder};

    #[test]
    fn a_query_is_a_hit_by_its_rank_and_sparse_by_its_neighbours() {
        let mut builder = GraphBuilder::new(Duplicates::Remove);
        for n in 0..30 {
            builder.add_named(&format!("a{n}"), "r", &format!("b{n}"));
            // One entity with many neighbours.
            builder.add_named("hub", "s", &format!("b{n}"));
        }
        let hub = builder.intern_entity("hub");
        let pairs: Vec<Pair> = (0..8)
            .map(|n| {
                let head = builder.intern_entity(&format!("a{n}"));
                // The first five tails are the hub, which the support is copied from.
                let tail = if n < 7 { hub } else { builder.intern_entity("b20") };
                Pair { head, tail }
            })
            .collect();
        let asked = builder.intern_relation("asked");
        let graph = builder.finish();
        let mut tasks = TaskSetBuilder::default();
        tasks.add_task(Split::Test, asked, pairs);
        tasks.add_candidates(asked, graph.entities().collect());
        let tasks = tasks.finish();
        let settings = CardSettings::default();
        let analysis = settings.errors(&Copies, asked, 99, &graph, &tasks).unwrap();
        assert_eq!((analysis.queries, analysis.sample.len()), (3, 3));
        let last = &analysis.sample[2];
        assert_eq!((last.tail.as_str(), last.first.as_str(), last.is_hit()), ("b20", "hub", false));
        assert_eq!((last.neighbours, last.is_sparse(), last.kind), ([1, 2], true, QueryKind::Other));
        let first = &analysis.sample[0];
        assert_eq!((first.rank, first.first.as_str(), first.kind), (1.0, "hub", QueryKind::RepeatedTail));
        // All heads are sparse, and two of three answers are right.
        let [group] = analysis.by_neighbours[..] else { panic!("{:?}", analysis.by_neighbours) };
        assert_eq!((group.least, group.most, group.queries), (0, Some(9), 3));
        assert!((group.hits_at_10 - 2.0 / 3.0).abs() < 1e-12);
        // The same seed draws the same sample.
        let two = settings.errors(&Copies, asked, 2, &graph, &tasks).unwrap();
        assert_eq!(two.sample, settings.errors(&Copies, asked, 2, &graph, &tasks).unwrap().sample);
        assert_eq!(two.sample.len(), 2);
        let missing = settings.errors(&Copies, RelationId::forward(0), 2, &graph, &tasks);
        assert_eq!(missing.unwrap_err(), FewShotError::NoTasks { split: Split::Test });
    }
}
