//! [`FewShotEvaluation`]: ranks the true tails of a split's queries among their candidates.

use rana_embed::link_prediction::{Rank, TieRule};
use rana_fewshot::{AdaptedRelation, Episode, EpisodeError, FewShotModel, Support, first_k};
use rana_graph::{EntityId, Graph, Pair, Progress, Split, Task, TaskSet, Unit};
use rayon::prelude::*;
use serde::Serialize;

use crate::report::FewShotReport;

/// The published protocol: the first K facts of a task are its support, the others its queries;
/// candidates are those of the task, and known tails other than the one asked for are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FewShotEvaluation {
    /// Support pairs per task.
    pub shots: usize,
    /// How ties are decided.
    pub tie_rule: TieRule,
}

impl Default for FewShotEvaluation {
    /// Five shots, ties in the middle.
    fn default() -> Self {
        Self { shots: 5, tie_rule: TieRule::Realistic }
    }
}

/// Why tasks cannot be evaluated.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FewShotError {
    /// A task gives no episode.
    #[error(transparent)]
    Episode(#[from] EpisodeError),
    /// A task has nothing to rank its tails among.
    #[error(
        "the task `{relation}` has no candidates, so every answer would be right. Give it some, or leave it out"
    )]
    NoCandidates {
        /// The relation.
        relation: String,
    },
    /// A score is not a number.
    #[error(
        "a tail of the task `{relation}` at `{head}` is scored with NaN, which has no rank. The vectors have diverged: \
         train again with a smaller learning rate"
    )]
    NotANumber {
        /// The relation.
        relation: String,
        /// The head.
        head: String,
    },
}

/// Where the true tail of a query stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct QueryRank {
    /// The query.
    pub query: Pair,
    /// The rank of its tail.
    pub rank: Rank,
}

/// Queries that are scored at once: they share the rows of the candidates.
const QUERIES_PER_BLOCK: usize = 16;
/// Candidates that are scored at once; with the above, what a thread keeps in memory.
const CANDIDATES_PER_BLOCK: usize = 4096;

impl FewShotEvaluation {
    /// Evaluates a model on all tasks of a split.
    ///
    /// # Errors
    /// If a task has no fact left for a query or no candidates, or a score is NaN.
    pub fn evaluate(
        &self,
        model: &dyn FewShotModel,
        graph: &Graph,
        tasks: &TaskSet,
        split: Split,
        progress: &dyn Progress,
    ) -> Result<FewShotReport, FewShotError> {
        let episodes = tasks
            .of(split)
            .map(|task| Ok((task, first_k(&task, self.shots)?)))
            .collect::<Result<Vec<_>, EpisodeError>>()?;
        let queries = episodes.iter().map(|(_, episode)| episode.query.len() as u64).sum();
        progress.begin("ranking", Some(queries), Unit::Facts);
        let ranked: Result<Vec<_>, FewShotError> = episodes
            .iter()
            .map(|(task, episode)| {
                let relation = graph.relation_name(task.relation).to_owned();
                if task.candidates.is_empty() {
                    return Err(FewShotError::NoCandidates { relation });
                }
                let ranks = self.ranks(model, tasks, task, episode).map_err(|NotANumber(head)| {
                    let head = graph.entity_name(head).to_owned();
                    FewShotError::NotANumber { relation: relation.clone(), head }
                })?;
                progress.advance(ranks.len() as u64);
                Ok((relation, task.candidates.len(), ranks))
            })
            .collect();
        progress.end();
        let ranked = ranked?;
        Ok(FewShotReport::new(split, self.shots, self.tie_rule, &ranked))
    }

    /// Ranks the tails of an episode's queries, in their order.
    ///
    /// # Errors
    /// If a score is NaN.
    pub fn ranks(
        &self,
        model: &dyn FewShotModel,
        tasks: &TaskSet,
        task: &Task<'_>,
        episode: &Episode,
    ) -> Result<Vec<QueryRank>, NotANumber> {
        let relation = model.adapt(&Support {
            pairs: &episode.support,
            candidates: task.candidates,
            seed: u64::from(task.relation.0),
        });
        let mut candidates = task.candidates.to_vec();
        candidates.sort_unstable();
        candidates.dedup();
        let blocks: Vec<_> = episode
            .query
            .par_chunks(QUERIES_PER_BLOCK)
            .map(|queries| rank_block(&*relation, tasks, task, queries, &candidates))
            .collect();
        Ok(blocks.into_iter().collect::<Result<Vec<_>, _>>()?.concat())
    }
}

/// A tail at this head is scored with NaN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotANumber(pub EntityId);

/// Ranks some queries of a task among its candidates, which are in the order of their ids.
fn rank_block(
    relation: &dyn AdaptedRelation,
    tasks: &TaskSet,
    task: &Task<'_>,
    queries: &[Pair],
    candidates: &[EntityId],
) -> Result<Vec<QueryRank>, NotANumber> {
    let heads: Vec<EntityId> = queries.iter().map(|query| query.head).collect();
    let right: Vec<f32> = queries
        .iter()
        .map(|query| {
            let mut score = [0.0];
            relation.scores(&[query.head], &[query.tail], &mut score);
            score[0]
        })
        .collect();
    let mut ranks = vec![Rank::default(); queries.len()];
    let mut scores = Vec::new();
    for candidates in candidates.chunks(CANDIDATES_PER_BLOCK) {
        scores.clear();
        scores.resize(queries.len() * candidates.len(), 0.0);
        relation.scores(&heads, candidates, &mut scores);
        for (at, (query, row)) in queries.iter().zip(scores.chunks_exact(candidates.len())).enumerate() {
            if right[at].is_nan() || row.iter().any(|score| score.is_nan()) {
                return Err(NotANumber(query.head));
            }
            let known = tasks.known_tails(query.head, task.relation);
            count(&mut ranks[at], row, candidates, right[at], query.tail, known);
        }
    }
    Ok(queries.iter().zip(ranks).map(|(&query, rank)| QueryRank { query, rank }).collect())
}

/// Counts the candidates at least as good as the true tail, known tails left out.
fn count(
    rank: &mut Rank,
    row: &[f32],
    candidates: &[EntityId],
    right: f32,
    tail: EntityId,
    known: &[EntityId],
) {
    for &score in row {
        rank.better += u64::from(score > right);
        rank.tied += u64::from(score == right);
    }
    // The true tail is among the candidates or not; known tails may hold it or not.
    let others = known.iter().filter(|&&entity| entity != tail);
    for entity in others.chain(std::iter::once(&tail)) {
        if let Ok(at) = candidates.binary_search(entity) {
            rank.better -= u64::from(row[at] > right);
            rank.tied -= u64::from(row[at] == right);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rana_graph::{Duplicates, GraphBuilder, RelationId, TaskSetBuilder};

    /// Scores by a table over all pairs, ties included.
    struct ByTable(Vec<u8>);

    impl FewShotModel for ByTable {
        fn adapt(&self, _: &Support<'_>) -> Box<dyn AdaptedRelation + '_> {
            Box::new(self)
        }
    }

    impl AdaptedRelation for &ByTable {
        fn scores(&self, heads: &[EntityId], candidates: &[EntityId], out: &mut [f32]) {
            let pairs = heads.iter().flat_map(|head| candidates.iter().map(move |tail| (head, tail)));
            for ((head, tail), out) in pairs.zip(out) {
                *out = self.0[head.index() * ENTITIES + tail.index()].into();
            }
        }
    }

    const ENTITIES: usize = 12;

    fn pairs(count: std::ops::Range<usize>) -> impl Strategy<Value = Vec<Pair>> {
        let entity = || (0..ENTITIES as u32).prop_map(EntityId);
        let pair = (entity(), entity()).prop_map(|(head, tail)| Pair { head, tail });
        prop::collection::vec(pair, count)
    }

    struct Diverged;

    impl FewShotModel for Diverged {
        fn adapt(&self, _: &Support<'_>) -> Box<dyn AdaptedRelation + '_> {
            Box::new(self)
        }
    }

    impl AdaptedRelation for &Diverged {
        fn scores(&self, _: &[EntityId], _: &[EntityId], out: &mut [f32]) {
            out.fill(f32::NAN);
        }
    }

    #[test]
    fn no_candidates_and_nan_are_no_perfect_score() {
        let mut graph = GraphBuilder::new(Duplicates::Remove);
        graph.add_named("a", "r", "b");
        graph.add_task_relation("t").unwrap();
        let graph = graph.finish();
        let (a, b, t) = (EntityId(0), EntityId(1), graph.relation("t").unwrap());
        let evaluate = |model: &dyn FewShotModel, candidates: Vec<EntityId>| {
            let mut builder = TaskSetBuilder::default();
            builder.add_task(Split::Test, t, vec![Pair { head: a, tail: b }, Pair { head: b, tail: a }]);
            builder.add_candidates(t, candidates);
            let evaluation = FewShotEvaluation { shots: 1, ..FewShotEvaluation::default() };
            evaluation.evaluate(model, &graph, &builder.finish(), Split::Test, &())
        };
        let model = ByTable(vec![0; ENTITIES * ENTITIES]);
        let relation = "t".to_owned();
        assert_eq!(evaluate(&model, vec![]), Err(FewShotError::NoCandidates { relation: relation.clone() }));
        let expected = FewShotError::NotANumber { relation, head: "b".to_owned() };
        assert_eq!(evaluate(&Diverged, vec![a, b]), Err(expected));
        assert_eq!(evaluate(&model, vec![a, b]).unwrap().tasks[0].relation, "t");
    }

    proptest! {
        #[test]
        fn ranks_are_those_of_the_definition(
            facts in pairs(3..30),
            also_known in pairs(0..30),
            candidates in prop::collection::vec((0..ENTITIES as u32).prop_map(EntityId), 0..20),
            table in prop::collection::vec(0u8..4, ENTITIES * ENTITIES),
        ) {
            let relation = RelationId::forward(0);
            let mut builder = TaskSetBuilder::default();
            builder.add_task(Split::Test, relation, facts.clone());
            builder.add_candidates(relation, candidates.clone());
            for pair in also_known.iter().chain(&facts) {
                builder.add_known(pair.head, relation, pair.tail);
            }
            let tasks = builder.finish();
            let task = tasks.get(0);
            let episode = first_k(&task, 2).unwrap();
            let model = ByTable(table.clone());
            let ranks = FewShotEvaluation::default().ranks(&model, &tasks, &task, &episode).unwrap();
            prop_assert_eq!(ranks.len(), facts.len() - 2);
            for (query, ranked) in facts[2..].iter().zip(&ranks) {
                let score = |tail: EntityId| table[query.head.index() * ENTITIES + tail.index()];
                let set: std::collections::BTreeSet<EntityId> = candidates.iter().copied().collect();
                let is_known = |tail: EntityId| {
                    also_known.iter().chain(&facts).any(|pair| *pair == Pair { tail, ..*query })
                };
                let rivals: Vec<u8> = set
                    .into_iter()
                    .filter(|&tail| tail != query.tail && !is_known(tail))
                    .map(score)
                    .collect();
                let better = rivals.iter().filter(|&&rival| rival > score(query.tail)).count() as u64;
                let tied = rivals.iter().filter(|&&rival| rival == score(query.tail)).count() as u64;
                prop_assert_eq!(ranked.rank, Rank { better, tied });
            }
        }
    }
}
