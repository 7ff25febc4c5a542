//! Completing a relation by names: what a program needs that knows no ids.

use rana_fewshot::Direction;
use rana_graph::{EntityId, Pair, RelationId, TypeId};
use serde::Serialize;

use super::answer_limits::AnswerLimits;
use super::error::PredictorError;
use super::learned_relation::LearnedRelation;
use super::name_lookup::{UnknownRelation, entity_by_last_part, relation, type_called};
use super::predictor::Predictor;
use super::relation_request::RelationRequest;
use super::{Answer, Explanation};
use crate::search::Unresolved;

/// What is said where no evidence stands out.
const NO_REASON: &str = "no evidence stands out; it only scores higher than other candidates";

/// An answer in words.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NamedAnswer {
    /// What to call it: its label, or its name if it has none.
    pub label: String,
    /// Its name in the graph, which no other has.
    pub name: String,
    /// The chance that it is right, from 0 to 1. None where too few examples tell; [`LearnedRelation::note`] says why.
    pub confidence: Option<f32>,
    /// Its score. Higher is better, and it can be compared among the answers of one relation only.
    pub score: f32,
    /// Whether it is no news: a fact of the graph, or of a task that was withheld from it.
    pub known: bool,
    /// The strongest reason for it, in a sentence. [`LearnedRelation::explain`] has all of them.
    pub reason: String,
}

impl Predictor {
    /// The entity that a text names: by its name, by a label that no other entity has, or by the last part of its IRI.
    ///
    /// # Errors
    /// If there is no such entity, or several have the label; names that may be meant are offered.
    pub fn entity(&self, text: &str) -> Result<EntityId, Unresolved> {
        let graph = self.graph();
        // Names need no index, and reading millions of labels takes a while.
        let by_short_name = || graph.entity(&graph.prefixes().expand(text)?);
        if let Some(entity) = graph.entity(text).or_else(by_short_name) {
            return Ok(entity);
        }
        self.names().resolve(graph, text).or_else(|error| match error.is_ambiguous {
            true => Err(error),
            false => entity_by_last_part(graph, text).ok_or(error),
        })
    }

    /// The relation that a text names: by its name, by its label, or by the last part of its IRI.
    ///
    /// # Errors
    /// If there is none, or several may be meant; relations that may be meant are offered.
    pub fn relation(&self, text: &str) -> Result<RelationId, UnknownRelation> {
        relation(self.graph(), text)
    }

    /// The type that a text names: by its name, its label, or the last part of its IRI.
    #[must_use]
    pub fn type_called(&self, text: &str) -> Option<TypeId> {
        type_called(self.graph(), text)
    }

    /// Learns a relation of the graph from pairs of entities, all by name or label.
    ///
    /// # Errors
    /// If a text names no relation or entity, or the pairs cannot be learned from.
    pub fn learn_named(
        &self,
        relation: &str,
        pairs: &[(&str, &str)],
    ) -> Result<LearnedRelation, PredictorError> {
        self.learn_pairs(Some(self.relation(relation)?), pairs, Direction::Tails)
    }

    /// The same, to answer with heads: [`LearnedRelation::answers`] then takes a tail.
    ///
    /// # Errors
    /// As [`learn_named`](Self::learn_named).
    pub fn learn_named_heads(
        &self,
        relation: &str,
        pairs: &[(&str, &str)],
    ) -> Result<LearnedRelation, PredictorError> {
        self.learn_pairs(Some(self.relation(relation)?), pairs, Direction::Heads)
    }

    /// Learns a relation that the graph does not have from pairs of entities, by name or label.
    ///
    /// # Errors
    /// If a text names no entity, or the pairs cannot be learned from.
    pub fn learn_new(&self, pairs: &[(&str, &str)]) -> Result<LearnedRelation, PredictorError> {
        self.learn_pairs(None, pairs, Direction::Tails)
    }

    fn learn_pairs(
        &self,
        relation: Option<RelationId>,
        pairs: &[(&str, &str)],
        direction: Direction,
    ) -> Result<LearnedRelation, PredictorError> {
        let pair = |&(head, tail): &(&str, &str)| -> Result<Pair, Unresolved> {
            Ok(Pair { head: self.entity(head)?, tail: self.entity(tail)? })
        };
        self.learn(RelationRequest {
            relation,
            support: pairs.iter().map(pair).collect::<Result<_, _>>()?,
            direction,
            ..RelationRequest::default()
        })
    }
}

impl LearnedRelation {
    /// The best answers for a head, or for a tail if heads are asked for, given by name or label: at most `top`, the best
    /// first.
    ///
    /// # Errors
    /// If the text names no entity.
    pub fn answers(&self, head: &str, top: usize) -> Result<Vec<NamedAnswer>, Unresolved> {
        let head = self.predictor.entity(head)?;
        let answers = self.complete(head, &AnswerLimits { top, ..AnswerLimits::default() });
        Ok(answers.into_iter().map(|answer| self.in_words(&answer)).collect())
    }

    fn in_words(&self, answer: &Answer) -> NamedAnswer {
        let Explanation { head, tail, text, .. } = self.explain(answer.pair.head, answer.pair.tail);
        let answered = if self.direction() == Direction::Heads { head } else { tail };
        NamedAnswer {
            label: answered.label,
            name: answered.name,
            confidence: answer.confidence,
            score: answer.score,
            known: answer.known || answer.withheld,
            reason: text.into_iter().next().unwrap_or_else(|| NO_REASON.to_owned()),
        }
    }
}
