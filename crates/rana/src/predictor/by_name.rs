//! Completing a relation by names: what a program needs that knows no ids.

use rana_graph::{EntityId, Pair};
use serde::Serialize;

use super::error::PredictorError;
use super::learned_relation::LearnedRelation;
use super::predictor::Predictor;
use super::request::{AnswerLimits, RelationRequest};
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
    /// The entity that a text names: by its name, or by a label that no other entity has.
    ///
    /// # Errors
    /// If there is no such entity, or several have the label; names that may be meant are offered.
    pub fn entity(&self, text: &str) -> Result<EntityId, Unresolved> {
        let graph = self.graph();
        // Names need no index, and reading millions of labels takes a while.
        graph.entity(text).map_or_else(|| self.names().resolve(graph, text), Ok)
    }

    /// Learns a relation from pairs of entities, all by name or label.
    ///
    /// A relation that the graph does not have is a new one.
    ///
    /// # Errors
    /// If a text names no entity, or the pairs cannot be learned from.
    pub fn learn_named(
        &self,
        relation: &str,
        pairs: &[(&str, &str)],
    ) -> Result<LearnedRelation, PredictorError> {
        let pair = |&(head, tail): &(&str, &str)| -> Result<Pair, Unresolved> {
            Ok(Pair { head: self.entity(head)?, tail: self.entity(tail)? })
        };
        self.learn(RelationRequest {
            relation: self.graph().relation_called(relation),
            support: pairs.iter().map(pair).collect::<Result<_, _>>()?,
            ..RelationRequest::default()
        })
    }
}

impl LearnedRelation {
    /// The best answers for a head, which is given by name or label: at most `top`, the best first.
    ///
    /// # Errors
    /// If the text names no entity.
    pub fn answers(&self, head: &str, top: usize) -> Result<Vec<NamedAnswer>, Unresolved> {
        let head = self.predictor.entity(head)?;
        let answers = self.complete(head, &AnswerLimits { top, ..AnswerLimits::default() });
        Ok(answers.into_iter().map(|answer| self.in_words(&answer)).collect())
    }

    fn in_words(&self, answer: &Answer) -> NamedAnswer {
        let Explanation { tail, text, .. } = self.explain(answer.pair.head, answer.pair.tail);
        NamedAnswer {
            label: tail.label,
            name: tail.name,
            confidence: answer.confidence,
            score: answer.score,
            known: answer.known || answer.withheld,
            reason: text.into_iter().next().unwrap_or_else(|| NO_REASON.to_owned()),
        }
    }
}
