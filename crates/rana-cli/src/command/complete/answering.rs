//! [`Answering`]: completes heads with a learned relation.

use rana::answer_writer::AnsweredFact;
use rana::graph::{EntityId, Pair};
use rana::predictor::{Answer, AnswerLimits, Explanation, LearnedRelation, for_each_head};
use rayon::prelude::*;

use crate::terminal::Terminal;

/// How many heads are asked again to say why there is no answer.
const ASKED_AGAIN: usize = 512;

/// A learned relation and what is wanted of it.
pub(super) struct Answering<'a> {
    pub(super) learned: &'a LearnedRelation,
    pub(super) limits: AnswerLimits,
    pub(super) reasons: bool,
    /// The other ends, if pairs are judged.
    pub(super) others: Option<Vec<EntityId>>,
}

/// The answers of a head, or of a tail.
pub(super) struct Answered {
    pub(super) head: EntityId,
    pub(super) answers: Vec<(Answer, Option<Explanation>)>,
}

impl Answering<'_> {
    fn complete(&self, head: EntityId) -> Answered {
        let answers = match &self.others {
            None => self.learned.complete(head, &self.limits),
            Some(others) => {
                let judged = others.iter().map(|&tail| self.learned.judge(Pair { head, tail }));
                let mut judged: Vec<Answer> = judged.collect();
                judged.sort_by_key(|answer| answer.rank);
                judged
            }
        };
        let explain = |pair: Pair| self.reasons.then(|| self.learned.explain(pair.head, pair.tail));
        Answered { head, answers: answers.into_iter().map(|answer| (answer, explain(answer.pair))).collect() }
    }

    /// Completes heads and hands their answers over in order; no more wait in memory than are made at once.
    pub(super) fn each<E>(
        &self,
        heads: &[EntityId],
        terminal: &Terminal,
        take: &mut dyn FnMut(Answered) -> Result<(), E>,
    ) -> Result<(), E> {
        // The bar never asks to stop.
        for_each_head(heads, &terminal.progress(), |head| self.complete(head), take).map(|_| ())
    }

    /// All answers; if heads were not named one by one, the surest first.
    pub(super) fn all(&self, heads: &[EntityId], is_bulk: bool, terminal: &Terminal) -> Vec<Answered> {
        let mut all = Vec::new();
        let collected: Result<(), std::convert::Infallible> = self.each(heads, terminal, &mut |answered| {
            all.push(answered);
            Ok(())
        });
        match collected {
            Ok(()) => {}
        }
        if is_bulk {
            let sure = |of: &Answered| {
                of.answers.first().map_or((f32::MIN, f32::MIN), |(answer, _)| {
                    (answer.confidence.unwrap_or(f32::MIN), answer.score)
                })
            };
            all.sort_by(|one, other| {
                let ((one, one_score), (other, other_score)) = (sure(one), sure(other));
                other.total_cmp(&one).then(other_score.total_cmp(&one_score))
            });
        }
        all
    }

    /// Why there is no answer at all: the limits, if any answer is there without them.
    pub(super) fn why_no_answer(&self, heads: &[EntityId]) -> String {
        let first = &heads[..heads.len().min(ASKED_AGAIN)];
        let unlimited = AnswerLimits { top: 1, min_score: None, min_confidence: None };
        let surest = first
            .par_iter()
            .filter_map(|&head| self.learned.complete(head, &unlimited).first()?.confidence)
            .max_by(f32::total_cmp);
        match (surest, self.limits.min_confidence) {
            _ if heads.is_empty() => "no answer: there are no heads".to_owned(),
            (Some(surest), Some(least)) if surest < least => format!(
                "no answer is that sure: {:.0} % is needed, and the surest has {:.0} %. Give more examples, or ask for less",
                100.0 * least,
                100.0 * surest
            ),
            _ => "no answer: there is no candidate that is not known already, or none within the limits"
                .to_owned(),
        }
    }

    /// An answer as data.
    pub(super) fn fact<'f>(
        &'f self,
        relation: &'f str,
        answer: &Answer,
        explanation: Option<&Explanation>,
    ) -> AnsweredFact<'f> {
        let graph = self.learned.graph();
        let Pair { head, tail } = answer.pair;
        AnsweredFact {
            head: graph.entity_name(head),
            relation,
            tail: graph.entity_name(tail),
            head_label: graph.entity_label(head),
            tail_label: graph.entity_label(tail),
            rank: Some(answer.rank as u32),
            score: Some(answer.score),
            confidence: answer.confidence,
            known: answer.known,
            reviewed: false,
            reasons: explanation.map(|why| why.text.clone()).unwrap_or_default(),
        }
    }
}
