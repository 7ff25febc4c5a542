//! [`LinkPrediction`]: ranks the true ends of facts among all entities.

use rana_graph::{EntityId, Fact, Observer, Unit};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::known_answers::KnownAnswers;
use super::query::LinkQuery;
use super::rank::{FactRanks, Rank, TieRule};
use super::report::LinkReport;
use super::scorer::LinkScorer;
use crate::side::Side;

/// The settings of an evaluation; [`LinkPrediction`] is the checked form.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LinkPredictionSettings {
    /// The tie rule.
    pub tie_rule: TieRule,
    /// Whether the report also has results per relation.
    pub per_relation: bool,
    /// How many queries a thread scores at once.
    pub queries_per_block: usize,
    /// How many candidates a thread scores at once. The product of both is the number of scores in memory per thread.
    pub candidates_per_block: usize,
}

impl Default for LinkPredictionSettings {
    /// Half a mebibyte of scores per thread, which fits the cache.
    fn default() -> Self {
        Self {
            tie_rule: TieRule::default(),
            per_relation: false,
            queries_per_block: 32,
            candidates_per_block: 4096,
        }
    }
}

/// Why an evaluation fails.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LinkPredictionError {
    /// A block size is zero.
    #[error("`{field}` is 0; it must be at least 1")]
    EmptyBlock {
        /// The field.
        field: &'static str,
    },
    /// A fact has an entity without a vector.
    #[error(
        "entity {entity} of a fact is not among the {entities} entities of the model: the vectors belong to another graph"
    )]
    UnknownEntity {
        /// The entity's id.
        entity: u32,
        /// How many there are.
        entities: usize,
    },
    /// A fact has a relation without a vector.
    #[error(
        "relation {relation} of a fact is not among the {relations} relations of the model, which was not trained \
         on it: leave its facts out, or train on some of them"
    )]
    UnknownRelation {
        /// The relation's number.
        relation: usize,
        /// How many there are.
        relations: usize,
    },
    /// A score is NaN.
    #[error(
        "the model scores entity {candidate} as the {side} of relation {relation} at entity {anchor} with NaN, which has \
         no rank. Its vectors have diverged: train again with a smaller learning rate"
    )]
    NotANumber {
        /// The side of the query.
        side: Side,
        /// The relation's number.
        relation: usize,
        /// The known entity of the query.
        anchor: u32,
        /// The candidate.
        candidate: u32,
    },
    /// A score depends on the other candidates in its block.
    #[error(
        "the model scores entity {candidate} as the {side} of relation {relation} at entity {anchor} differently on its \
         own and among others. A `LinkScorer` must not: this is a bug in it"
    )]
    Inconsistent {
        /// The side of the query.
        side: Side,
        /// The relation's number.
        relation: usize,
        /// The known entity of the query.
        anchor: u32,
        /// The candidate.
        candidate: u32,
    },
}

/// An evaluation of link prediction with checked settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkPrediction {
    settings: LinkPredictionSettings,
}

impl LinkPrediction {
    /// Checks the settings.
    ///
    /// # Errors
    /// If a block is empty.
    pub fn new(settings: LinkPredictionSettings) -> Result<Self, LinkPredictionError> {
        for (field, size) in [
            ("queries_per_block", settings.queries_per_block),
            ("candidates_per_block", settings.candidates_per_block),
        ] {
            if size == 0 {
                return Err(LinkPredictionError::EmptyBlock { field });
            }
        }
        Ok(Self { settings })
    }

    /// The settings.
    #[must_use]
    pub const fn settings(&self) -> &LinkPredictionSettings {
        &self.settings
    }

    /// Ranks both ends of every fact and summarises the ranks.
    ///
    /// # Errors
    /// If a score is NaN or inconsistent, or the scorer does not know an entity or a relation of a fact.
    pub fn evaluate(
        &self,
        scorer: &dyn LinkScorer,
        facts: &[Fact],
        known: &KnownAnswers,
        progress: &dyn Observer,
    ) -> Result<LinkReport, LinkPredictionError> {
        let ranks = self.ranks(scorer, facts, known, progress)?;
        Ok(LinkReport::of(&ranks, self.settings.tie_rule, self.settings.per_relation))
    }

    /// Ranks both ends of every fact among all entities. Other known answers are left out.
    ///
    /// # Errors
    /// As [`evaluate`](Self::evaluate).
    pub fn ranks(
        &self,
        scorer: &dyn LinkScorer,
        facts: &[Fact],
        known: &KnownAnswers,
        progress: &dyn Observer,
    ) -> Result<Vec<FactRanks>, LinkPredictionError> {
        let entities = scorer.entities();
        if let Some(entity) =
            facts.iter().flat_map(|fact| [fact.head, fact.tail]).find(|entity| entity.index() >= entities)
        {
            return Err(LinkPredictionError::UnknownEntity { entity: entity.0, entities });
        }
        let relations = scorer.relations();
        if let Some(fact) = facts.iter().find(|fact| fact.relation.number() >= relations) {
            return Err(LinkPredictionError::UnknownRelation { relation: fact.relation.number(), relations });
        }
        let asked = sorted_questions(facts);
        // Facts with the same query share its scores.
        let questions: Vec<&[Asked]> = asked.chunk_by(|a, b| a.query == b.query).collect();
        progress.begin("ranking", Some(asked.len() as u64), Unit::Facts);
        let blocks: Vec<Result<Vec<Rank>, LinkPredictionError>> = questions
            .par_chunks(self.settings.queries_per_block)
            .map_init(Vec::new, |scores, questions| {
                let ranks = Block::new(scorer, known, questions, scores)
                    .and_then(|block| block.rank(self.settings.candidates_per_block));
                progress.advance(questions.iter().map(|asked| asked.len() as u64).sum());
                ranks
            })
            .collect();
        progress.end();
        // If there are several errors, the first in order is returned, regardless of the threads.
        let ranks = blocks.into_iter().collect::<Result<Vec<_>, _>>()?.into_iter().flatten();
        let mut ranked: Vec<FactRanks> =
            facts.iter().map(|&fact| FactRanks { fact, ..FactRanks::default() }).collect();
        for (asked, rank) in asked.iter().zip(ranks) {
            let ranks = &mut ranked[asked.fact];
            match asked.query.side {
                Side::Head => ranks.head = rank,
                Side::Tail => ranks.tail = rank,
            }
        }
        Ok(ranked)
    }
}

/// One end of a fact, as a query.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Asked {
    query: LinkQuery,
    answer: EntityId,
    /// The position of the fact.
    fact: usize,
}

/// The queries of the facts, sorted: equal queries are adjacent, and queries of one relation close together.
fn sorted_questions(facts: &[Fact]) -> Vec<Asked> {
    let mut asked: Vec<Asked> = facts
        .iter()
        .enumerate()
        .flat_map(|(at, &fact)| {
            Side::ALL.map(|side| {
                let (query, answer) = LinkQuery::of(fact, side);
                Asked { query, answer, fact: at }
            })
        })
        .collect();
    asked.par_sort_unstable();
    asked
}

/// A block of queries, each with the facts that have it.
struct Block<'a> {
    scorer: &'a dyn LinkScorer,
    known: &'a KnownAnswers,
    questions: &'a [&'a [Asked]],
    queries: Vec<LinkQuery>,
    /// The exact score of every right answer, query by query.
    right: Vec<f32>,
    scores: &'a mut Vec<f32>,
}

impl<'a> Block<'a> {
    fn new(
        scorer: &'a dyn LinkScorer,
        known: &'a KnownAnswers,
        questions: &'a [&'a [Asked]],
        scores: &'a mut Vec<f32>,
    ) -> Result<Self, LinkPredictionError> {
        let queries = questions.iter().map(|asked| asked[0].query).collect();
        let right = questions
            .iter()
            .copied()
            .flatten()
            .map(|asked| exact_score(scorer, asked.query, asked.answer))
            .collect::<Result<_, _>>()?;
        Ok(Self { scorer, known, questions, queries, right, scores })
    }

    /// The rank of every right answer, query by query.
    fn rank(self, candidates_per_block: usize) -> Result<Vec<Rank>, LinkPredictionError> {
        let entities = self.scorer.entities();
        let mut ranks = vec![Rank::default(); self.right.len()];
        for start in (0..entities).step_by(candidates_per_block) {
            let candidates = start..entities.min(start + candidates_per_block);
            self.scores.clear();
            self.scores.resize(self.queries.len() * candidates.len(), 0.0);
            let slack = self.scorer.approximate_scores(&self.queries, candidates.clone(), self.scores);
            let mut at = 0;
            for (question, row) in self.questions.iter().zip(self.scores.chunks_exact(candidates.len())) {
                let part = Part { scorer: self.scorer, query: question[0].query, start, row, slack };
                part.refuse_nan()?;
                let known = part.those_within(self.known.answers(part.query));
                for asked in *question {
                    part.count(&mut ranks[at], asked.answer, self.right[at], known)?;
                    at += 1;
                }
            }
        }
        Ok(ranks)
    }
}

/// The scores of consecutive candidates for one query.
struct Part<'a> {
    scorer: &'a dyn LinkScorer,
    query: LinkQuery,
    /// The first candidate.
    start: usize,
    row: &'a [f32],
    /// The largest error of the scores.
    slack: f32,
}

impl Part<'_> {
    fn refuse_nan(&self) -> Result<(), LinkPredictionError> {
        // Counting can be vectorised; searching for the first cannot.
        if self.row.iter().map(|score| u32::from(score.is_nan())).sum::<u32>() > 0 {
            let at = self.row.iter().position(|score| score.is_nan()).unwrap_or(0);
            return Err(not_a_number(self.query, EntityId((self.start + at) as u32)));
        }
        Ok(())
    }

    /// The part of a sorted list that is among these candidates.
    fn those_within<'e>(&self, entities: &'e [EntityId]) -> &'e [EntityId] {
        let below = |end: usize| entities.partition_point(|entity| entity.index() < end);
        &entities[below(self.start)..below(self.start + self.row.len())]
    }

    /// The range of approximate scores in which a candidate may be exactly as good as the right answer.
    fn bounds(&self, right: f32) -> (f32, f32) {
        if self.slack == 0.0 {
            (right, right)
        } else if self.slack.is_finite() {
            // One step wider, because the sums are rounded too.
            ((right - self.slack).next_down(), (right + self.slack).next_up())
        } else {
            (f32::NEG_INFINITY, f32::INFINITY)
        }
    }

    /// Counts the candidates at least as good as the right answer. Other known answers are left out.
    fn count(
        &self,
        rank: &mut Rank,
        answer: EntityId,
        right: f32,
        known: &[EntityId],
    ) -> Result<(), LinkPredictionError> {
        let (low, high) = self.bounds(right);
        let mut better = 0;
        let mut close = 0;
        for &score in self.row {
            better += u32::from(score > high);
            close += u32::from(score >= low && score <= high);
        }
        for entity in known.iter().filter(|&&entity| entity != answer) {
            let score = self.row[entity.index() - self.start];
            better -= u32::from(score > high);
            close -= u32::from(score >= low && score <= high);
        }
        rank.better += u64::from(better);
        if let Some(score) = answer.index().checked_sub(self.start).and_then(|at| self.row.get(at)) {
            if !(low..=high).contains(score) {
                return Err(inconsistent(self.query, answer));
            }
            close -= 1;
        }
        if self.slack == 0.0 {
            rank.tied += u64::from(close);
        } else if close > 0 {
            self.count_exactly(rank, answer, right, known)?;
        }
        Ok(())
    }

    /// Scores the candidates close to the right answer again, exactly, and counts them.
    fn count_exactly(
        &self,
        rank: &mut Rank,
        answer: EntityId,
        right: f32,
        known: &[EntityId],
    ) -> Result<(), LinkPredictionError> {
        let (low, high) = self.bounds(right);
        for (at, _) in self.row.iter().enumerate().filter(|(_, score)| **score >= low && **score <= high) {
            let candidate = EntityId((self.start + at) as u32);
            if candidate == answer || known.binary_search(&candidate).is_ok() {
                continue;
            }
            let score = exact_score(self.scorer, self.query, candidate)?;
            rank.better += u64::from(score > right);
            rank.tied += u64::from(score == right);
        }
        Ok(())
    }
}

fn exact_score(
    scorer: &dyn LinkScorer,
    query: LinkQuery,
    candidate: EntityId,
) -> Result<f32, LinkPredictionError> {
    let mut score = [0.0];
    scorer.scores(&[query], candidate.index()..candidate.index() + 1, &mut score);
    if score[0].is_nan() { Err(not_a_number(query, candidate)) } else { Ok(score[0]) }
}

fn not_a_number(LinkQuery { side, relation, anchor }: LinkQuery, candidate: EntityId) -> LinkPredictionError {
    LinkPredictionError::NotANumber {
        side,
        relation: relation.number(),
        anchor: anchor.0,
        candidate: candidate.0,
    }
}

fn inconsistent(LinkQuery { side, relation, anchor }: LinkQuery, candidate: EntityId) -> LinkPredictionError {
    LinkPredictionError::Inconsistent {
        side,
        relation: relation.number(),
        anchor: anchor.0,
        candidate: candidate.0,
    }
}
