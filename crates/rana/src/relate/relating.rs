//! [`Predictor::relate`]: which relations may hold between two entities.

use std::sync::Arc;

use rana_eval::confidence::{RelationConfidence, RelationSigns};
use rana_fewshot::Direction;
use rana_graph::{EntityId, Fact, Pair, RelationId};
use serde::Serialize;

use super::considered_relation::ConsideredRelation;
use super::relation_scorers::{Considered, MOST_EXAMPLES, RelationScorers, evenly};
use crate::predictor::{Predictor, PredictorError, WORTH_SAYING};

/// The most reasons of an answer.
const MOST_REASONS: usize = 3;
/// Other tails that a reason compares a pair with.
const COMPARED: usize = 16;

/// A relation that the graph does not have, by pairs that it holds for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NewRelation {
    /// What it is called.
    pub name: String,
    /// Pairs that it holds for.
    pub support: Vec<Pair>,
}

/// What is wanted of [`Predictor::relate`].
#[derive(Clone, Debug, PartialEq)]
pub struct RelateRequest {
    /// At most so many relations.
    pub top: usize,
    /// Whether relations may be answered that the graph states of the pair already.
    pub include_known: bool,
    /// Relations that the graph does not have, considered beside those of the graph.
    pub new: Vec<NewRelation>,
}

impl Default for RelateRequest {
    fn default() -> Self {
        Self { top: 10, include_known: false, new: Vec::new() }
    }
}

/// A relation that may hold between two entities.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RelatedBy {
    /// Its name.
    pub relation: String,
    /// What to call it.
    pub label: String,
    /// Whether the graph has it.
    pub in_graph: bool,
    /// The chance that it holds, given that some relation does; none if too few relations could be left out to learn it.
    pub confidence: Option<f32>,
    /// What the answers are ranked by; higher is better.
    pub score: f64,
    /// Whether the graph states it.
    pub known: bool,
    /// What speaks for it, the strongest first.
    pub reasons: Vec<String>,
}

impl Predictor {
    /// The relations that may hold between a head and a tail, the likeliest first.
    ///
    /// The first call looks at the known pairs of every relation, which takes a second for hundreds of relations.
    ///
    /// # Errors
    /// If a new relation has no pairs, or the model cannot answer for relations that it was not trained on.
    pub fn relate(
        &self,
        head: EntityId,
        tail: EntityId,
        request: &RelateRequest,
    ) -> Result<Vec<RelatedBy>, PredictorError> {
        if request.new.iter().any(|new| new.support.is_empty()) {
            return Err(PredictorError::NoSupport);
        }
        let graph = self.graph();
        let pair = Pair { head, tail };
        let scorers = self.relation_scorers();
        let new: Vec<ConsideredRelation> =
            request.new.iter().map(|new| scorers.relation(None, &new.support)).collect();
        let is_known = |relation: &ConsideredRelation| {
            relation
                .relation
                .map_or_else(|| relation.support.contains(&pair), |relation| self.knows(head, relation, tail))
        };
        let is_left_out = |relation: &ConsideredRelation| !request.include_known && is_known(relation);
        let considered = scorers.consider(pair, &new, is_left_out)?;
        let relating = self.run().opened.relating.as_ref();
        let mut ranked: Vec<(f64, Considered<'_>)> = considered
            .into_iter()
            .filter(|of| of.is_close)
            .map(|of| (odds(relating, &of.signs), of))
            .collect();
        ranked.sort_by(|one, other| other.0.total_cmp(&one.0));
        ranked.truncate(request.top);
        let answer = |(score, of): (f64, Considered<'_>)| {
            let (name, label) = match of.relation.relation {
                Some(relation) => (graph.relation_name(relation).to_owned(), graph.relation_title(relation)),
                None => {
                    let at = new.iter().position(|new| std::ptr::eq(new, of.relation)).unwrap_or(0);
                    let name = &request.new[at].name;
                    (name.clone(), name.clone())
                }
            };
            Ok(RelatedBy {
                relation: name,
                label,
                in_graph: of.relation.relation.is_some(),
                confidence: relating.map(|relating| relating.confidence(&of.signs)),
                score,
                known: is_known(of.relation),
                reasons: self.relation_reasons(scorers, &of, pair)?,
            })
        };
        ranked.into_iter().map(answer).collect()
    }

    /// Whether the graph or a task that was trained on states a fact.
    fn knows(&self, head: EntityId, relation: RelationId, tail: EntityId) -> bool {
        let of_task = self.store().tasks.task(relation).filter(|task| task.split == rana_graph::Split::Train);
        self.graph().contains(head, relation, tail)
            || of_task.is_some_and(|task| task.facts.contains(&Pair { head, tail }))
    }

    /// What speaks for a relation: what the model says of the tail, and how much the ends are like those of known pairs.
    fn relation_reasons(
        &self,
        scorers: &RelationScorers,
        of: &Considered<'_>,
        pair: Pair,
    ) -> Result<Vec<String>, PredictorError> {
        let adapted = of.relation.scorer(scorers, Direction::Tails)?;
        let rivals = scorers.rivals.ids();
        let every = rivals.len().div_ceil(COMPARED).max(1);
        let others: Vec<EntityId> =
            rivals.iter().copied().step_by(every).filter(|&tail| tail != pair.tail).collect();
        let sources = adapted.reasons(pair, &others).sources.into_iter();
        let spoken = sources.filter(|reason| reason.lead > WORTH_SAYING).filter_map(|reason| reason.text);
        let mut reasons: Vec<String> = spoken.take(MOST_REASONS - 1).collect();
        reasons.push(format!(
            "the head is {:.0} % and the tail {:.0} % like those of known facts",
            100.0 * of.signs.head_likeness,
            100.0 * of.signs.tail_likeness
        ));
        Ok(reasons)
    }

    /// All relations of the graph, made ready to be compared.
    pub(crate) fn new_relation_scorers(&self) -> RelationScorers {
        let opened = &self.run().opened;
        let graph = self.graph();
        let types = graph.type_relations();
        let named = (0..graph.named_relation_count() as u32).map(RelationId::forward);
        let by_relation = graph.facts_by_relation();
        let support = |relation: RelationId| match self.store().tasks.task(relation) {
            Some(_) => self.default_support(relation).unwrap_or_default(),
            None => {
                let pair = |fact: &Fact| Pair { head: fact.head, tail: fact.tail };
                evenly(by_relation.get(relation.number()), MOST_EXAMPLES).iter().map(pair).collect()
            }
        };
        let relations = named
            .filter(|relation| !types.contains(relation))
            .map(|relation| (relation, support(relation)))
            .filter(|(_, support)| !support.is_empty())
            .collect();
        let models = [Direction::Tails, Direction::Heads].map(|direction| self.model_for(direction));
        let temperatures = [Direction::Tails, Direction::Heads]
            .map(|direction| self.calibration_for(direction).map_or(1.0, |of| of.temperature));
        let edges = opened.edges.clone().unwrap_or_else(|| Arc::clone(self.background_edges()));
        RelationScorers::new(graph, edges, models, temperatures).with(relations)
    }
}

/// What relations are ranked by. Where nothing was learned, the guess is that both margins count the same.
fn odds(relating: Option<&RelationConfidence>, signs: &RelationSigns) -> f64 {
    match relating {
        Some(relating) => relating.odds(signs),
        None => 0.3 * (signs.tail_margin + signs.head_margin) + 5.0 * f64::from(signs.likeness()),
    }
}
