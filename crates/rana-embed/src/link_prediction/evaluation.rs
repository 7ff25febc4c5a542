//! [`LinkPrediction`]: ranks the true ends of facts among all entities.

use rana_graph::{Fact, Observer, Unit};
use rayon::prelude::*;

use super::error::LinkPredictionError;
use super::known_answers::KnownAnswers;
use super::query::LinkQuery;
use super::rank::{FactRanks, Rank};
use super::rank_counting::{Asked, Block};
use super::report::LinkReport;
use super::scorer::LinkScorer;
use super::settings::LinkPredictionSettings;
use crate::side::Side;

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
