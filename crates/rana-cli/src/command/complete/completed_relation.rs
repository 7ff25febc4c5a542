//! [`CompletedRelation`]: the output of `rana complete`, as `--json` emits it and as text.

use std::io::{self, Write};

use rana::predictor::{Direction, Explanation, LearnedRelation, NamedEntity, Predictor};
use serde::Serialize;

use super::answering::Answered;
use super::promised_precision::PromisedPrecision;
use crate::human_numbers::{counted, thousands};
use crate::terminal::{BOLD, DIM};
use crate::text_table::table;

/// A completed relation.
#[derive(Serialize)]
pub(super) struct CompletedRelation {
    relation: LearnedRow,
    /// Whether answers are tails or heads.
    direction: Direction,
    results: Vec<GivenRow>,
}

#[derive(Serialize)]
struct LearnedRow {
    name: String,
    label: String,
    #[serde(skip)]
    short: String,
    in_graph: bool,
    model: String,
    support: Vec<[NamedEntity; 2]>,
    /// The leave-one-out MRR of the support pairs.
    record: Option<f32>,
    candidates: usize,
    note: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    precision: Option<PromisedPrecision>,
}

/// The answers for a head, or for a tail.
#[derive(Serialize)]
struct GivenRow {
    #[serde(flatten)]
    given: End,
    answers: Vec<AnswerRow>,
}

/// An end of a fact, by its name.
#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum End {
    Head(NamedEntity),
    Tail(NamedEntity),
}

impl End {
    fn entity(&self) -> &NamedEntity {
        match self {
            Self::Head(entity) | Self::Tail(entity) => entity,
        }
    }
}

#[derive(Serialize)]
struct AnswerRow {
    rank: usize,
    #[serde(flatten)]
    answer: End,
    score: f32,
    confidence: Option<f32>,
    known: bool,
    withheld: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    explanation: Option<Explanation>,
}

impl CompletedRelation {
    pub(super) fn new(
        name: &str,
        predictor: &Predictor,
        learned: &LearnedRelation,
        precision: Option<PromisedPrecision>,
        answered: &[Answered],
    ) -> Self {
        let entity = |id| NamedEntity::new(learned.graph(), id);
        let known = learned.request().relation;
        let relation = LearnedRow {
            name: name.to_owned(),
            label: known.map_or_else(|| name.to_owned(), |relation| learned.graph().relation_title(relation)),
            short: learned.graph().short_name(name).into_owned(),
            in_graph: known.is_some(),
            model: predictor.model_name().to_owned(),
            support: learned.support().iter().map(|pair| [entity(pair.head), entity(pair.tail)]).collect(),
            record: learned.leave_one_out(),
            candidates: learned.candidates().len(),
            note: learned.note(),
            precision,
        };
        let direction = learned.direction();
        let end_of = |entity, is_answer: bool| match (direction == Direction::Heads) == is_answer {
            true => End::Head(entity),
            false => End::Tail(entity),
        };
        let results = answered.iter().map(|of| {
            let ends: Vec<_> =
                of.answers.iter().map(|(answer, _)| direction.turn(answer.pair).tail).collect();
            let ends = NamedEntity::list(learned.graph(), &ends);
            let answers = of.answers.iter().zip(ends).map(|((answer, explanation), end)| AnswerRow {
                rank: answer.rank,
                answer: end_of(end, true),
                score: answer.score,
                confidence: answer.confidence,
                known: answer.known,
                withheld: answer.withheld,
                explanation: explanation.clone(),
            });
            GivenRow { given: end_of(entity(of.head), false), answers: answers.collect() }
        });
        Self { relation, direction, results: results.collect() }
    }

    pub(super) fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        let LearnedRow { label, short, in_graph, model, support, record, candidates, .. } = &self.relation;
        let kind = if *in_graph { "" } else { ", new to the graph" };
        let beside = if label == short { String::new() } else { format!(" ({short})") };
        let record = record.map_or_else(String::new, |record| {
            format!("; leave-one-out MRR of the support pairs: {record:.2}")
        });
        writeln!(
            out,
            "{BOLD}{label}{BOLD:#}{beside}{kind}: learned by {model} from {}{record}; {} entities may be answers",
            counted(support.len() as u64, "pair"),
            thousands(*candidates as u64)
        )?;
        for row in self.results.iter().filter(|row| !row.answers.is_empty()) {
            let given = row.given.entity();
            writeln!(out, "\n{BOLD}{}{BOLD:#}{}", given.label, name_beside(given))?;
            let rows = row.answers.iter().map(|answer| {
                let mark = if answer.withheld { "✓" } else { "" };
                let sure =
                    answer.confidence.map_or_else(String::new, |sure| format!("{:.0} %", 100.0 * sure));
                let entity = answer.answer.entity();
                let named = format!("{}{}", entity.label, name_beside(entity));
                [answer.rank.to_string(), named, sure, format!("{:.2}", answer.score), mark.to_owned()]
            });
            writeln!(out, "{}", table(["", "answer", "confidence", "score", ""], rows))?;
            for answer in &row.answers {
                if let Some(why) = &answer.explanation {
                    print_reasons(answer.rank, &answer.answer.entity().label, why, out)?;
                }
            }
        }
        let without = self.results.iter().filter(|row| row.answers.is_empty()).count();
        if without > 0 {
            let [given, _] = self.direction.ends();
            let have = if without == 1 { " has" } else { "s have" };
            writeln!(out, "\n{DIM}{} {given}{have} no answer{DIM:#}", thousands(without as u64))?;
        }
        if self.results.iter().flat_map(|row| &row.answers).any(|answer| answer.withheld) {
            writeln!(out, "{DIM}✓ a fact that was withheld from the graph and from training{DIM:#}")?;
        }
        Ok(())
    }
}

/// The short name in brackets, if it differs from the label, and what tells namesakes apart.
fn name_beside(entity: &NamedEntity) -> String {
    let name = if entity.label == entity.short { String::new() } else { format!(" ({})", entity.short) };
    let distinction = entity.distinction.as_ref().map_or_else(String::new, |text| format!(", {text}"));
    format!("{name}{distinction}")
}

fn print_reasons(rank: usize, label: &str, why: &Explanation, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{rank}. {BOLD}{label}{BOLD:#}")?;
    for text in &why.text {
        writeln!(out, "   + {text}")?;
    }
    let looked: Vec<String> = why
        .attention
        .iter()
        .take(3)
        .map(|at| {
            let back = if at.step.inverse { "⁻¹" } else { "" };
            format!("`{}{back}` {} ({:.0} %)", at.step.label, at.neighbour.label, 100.0 * at.weight)
        })
        .collect();
    if !looked.is_empty() {
        writeln!(out, "   {DIM}strongest attention: {}{DIM:#}", looked.join(", "))?;
    }
    for text in &why.against {
        writeln!(out, "   − {text}")?;
    }
    Ok(())
}
