//! [`AnswerRows`]: answers as a table.

use std::sync::Arc;

use arrow_array::builder::{BooleanBuilder, Float32Builder, Int64Builder, ListBuilder, StringBuilder};
use rana::graph::Graph;
use rana::predictor::{Answer, NamedEntity};

use crate::failure::Outcome;
use crate::table::Table;

/// Collects answers.
#[derive(Default)]
pub(crate) struct AnswerRows {
    head: StringBuilder,
    relation: StringBuilder,
    tail: StringBuilder,
    rank: Int64Builder,
    score: Float32Builder,
    confidence: Float32Builder,
    known: BooleanBuilder,
    head_label: StringBuilder,
    tail_label: StringBuilder,
    reasons: Option<ListBuilder<StringBuilder>>,
}

impl AnswerRows {
    /// With a column for reasons, or without.
    pub(crate) fn new(has_reasons: bool) -> Self {
        Self { reasons: has_reasons.then(ListBuilder::default), ..Self::default() }
    }

    /// Adds an answer with its reasons.
    pub(crate) fn add(&mut self, graph: &Graph, relation: &str, answer: &Answer, reasons: &[String]) {
        let (head, tail) = (answer.pair.head, answer.pair.tail);
        self.head.append_value(graph.entity_name(head));
        self.relation.append_value(relation);
        self.tail.append_value(graph.entity_name(tail));
        self.rank.append_value(i64::try_from(answer.rank).unwrap_or(i64::MAX));
        self.score.append_value(answer.score);
        self.confidence.append_option(answer.confidence);
        self.known.append_value(answer.known || answer.withheld);
        self.head_label.append_option(graph.entity_label(head));
        self.tail_label.append_option(graph.entity_label(tail));
        if let Some(list) = &mut self.reasons {
            reasons.iter().for_each(|reason| list.values().append_value(reason));
            list.append(true);
        }
    }

    /// The table.
    pub(crate) fn finish(mut self) -> Outcome<Table> {
        let mut columns: Vec<(&str, arrow_array::ArrayRef)> = vec![
            ("head", Arc::new(self.head.finish())),
            ("relation", Arc::new(self.relation.finish())),
            ("tail", Arc::new(self.tail.finish())),
            ("rank", Arc::new(self.rank.finish())),
            ("score", Arc::new(self.score.finish())),
            ("confidence", Arc::new(self.confidence.finish())),
            ("known", Arc::new(self.known.finish())),
            ("head_label", Arc::new(self.head_label.finish())),
            ("tail_label", Arc::new(self.tail_label.finish())),
        ];
        if let Some(mut reasons) = self.reasons {
            columns.push(("reasons", Arc::new(reasons.finish())));
        }
        Ok(Table::new(columns)?)
    }
}

/// What an entity is called, for people.
pub(crate) fn called(entity: &NamedEntity) -> String {
    if entity.label == entity.name {
        entity.label.clone()
    } else {
        format!("{} ({})", entity.label, entity.short)
    }
}
