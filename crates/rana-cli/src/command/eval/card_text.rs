//! An evaluation card as text.

use std::io::{self, Write};

use rana::eval::{CardResult, Common, EvaluationCard, Official, Spread};

use crate::human_numbers::{decimals, thousands};
use crate::terminal::{BOLD, DIM};
use crate::text_table::table;

/// Prints a card as text.
pub(crate) fn print_card(card: &EvaluationCard, per_relation: bool, out: &mut dyn Write) -> io::Result<()> {
    let protocol = &card.protocol;
    writeln!(
        out,
        "\n{BOLD}few-shot tasks{BOLD:#}: {} {} tasks, {} shots, {} queries, candidates {}",
        protocol.tasks,
        protocol.split,
        protocol.shots,
        thousands(protocol.queries),
        protocol.candidates
    )?;
    let resampled = format!("#{} resampled", protocol.draws);
    let titles = ["official support", "#MRR", "#Hits@1", "#@5", "#@10", "#MRR of tasks", resampled.as_str()];
    writeln!(out, "{}", table(titles, card.rows().map(|(name, result)| result_row(name, result))))?;
    for (name, reason) in card.not_resampled() {
        writeln!(out, "— {name}: {reason}")?;
    }
    let ties = &card.result.official.ties;
    writeln!(
        out,
        "ties of {}: {} queries, {} candidates; MRR {} optimistic, {} realistic, {} pessimistic",
        card.model,
        thousands(ties.tied_queries),
        thousands(ties.tied_candidates),
        decimals(ties.optimistic.mrr),
        decimals(ties.realistic.mrr),
        decimals(ties.pessimistic.mrr)
    )?;
    if let Some(of) = &card.confidence {
        writeln!(
            out,
            "confidence of {} in {} answers: expected calibration error {}",
            card.model,
            thousands(of.answers),
            decimals(of.expected_error)
        )?;
    }
    if let Some(Common { queries, left_out, official, resampled, .. }) = &card.result.common {
        let left_out = match left_out {
            0 => String::new(),
            count => format!(" ({count} tasks are too small)"),
        };
        let resampled =
            resampled.map_or_else(String::new, |of| format!(", resampled {}", spread(of.micro.mrr)));
        writeln!(
            out,
            "on the {} queries common to all shots up to {}{left_out}: MRR {}{resampled}",
            thousands(*queries),
            protocol.common_shots,
            decimals(official.micro.mrr)
        )?;
    }
    if per_relation {
        writeln!(out, "{}", relation_table(card))?;
    }
    let memory = card
        .provenance
        .peak_memory_bytes
        .map_or_else(String::new, |bytes| format!(", {} at most", crate::human_numbers::bytes(bytes)));
    writeln!(out, "{DIM}{:.1} s{memory}{DIM:#}", card.provenance.seconds)
}

fn result_row(name: &str, result: &CardResult) -> [String; 7] {
    let Official { micro, macro_average, .. } = &result.official;
    let values = [micro.mrr, micro.hits_at_1, micro.hits_at_5, micro.hits_at_10, macro_average.mrr];
    let [mrr, hits1, hits5, hits10, of_tasks] = values.map(decimals);
    let resampled = match (result.resampled, &result.not_resampled) {
        (Some(of), _) => spread(of.micro.mrr),
        (None, Some(_)) => "—".to_owned(),
        (None, None) => String::new(),
    };
    [name.to_owned(), mrr, hits1, hits5, hits10, of_tasks, resampled]
}

fn relation_table(card: &EvaluationCard) -> String {
    let titles = ["relation", "#candidates", "#queries", "#MRR", "#Hits@1", "#@5", "#@10", "#resampled"];
    let rows = card.per_relation.iter().map(|of| {
        let official = of.official;
        let values = [official.mrr, official.hits_at_1, official.hits_at_5, official.hits_at_10];
        let [mrr, hits1, hits5, hits10] = values.map(decimals);
        let counts = [of.candidates as u64, of.queries].map(thousands);
        let [candidates, queries] = counts;
        let resampled = of.resampled.map_or_else(String::new, |of| spread(of.mrr));
        let name = of.label.as_ref().unwrap_or(&of.relation).clone();
        [name, candidates, queries, mrr, hits1, hits5, hits10, resampled]
    });
    table(titles, rows)
}

fn spread(Spread { mean, sd }: Spread) -> String {
    format!("{mean:.3} ± {sd:.3}")
}
