//! `rana inspect`: shows what a graph store holds.

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Instant;

use clap::{Args, ValueHint};
use rana::graph::{Manifest, Statistics, Store};
use serde::Serialize;

use super::few_shot_args::FewShotArgs;
use crate::error::CliError;
use crate::human_numbers::thousands;
use crate::terminal::{BOLD, DIM, Terminal};
use crate::text_table::table;

/// Show what is in a graph store: counts, degrees, relations, tasks.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  rana inspect kg
  rana inspect kg --relations 100 --more-than 10 --less-than 200
  rana inspect kg --json | jq '.relation_table[] | select(.few_shot) | .name'")]
pub(crate) struct InspectArgs {
    /// The graph store.
    #[arg(value_name = "KG", value_hint = ValueHint::DirPath)]
    store: PathBuf,
    /// How many relations to list (all of them with --json).
    #[arg(long, value_name = "N", default_value_t = 20)]
    relations: usize,
    #[command(flatten)]
    few_shot: FewShotArgs,
}

pub(crate) fn run(args: &InspectArgs, terminal: &Terminal) -> Result<(), CliError> {
    let start = Instant::now();
    let store = Store::open(&args.store)?;
    let open_seconds = start.elapsed().as_secs_f64();
    let inspection = Inspection {
        store: args.store.display().to_string(),
        open_seconds,
        statistics: Statistics::of(&store.graph, &store.tasks, args.few_shot.rule()),
        manifest: &store.manifest,
    };
    terminal.result(&inspection, |out| {
        print_statistics(&inspection.statistics, args.relations, out)?;
        let read: Vec<_> = store.manifest.inputs.iter().map(|input| input.name.as_str()).collect();
        writeln!(out, "{DIM}made from {}; opened in {:.3} s{DIM:#}", read.join(", "), open_seconds)
    })
}

#[derive(Serialize)]
struct Inspection<'a> {
    store: String,
    open_seconds: f64,
    #[serde(flatten)]
    statistics: Statistics,
    manifest: &'a Manifest,
}

pub(crate) fn print_statistics(
    statistics: &Statistics,
    relations: usize,
    out: &mut dyn Write,
) -> io::Result<()> {
    print_counts(statistics, out)?;
    print_degrees(statistics, out)?;
    print_relations(statistics, relations, out)?;
    print_tasks(statistics, out)
}

fn print_counts(statistics: &Statistics, out: &mut dyn Write) -> io::Result<()> {
    let mut line = |title: &str, number: u64, remark: String| {
        let remark = if remark.is_empty() { remark } else { format!("  {DIM}{remark}{DIM:#}") };
        writeln!(out, "{title:<12}{BOLD}{:>12}{BOLD:#}{remark}", thousands(number))
    };
    line(
        "entities",
        statistics.entities,
        format!(
            "{} isolated, {} with a label, {} types",
            thousands(statistics.isolated_entities),
            thousands(statistics.labelled_entities),
            thousands(statistics.types)
        ),
    )?;
    let cardinalities: Vec<_> = statistics
        .cardinalities
        .iter()
        .map(|(class, count)| format!("{} {class}", thousands(*count)))
        .collect();
    line("relations", statistics.relations, cardinalities.join(", "))?;
    line("triples", statistics.triples, format!("{} self-loops", thousands(statistics.self_loops)))?;
    let held_out: u64 = statistics.held_out.values().sum();
    if held_out > 0 {
        let parts = statistics.held_out.iter().map(|(part, facts)| format!("{part} {}", thousands(*facts)));
        line("held out", held_out, parts.collect::<Vec<_>>().join(", "))?;
    }
    let rule = statistics.few_shot_rule;
    line(
        "few-shot",
        statistics.few_shot_relations,
        format!("relations with {} < facts < {}", rule.more_than, rule.less_than),
    )
}

fn print_degrees(statistics: &Statistics, out: &mut dyn Write) -> io::Result<()> {
    const WIDTH: u64 = 40;
    let degrees = &statistics.degrees;
    writeln!(
        out,
        "\n{BOLD}degree{BOLD:#}  mean {:.2}, median {}, 90% ≤ {}, 99% ≤ {}, max {}",
        degrees.mean,
        thousands(degrees.spread.median),
        thousands(degrees.p90),
        thousands(degrees.p99),
        thousands(degrees.spread.max)
    )?;
    let largest = degrees.histogram.iter().map(|bucket| bucket.entities).max().unwrap_or(1);
    for bucket in &degrees.histogram {
        let range = if bucket.from == bucket.to {
            bucket.from.to_string()
        } else {
            format!("{}–{}", bucket.from, bucket.to)
        };
        let bar = "█".repeat((bucket.entities * WIDTH).div_ceil(largest) as usize);
        writeln!(out, "{range:>12} {:>12} {bar}", thousands(bucket.entities))?;
    }
    Ok(())
}

fn print_relations(statistics: &Statistics, shown: usize, out: &mut dyn Write) -> io::Result<()> {
    if shown == 0 {
        return Ok(());
    }
    let rows = statistics.relation_table.iter().take(shown).map(|relation| {
        [
            relation.name.clone(),
            thousands(relation.facts),
            thousands(relation.heads),
            thousands(relation.tails),
            relation.cardinality.to_string(),
            if relation.few_shot { "few-shot".to_owned() } else { String::new() },
            relation.label.clone().unwrap_or_default(),
        ]
    });
    writeln!(out, "\n{}", table(["relation", "#facts", "#heads", "#tails", "class", "", ""], rows))?;
    let hidden = statistics.relation_table.len().saturating_sub(shown);
    if hidden > 0 {
        writeln!(out, "  {DIM}… and {} more (--relations N shows more){DIM:#}", thousands(hidden as u64))?;
    }
    Ok(())
}

fn print_tasks(statistics: &Statistics, out: &mut dyn Write) -> io::Result<()> {
    if statistics.task_table.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{BOLD}tasks{BOLD:#}")?;
    for (split, tasks) in &statistics.tasks {
        writeln!(
            out,
            "  {split:<6}{:>5} relations {:>8} facts",
            thousands(tasks.relations),
            thousands(tasks.facts)
        )?;
    }
    if let Some(spread) = statistics.candidates {
        writeln!(
            out,
            "  candidates per task: {} to {}, median {}; the filter has the known tails of {} queries",
            thousands(spread.min),
            thousands(spread.max),
            thousands(spread.median),
            thousands(statistics.filter_questions)
        )?;
    }
    let evaluated = statistics.task_table.iter().filter(|task| task.split != rana::graph::Split::Train);
    let rows = evaluated.map(|task| {
        [
            task.relation.clone(),
            task.split.to_string(),
            thousands(task.facts),
            thousands(task.heads),
            thousands(task.tails),
            task.cardinality.to_string(),
            thousands(task.candidates),
        ]
    });
    writeln!(
        out,
        "\n{}",
        table(["task", "split", "#facts", "#heads", "#tails", "class", "#candidates"], rows)
    )
}
