//! [`TaskRanking`]: a task prepared for ranking, once for all supports and models.

use std::num::NonZeroUsize;
use std::sync::Arc;

use rana_embed::link_prediction::Rank;
use rana_fewshot::{AdaptedRelation, Episode, FewShotModel, Support};
use rana_graph::{EntityId, Graph, Pair, Split, Task, TaskSet};
use rayon::prelude::*;

use crate::candidate_policy::{CandidatePolicy, sample};
use crate::few_shot_evaluation::FewShotError;

/// A task and what its true tails compete with.
pub(crate) struct TaskRanking<'t> {
    pub(crate) task: Task<'t>,
    graph: &'t Graph,
    tasks: &'t TaskSet,
    /// In the order of ids, each once.
    candidates: Arc<[EntityId]>,
    policy: CandidatePolicy,
    seed: u64,
}

/// Queries that are scored at once: they share the rows of the candidates.
const QUERIES_PER_BLOCK: usize = 32;
/// Candidates that are scored at once; with the above, what a thread keeps in memory.
const CANDIDATES_PER_BLOCK: usize = 4096;

impl<'t> TaskRanking<'t> {
    /// The tasks of a split, in their order.
    ///
    /// # Errors
    /// If a task has nothing to rank its tails among.
    pub(crate) fn of_split(
        graph: &'t Graph,
        tasks: &'t TaskSet,
        split: Split,
        policy: CandidatePolicy,
        seed: u64,
    ) -> Result<Vec<Self>, FewShotError> {
        let all: Arc<[EntityId]> = match policy {
            CandidatePolicy::All => graph.entities().collect(),
            CandidatePolicy::Typed | CandidatePolicy::Sampled(_) => Arc::default(),
        };
        let ranking = |task: Task<'t>| {
            let candidates = match policy {
                CandidatePolicy::All => Arc::clone(&all),
                CandidatePolicy::Typed | CandidatePolicy::Sampled(_) => sorted(task.candidates),
            };
            if candidates.is_empty() {
                let relation = graph.relation_name(task.relation).to_owned();
                return Err(FewShotError::NoCandidates { relation });
            }
            Ok(Self { task, graph, tasks, candidates, policy, seed })
        };
        tasks.of(split).map(ranking).collect()
    }

    /// The name of the relation.
    pub(crate) fn relation(&self) -> &'t str {
        self.graph.relation_name(self.task.relation)
    }

    /// The label of the relation, if it has one.
    pub(crate) fn label(&self) -> Option<&'t str> {
        self.graph.relation_label(self.task.relation)
    }

    /// How many candidates a query is ranked among, known tails included.
    pub(crate) fn candidate_count(&self) -> usize {
        match self.policy {
            CandidatePolicy::Typed | CandidatePolicy::All => self.candidates.len(),
            CandidatePolicy::Sampled(count) => count.get().min(self.candidates.len()),
        }
    }

    /// Ranks the tails of an episode's queries, in their order.
    ///
    /// # Errors
    /// If the model cannot answer for the support, or a score is NaN.
    pub(crate) fn ranks(
        &self,
        model: &dyn FewShotModel,
        episode: &Episode,
        seed: u64,
    ) -> Result<Vec<Rank>, FewShotError> {
        let relation = self.adapt(model, episode, seed)?;
        let blocks: Vec<Result<Vec<Rank>, NotANumber>> = episode
            .query
            .par_chunks(QUERIES_PER_BLOCK)
            .map(|queries| match self.policy {
                CandidatePolicy::Typed | CandidatePolicy::All => self.rank_among_all(&*relation, queries),
                CandidatePolicy::Sampled(count) => {
                    queries.iter().map(|&query| self.rank_among_sample(&*relation, query, count)).collect()
                }
            })
            .collect();
        let named = |NotANumber(head)| FewShotError::NotANumber {
            relation: self.relation().to_owned(),
            head: self.graph.entity_name(head).to_owned(),
        };
        // In order, so that it is always the same query that is complained about.
        let blocks: Result<Vec<_>, _> = blocks.into_iter().collect();
        Ok(blocks.map_err(named)?.concat())
    }

    /// The relation as a model sees it after the support of an episode.
    pub(crate) fn adapt(
        &self,
        model: &dyn FewShotModel,
        episode: &Episode,
        seed: u64,
    ) -> Result<Box<dyn AdaptedRelation>, FewShotError> {
        // A model learns the same relation with every candidate policy: it gets the candidates of the task. A task
        // without candidates gives it those of the policy.
        let candidates = match self.task.candidates {
            [] => &self.candidates,
            of_the_task => of_the_task,
        };
        let refused = |source| FewShotError::Support { relation: self.relation().to_owned(), source };
        let relation = Some(self.task.relation);
        let support = Support { relation, pairs: &episode.support, candidates, rejected: &[], seed };
        model.adapt(&support).map_err(refused)
    }

    /// The answer with the highest score for the head of a query, known tails other than the right one left out; the first of
    /// equal ones.
    pub(crate) fn best_answer(&self, relation: &dyn AdaptedRelation, query: Pair) -> EntityId {
        let known = self.known_tails(query);
        let others =
            self.candidates.iter().filter(|&entity| *entity != query.tail && !known.contains(entity));
        let answers: Vec<EntityId> = std::iter::once(query.tail).chain(others.copied()).collect();
        let mut scores = vec![0.0; answers.len()];
        relation.scores(&[query.head], &answers, &mut scores);
        let better = |best: usize, at: usize| if scores[at] > scores[best] { at } else { best };
        answers[(0..answers.len()).fold(0, better)]
    }

    fn known_tails(&self, query: Pair) -> &'t [EntityId] {
        self.tasks.known_tails(query.head, self.task.relation)
    }

    fn rank_among_all(
        &self,
        relation: &dyn AdaptedRelation,
        queries: &[Pair],
    ) -> Result<Vec<Rank>, NotANumber> {
        let heads: Vec<EntityId> = queries.iter().map(|query| query.head).collect();
        let alone = |query: &Pair| {
            let mut score = [0.0];
            relation.scores(&[query.head], &[query.tail], &mut score);
            score[0]
        };
        // The score of the right tail is needed before others are counted. If all candidates are one block, it is
        // among them and is not scored separately.
        let is_one_block = self.candidates.len() <= CANDIDATES_PER_BLOCK;
        let mut right: Vec<f32> = if is_one_block { Vec::new() } else { queries.iter().map(alone).collect() };
        let mut ranks = vec![Rank::default(); queries.len()];
        let mut scores = Vec::new();
        for candidates in self.candidates.chunks(CANDIDATES_PER_BLOCK) {
            scores.resize(queries.len() * candidates.len(), 0.0);
            relation.scores(&heads, candidates, &mut scores);
            if is_one_block {
                let rows = queries.iter().zip(scores.chunks_exact(candidates.len()));
                let score = |(query, row): (&Pair, &[f32])| {
                    candidates.binary_search(&query.tail).map_or_else(|_| alone(query), |place| row[place])
                };
                right = rows.map(score).collect();
            }
            for (at, (query, row)) in queries.iter().zip(scores.chunks_exact(candidates.len())).enumerate() {
                count(&mut ranks[at], row, right[at]).map_err(|Nan| NotANumber(query.head))?;
                // The true tail is among the candidates or not; known tails may hold it or not.
                let others = self.known_tails(*query).iter().filter(|&&entity| entity != query.tail);
                for entity in others.chain(std::iter::once(&query.tail)) {
                    if let Ok(place) = candidates.binary_search(entity) {
                        ranks[at].better -= u64::from(row[place] > right[at]);
                        ranks[at].tied -= u64::from(row[place] == right[at]);
                    }
                }
            }
        }
        Ok(ranks)
    }

    fn rank_among_sample(
        &self,
        relation: &dyn AdaptedRelation,
        query: Pair,
        negatives: NonZeroUsize,
    ) -> Result<Rank, NotANumber> {
        let known = self.known_tails(query);
        let negatives = sample(negatives, self.seed, self.task.relation, query, &self.candidates, known);
        let mut right = [0.0];
        relation.scores(&[query.head], &[query.tail], &mut right);
        let mut rank = Rank::default();
        let mut scores = Vec::new();
        for negatives in negatives.chunks(CANDIDATES_PER_BLOCK) {
            scores.resize(negatives.len(), 0.0);
            relation.scores(&[query.head], negatives, &mut scores);
            count(&mut rank, &scores, right[0]).map_err(|Nan| NotANumber(query.head))?;
        }
        // Also where there is nothing to compete with, NaN is no perfect answer.
        if right[0].is_nan() { Err(NotANumber(query.head)) } else { Ok(rank) }
    }
}

/// A tail at this head is scored with NaN.
struct NotANumber(EntityId);

/// A score is NaN.
struct Nan;

/// Counts the scores that are at least as good as the right one.
fn count(rank: &mut Rank, scores: &[f32], right: f32) -> Result<(), Nan> {
    // Three sums without a branch, which the compiler turns into vector instructions.
    let (mut better, mut tied, mut worse) = (0_u32, 0_u32, 0_u32);
    for &score in scores {
        better += u32::from(score > right);
        tied += u32::from(score == right);
        worse += u32::from(score < right);
    }
    // NaN compares false with everything.
    if u64::from(better) + u64::from(tied) + u64::from(worse) != scores.len() as u64 {
        return Err(Nan);
    }
    rank.better += u64::from(better);
    rank.tied += u64::from(tied);
    Ok(())
}

fn sorted(candidates: &[EntityId]) -> Arc<[EntityId]> {
    let mut candidates = candidates.to_vec();
    candidates.sort_unstable();
    candidates.dedup();
    candidates.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_models::ByTable;
    use proptest::prelude::*;
    use rana_embed::link_prediction::TieRule;
    use rana_fewshot::first_k;
    use rana_graph::{Duplicates, GraphBuilder, TaskSetBuilder};
    use std::collections::BTreeSet;

    const ENTITIES: usize = 12;

    /// Entities `e0`, `e1`, … and the task relation `t`.
    fn graph() -> Graph {
        let mut builder = GraphBuilder::new(Duplicates::Remove);
        (0..ENTITIES).for_each(|n| {
            builder.add_named(&format!("e{n}"), "r", &format!("e{}", (n + 1) % ENTITIES));
        });
        builder.add_task_relation("t").unwrap();
        builder.finish()
    }

    fn pairs(count: std::ops::Range<usize>) -> impl Strategy<Value = Vec<Pair>> {
        let entity = || (0..ENTITIES as u32).prop_map(EntityId);
        let pair = (entity(), entity()).prop_map(|(head, tail)| Pair { head, tail });
        prop::collection::vec(pair, count)
    }

    proptest! {
        #[test]
        fn ranks_are_those_of_the_definition(
            facts in pairs(3..30),
            also_known in pairs(0..30),
            candidates in prop::collection::vec((0..ENTITIES as u32).prop_map(EntityId), 1..20),
            table in prop::collection::vec(0u8..4, ENTITIES * ENTITIES),
            policy in prop::sample::select(vec!["typed", "all", "sampled:3", "sampled:100"]),
        ) {
            let graph = graph();
            let policy: CandidatePolicy = policy.parse().unwrap();
            let relation = graph.relation("t").unwrap();
            let mut builder = TaskSetBuilder::default();
            builder.add_task(Split::Test, relation, facts.clone());
            builder.add_candidates(relation, candidates.clone());
            for pair in also_known.iter().chain(&facts) {
                builder.add_known(pair.head, relation, pair.tail);
            }
            let tasks = builder.finish();
            let rankings = TaskRanking::of_split(&graph, &tasks, Split::Test, policy, 5).unwrap();
            let ranking = &rankings[0];
            let episode = first_k(&ranking.task, 2).unwrap();
            let model = ByTable { table: table.clone(), entities: ENTITIES };
            let ranks = ranking.ranks(&model, &episode, 0).unwrap();
            prop_assert_eq!(ranks.len(), facts.len() - 2);
            let pool: BTreeSet<EntityId> = match policy {
                CandidatePolicy::All => graph.entities().collect(),
                _ => candidates.iter().copied().collect(),
            };
            for (query, &rank) in facts[2..].iter().zip(&ranks) {
                let score = |tail: EntityId| table[query.head.index() * ENTITIES + tail.index()];
                let is_known = |tail: EntityId| {
                    also_known.iter().chain(&facts).any(|pair| *pair == Pair { tail, ..*query })
                };
                let rivals: Vec<u8> = pool
                    .iter()
                    .copied()
                    .filter(|&tail| tail != query.tail && !is_known(tail))
                    .map(score)
                    .collect();
                let better = rivals.iter().filter(|&&rival| rival > score(query.tail)).count() as u64;
                let tied = rivals.iter().filter(|&&rival| rival == score(query.tail)).count() as u64;
                let by = |rule| rank.by(rule);
                prop_assert!(by(TieRule::Optimistic) <= by(TieRule::Realistic));
                prop_assert!(by(TieRule::Realistic) <= by(TieRule::Pessimistic));
                match policy {
                    CandidatePolicy::Sampled(count) if count.get() < rivals.len() => {
                        prop_assert!(rank.better <= better && rank.tied <= tied);
                        prop_assert!(rank.better + rank.tied <= count.get() as u64);
                    }
                    _ => prop_assert_eq!(rank, Rank { better, tied }),
                }
            }
        }

        #[test]
        fn the_rank_of_a_query_depends_on_neither_its_neighbours_nor_the_threads(
            facts in pairs(8..80),
            table in prop::collection::vec(0u8..4, ENTITIES * ENTITIES),
            policy in prop::sample::select(vec!["typed", "sampled:3"]),
        ) {
            let graph = graph();
            let relation = graph.relation("t").unwrap();
            let mut builder = TaskSetBuilder::default();
            builder.add_task(Split::Test, relation, facts);
            builder.add_candidates(relation, graph.entities().collect());
            let tasks = builder.finish();
            let rankings = TaskRanking::of_split(&graph, &tasks, Split::Test, policy.parse().unwrap(), 5).unwrap();
            let model = ByTable { table, entities: ENTITIES };
            let episode = first_k(&rankings[0].task, 1).unwrap();
            let on = |threads: usize, episode: &Episode| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| rankings[0].ranks(&model, episode, 0).unwrap())
            };
            let ranks = on(1, &episode);
            prop_assert_eq!(&on(3, &episode), &ranks);
            let mut reversed = episode.clone();
            reversed.query.reverse();
            let mut again = on(2, &reversed);
            again.reverse();
            prop_assert_eq!(again, ranks);
        }
    }
}
