//! [`Block`]: counts filtered ranks, a block of queries and candidates at a time.
//!
//! A scorer may score a block approximately, within a stated error. Candidates that are too close to the right answer
//! for that are scored again, exactly.

use rana_graph::EntityId;

use super::error::LinkPredictionError;
use super::known_answers::KnownAnswers;
use super::query::LinkQuery;
use super::rank::Rank;
use super::scorer::LinkScorer;

/// One end of a fact, as a query.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Asked {
    pub(super) query: LinkQuery,
    pub(super) answer: EntityId,
    /// The position of the fact.
    pub(super) fact: usize,
}

/// A block of queries, each with the facts that have it.
pub(super) struct Block<'a> {
    scorer: &'a dyn LinkScorer,
    known: &'a KnownAnswers,
    questions: &'a [&'a [Asked]],
    queries: Vec<LinkQuery>,
    /// The exact score of every right answer, query by query.
    right: Vec<f32>,
    scores: &'a mut Vec<f32>,
}

impl<'a> Block<'a> {
    pub(super) fn new(
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
    pub(super) fn rank(self, candidates_per_block: usize) -> Result<Vec<Rank>, LinkPredictionError> {
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
            return Err(LinkPredictionError::not_a_number(self.query, EntityId((self.start + at) as u32)));
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
                return Err(LinkPredictionError::inconsistent(self.query, answer));
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
    if score[0].is_nan() { Err(LinkPredictionError::not_a_number(query, candidate)) } else { Ok(score[0]) }
}
