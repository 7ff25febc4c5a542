//! Link prediction: evaluates vectors on held-out facts.

use std::io::{self, Write};

use rana::embed::EmbeddingSet;
use rana::embed::link_prediction::{
    KnownAnswers, LinkPrediction, LinkPredictionSettings, LinkReport, Metrics, RelationReport, TieRule,
};
use rana::graph::{Graph, HeldOut, Store};
use serde::Serialize;

use crate::error::CliError;
use crate::human_numbers::{decimals, thousands};
use crate::terminal::{BOLD, Terminal};
use crate::text_table::table;

/// The results on one set of held-out facts.
#[derive(Serialize)]
pub(crate) struct FactsReport {
    on: HeldOut,
    facts: usize,
    tie_rule: TieRule,
    head: Metrics,
    tail: Metrics,
    both: Metrics,
    relations: Option<Vec<NamedRelation>>,
}

#[derive(Serialize)]
struct NamedRelation {
    relation: String,
    head: Metrics,
    tail: Metrics,
    both: Metrics,
}

impl FactsReport {
    pub(super) fn of(
        part: HeldOut,
        store: &Store,
        set: &EmbeddingSet,
        settings: LinkPredictionSettings,
        terminal: &Terminal,
    ) -> Result<Self, CliError> {
        let graph = &store.graph;
        let facts = graph.held_out(part);
        if facts.is_empty() {
            return Err(CliError::NoHeldOut { store: store.path.display().to_string(), part });
        }
        let known = KnownAnswers::of_graph(graph);
        let evaluation = LinkPrediction::new(settings)?;
        let report = evaluation.evaluate(&set.vectors(), facts, &known, &terminal.progress())?;
        let LinkReport { tie_rule, head, tail, both, relations } = report;
        let name = |RelationReport { relation, head, tail, both }| {
            let relation = graph.relation_name(relation).to_owned();
            NamedRelation { relation, head, tail, both }
        };
        let relations = relations.map(|relations| relations.into_iter().map(name).collect());
        Ok(Self { on: part, facts: facts.len(), tie_rule, head, tail, both, relations })
    }

    pub(super) fn print(&self, graph: &Graph, out: &mut dyn Write) -> io::Result<()> {
        writeln!(
            out,
            "\n{BOLD}link prediction{BOLD:#} on {} {} facts, among all {} entities",
            thousands(self.facts as u64),
            self.on,
            thousands(graph.entity_count() as u64)
        )?;
        let sides = [("head", &self.head), ("tail", &self.tail), ("both", &self.both)];
        let rows = sides.map(|(side, metrics)| row(side.to_owned(), metrics));
        writeln!(out, "{}", metrics_table("side", rows))?;
        if let Some(relations) = &self.relations {
            let rows = relations.iter().map(|of| row(of.relation.clone(), &of.both));
            writeln!(out, "{}", metrics_table("relation, both sides", rows))?;
        }
        Ok(())
    }
}

fn metrics_table(title: &str, rows: impl IntoIterator<Item = [String; 8]>) -> String {
    table([title, "#number", "#MRR", "#Hits@1", "#@3", "#@5", "#@10", "#ties"], rows)
}

fn row(title: String, metrics: &Metrics) -> [String; 8] {
    let values = [metrics.mrr, metrics.hits_at_1, metrics.hits_at_3, metrics.hits_at_5, metrics.hits_at_10]
        .map(decimals);
    let [mrr, hits1, hits3, hits5, hits10] = values;
    [title, thousands(metrics.queries), mrr, hits1, hits3, hits5, hits10, thousands(metrics.ties)]
}
