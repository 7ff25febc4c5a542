//! `rana learn`: from files to a directory that answers.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::{Args, ValueHint, value_parser};
use rana::graph::Store;
use rana::graph::format::Source;
use rana::{LEARNED, LearnError, Learning, Predictor, Quality, RelationQuality};
use serde::Serialize;

use crate::error::CliError;
use crate::human_numbers::{duration, size, thousands};
use crate::staged_progress::StagedProgress;
use crate::terminal::{BOLD, DIM, Terminal};
use crate::text_table::table;
use crate::thread_pool::in_pool;

/// Learn from files: one command from a graph to a directory that answers.
///
/// It imports the files and leaves some relations out to measure on. From these it learns how far each kind of evidence
/// in the graph is to be trusted, and how sure answers are. Then it trains on every fact. The result is used by
/// `rana complete` and `rana serve`. Ctrl-C keeps what is done, and the same command resumes.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  rana learn facts.tsv --out learned
  rana learn people.ttl places.nt.gz --out learned --budget 5m
  rana learn my-graph --out learned                 (a store of `rana import`)
  rana learn facts.tsv --out test --leave-out treats, then `rana eval test`

Any format of `rana import` is read. No setting depends on a benchmark: they follow the size of the graph. The summary \
says what to expect on relations like those left out, with its standard error, and what the alternatives reach.")]
pub(crate) struct LearnArgs {
    /// Files of facts, or one graph store.
    #[arg(value_name = "FILES", required = true, value_hint = ValueHint::AnyPath)]
    sources: Vec<PathBuf>,
    /// Where everything goes.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    out: PathBuf,
    /// How long it may take, such as 5m or 2h; as long as it needs if not given.
    #[arg(long, value_name = "TIME", value_parser = humantime::parse_duration)]
    budget: Option<Duration>,
    /// How much memory it may take, such as 4G.
    #[arg(long, value_name = "SIZE", value_parser = size)]
    memory: Option<u64>,
    /// A relation whose facts are not used at all, to see how well it would be completed; may be repeated.
    #[arg(long, value_name = "RELATION")]
    leave_out: Vec<String>,
    /// The language of labels, such as `en`; that of the environment (LC_ALL, LC_MESSAGES, LANG) if not given. Labels in
    /// other languages are used where there are no others.
    #[arg(long, value_name = "LANGUAGE")]
    language: Option<String>,
    /// How large a compressed file may be after decompression, such as 20G; any size if not given.
    #[arg(long, value_name = "SIZE", value_parser = size)]
    max_decompressed: Option<u64>,
    /// The same seed gives the same result.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// How many threads to use; all processors if not given.
    #[arg(long, value_name = "N", value_parser = value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
}

/// The language of the environment: `de` for `de_AT.UTF-8`.
fn language(variable: impl Fn(&str) -> Option<String>) -> Option<String> {
    let set = ["LC_ALL", "LC_MESSAGES", "LANG"].into_iter().filter_map(variable);
    let locale = set.into_iter().find(|value| !value.is_empty())?;
    let language = locale.split(['_', '.', '@']).next().unwrap_or_default();
    let is_language = (2..=3).contains(&language.len()) && language.bytes().all(|of| of.is_ascii_lowercase());
    is_language.then(|| language.to_owned())
}

pub(crate) fn run(args: &LearnArgs, terminal: &Terminal) -> Result<(), CliError> {
    let learning = Learning {
        seed: args.seed,
        budget: args.budget,
        memory: args.memory,
        leave_out: args.leave_out.clone(),
        language: args.language.clone().or_else(|| language(|name| std::env::var(name).ok())),
        max_decompressed: args.max_decompressed,
    };
    let progress = StagedProgress::new(terminal);
    let started = Instant::now();
    let learned = in_pool(args.threads, || match &args.sources[..] {
        [one] if Store::is_store(one) => {
            learning.learn_store(&Store::open(one).map_err(LearnError::from)?, &args.out, &progress)
        }
        files => learning.learn(files.iter().map(|file| Source::from(file.clone())), &args.out, &progress),
    })?;
    drop(progress);
    let predictor = learned.map_err(|error| match error {
        LearnError::Stopped => CliError::StoppedTrials { resume: crate::interrupt::resume_command() },
        error => error.into(),
    })?;
    let summary = Summary::new(&args.out, &predictor, started.elapsed());
    terminal.account(&summary, |out| summary.print(out))
}

/// What was learned.
#[derive(Serialize)]
struct Summary {
    out: String,
    entities: usize,
    relations: usize,
    facts: usize,
    confidence: Option<ConfidenceSummary>,
    seconds: f64,
    quality: Option<Quality>,
}

/// How far confidence can be relied on.
#[derive(Serialize)]
struct ConfidenceSummary {
    /// How far it was from the share of right answers, in the mean, on relations that it was not learned on.
    expected_error: f64,
    /// How many relations it was learned on.
    relations: usize,
}

/// Confidence that was learned on fewer relations is rough.
const ENOUGH_RELATIONS: usize = 20;
/// A lower MRR means that hardly any answer is right.
const HARDLY_ANY: f64 = 0.03;

impl Summary {
    fn new(out: &Path, predictor: &Predictor, time: Duration) -> Self {
        let graph = predictor.graph();
        // What things are is evidence of another kind; it is not completed.
        let types = graph.type_relations();
        Self {
            out: out.display().to_string(),
            entities: graph.entity_count(),
            relations: graph.relation_count().saturating_sub(types.len()),
            facts: graph.facts().iter().filter(|fact| !types.contains(&fact.relation)).count(),
            confidence: predictor.calibration().map(|of| ConfidenceSummary {
                expected_error: of.reliability.expected_error,
                relations: of.tasks,
            }),
            seconds: time.as_secs_f64(),
            quality: Quality::read(out),
        }
    }

    fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        let Self { entities, relations, facts, .. } = self;
        writeln!(
            out,
            "learned from {} facts of {} relations between {} entities in {}",
            thousands(*facts as u64),
            thousands(*relations as u64),
            thousands(*entities as u64),
            duration(Duration::from_secs_f64(self.seconds))
        )?;
        match &self.quality {
            Some(quality) => print_quality(quality, out)?,
            None => writeln!(
                out,
                "{BOLD}No relation could be left out to measure on{BOLD:#}: none has enough facts beside the others. \
                 Answers are ranked by what is usual in other graphs."
            )?,
        }
        match &self.confidence {
            Some(ConfidenceSummary { expected_error, relations }) if *relations < ENOUGH_RELATIONS => {
                writeln!(
                    out,
                    "How sure answers are is a rough guess: it was learned from {relations} relations, and was off by {:.0} points \
                 in 100 on relations that it was not learned on.",
                    100.0 * expected_error
                )?;
            }
            Some(_) => {}
            None => writeln!(out, "Too few relations could be left out to say how sure answers are.")?,
        }
        let dir = &self.out;
        writeln!(out, "complete a relation: {BOLD}rana complete {dir} --relation NAME --plausible{BOLD:#}")?;
        writeln!(out, "or on a web page:    {BOLD}rana serve {dir}{BOLD:#}")
    }
}

fn print_quality(quality: &Quality, out: &mut dyn Write) -> io::Result<()> {
    print_tails(quality, out)?;
    let best = |quality: &Quality| {
        let learned = quality.chosen_row().map_or(0.0, |row| row.mrr);
        let others = quality.rows.iter().filter(|row| row.name != quality.chosen);
        let other = others.max_by(|one, other| one.mrr.total_cmp(&other.mrr));
        other.map_or_else(
            || format!("{learned:.3}"),
            |row| format!("{learned:.3}, and {:.3} by {} alone", row.mrr, said(&row.name)),
        )
    };
    if let Some(heads) = &quality.heads {
        writeln!(out, "heads of a tail instead: MRR {}", best(heads))?;
    }
    if let Some(relating) = &quality.relating {
        let RelationQuality { among, quality, .. } = &**relating;
        writeln!(
            out,
            "the relation between two entities, among {}: MRR {}",
            thousands(*among as u64),
            best(quality)
        )?;
    }
    Ok(())
}

fn print_tails(quality: &Quality, out: &mut dyn Write) -> io::Result<()> {
    let number = |value: f64, error: Option<f64>| match error {
        Some(error) => format!("{value:.3} ± {error:.3}"),
        None => format!("{value:.3}"),
    };
    let rows = quality.rows.iter().map(|row| {
        let mark = if row.name == quality.chosen { "answers" } else { "" };
        [
            said(&row.name).to_owned(),
            number(row.mrr, row.mrr_error),
            number(row.hits_at_10, row.hits_at_10_error),
            mark.to_owned(),
        ]
    });
    let relations = quality.relations.len();
    writeln!(
        out,
        "measured on {relations} relations left out in turn, {} known pairs each, tails among all entities:",
        quality.shots
    )?;
    writeln!(out, "{}", table(["", "#MRR", "#Hits@10", ""], rows))?;
    writeln!(out, "{DIM}± is the standard error over relations; single relations differ much more{DIM:#}")?;
    if quality.chosen_row().is_some_and(|row| row.mrr < HARDLY_ANY) {
        writeln!(
            out,
            "{BOLD}Hardly any answer was right{BOLD:#}: nothing in this graph tells the facts of a relation it does not know."
        )?;
    }
    if quality.chosen != LEARNED {
        writeln!(
            out,
            "What was learned did not beat {}. Answers come from these instead.",
            said(&quality.chosen)
        )?;
    }
    Ok(())
}

/// A row in words.
fn said(row: &str) -> &str {
    match row {
        LEARNED => "all evidence, learned trust",
        "rules" => "one-hop rules",
        "mean-translation" => "mean translation of vectors",
        "product" => "products of vectors",
        "popularity" => "the number of facts",
        "frequency" => "how many facts a relation has",
        "type-compatibility" => "how well the ends fit",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::language;

    #[test]
    fn the_language_is_that_of_the_environment() {
        let of = |name: &'static str, value: &'static str| {
            language(|asked| (asked == name).then(|| value.to_owned()))
        };
        assert_eq!(of("LANG", "de_AT.UTF-8").as_deref(), Some("de"));
        assert_eq!(of("LC_ALL", "fr").as_deref(), Some("fr"));
        for value in ["C", "C.UTF-8", "POSIX", ""] {
            assert_eq!(of("LANG", value), None, "{value}");
        }
    }
}
