//! `rana split`: makes few-shot tasks out of the relations of a graph.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::{Args, ValueHint};
use rana::fewshot::{
    Assignment, CandidateRule, Ratio, RelationNames, SplitConfig, SplitOutcome, SplitReport, SplitSettings,
    SplitTask, split,
};
use rana::graph::{Graph, Input, Split, Store};
use rana::predictor::relation;
use serde::Serialize;

use super::few_shot_args::FewShotArgs;
use crate::error::CliError;
use crate::human_numbers::thousands;
use crate::terminal::{BOLD, DIM, Terminal};
use crate::text_table::table;

/// Split a graph into a background and few-shot tasks, by the published rule.
///
/// Relations with few facts become tasks, which are assigned to train, dev and test. The rest is the background. It
/// contains no fact of a task, and no inverse of one.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  rana split kg --out kg-fewshot
  rana split kg --more-than 20 --less-than 1000 --ratio 8:1:1 --seed 7
  rana split kg --train directed_by --train born_in --dev spouse --test rival_of
  rana split wikidata --candidates types --cap 5000")]
pub(crate) struct SplitArgs {
    /// The graph store to split.
    #[arg(value_name = "KG", value_hint = ValueHint::DirPath)]
    store: PathBuf,
    /// The store to write; KG-split if not given.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    out: Option<PathBuf>,
    #[command(flatten)]
    few_shot: FewShotArgs,
    /// The proportions of train, dev and test tasks.
    #[arg(long, value_name = "TRAIN:DEV:TEST", default_value = "51:5:11", conflicts_with_all = ["train", "dev", "test"])]
    ratio: RatioArg,
    /// A relation to make a train task of, instead of assigning relations by ratio. May be repeated.
    #[arg(long, value_name = "RELATION")]
    train: Vec<String>,
    /// A relation to make a dev task of. May be repeated.
    #[arg(long, value_name = "RELATION")]
    dev: Vec<String>,
    /// A relation to make a test task of. May be repeated.
    #[arg(long, value_name = "RELATION")]
    test: Vec<String>,
    /// How candidate tails are found: by the types of the relation's tails, by the tails and the entities that share
    /// an incoming relation with them, or all entities; auto uses types if the graph has any.
    #[arg(long, value_name = "RULE", default_value_t)]
    candidates: CandidateRule,
    /// At most this many candidates per task (a task's own tails are always kept).
    #[arg(long, value_name = "N")]
    cap: Option<usize>,
    /// Keep background relations that are the inverse of a task relation.
    #[arg(long)]
    keep_inverses: bool,
    /// The same seed gives the same split.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
}

#[derive(Clone, Copy, Debug)]
struct RatioArg(Ratio);

impl FromStr for RatioArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts: Vec<f64> =
            text.split(':').map(str::parse).collect::<Result<_, _>>().map_err(|_| expected())?;
        match parts[..] {
            [train, dev, test] => Ok(Self(Ratio { train, dev, test })),
            _ => Err(expected()),
        }
    }
}

fn expected() -> String {
    "expected three numbers such as 51:5:11".to_owned()
}

impl SplitArgs {
    fn config(&self, graph: &Graph) -> Result<SplitConfig, CliError> {
        // Names, labels and last parts of IRIs alike.
        let named = |texts: &[String]| -> Result<Vec<String>, CliError> {
            let name = |text: &String| match relation(graph, text) {
                Ok(relation) => Ok(graph.relation_name(relation).to_owned()),
                Err(error) => Err(CliError::Usage(error.to_string())),
            };
            texts.iter().map(name).collect()
        };
        let names =
            RelationNames { train: named(&self.train)?, dev: named(&self.dev)?, test: named(&self.test)? };
        let assignment = if names == RelationNames::default() {
            Assignment::Ratio(self.ratio.0)
        } else {
            Assignment::Names(names)
        };
        let rule = self.few_shot.rule();
        let settings = SplitSettings {
            more_than: rule.more_than as usize,
            less_than: rule.less_than as usize,
            assignment,
            candidates: self.candidates,
            cap: self.cap,
            keep_inverses: self.keep_inverses,
            seed: self.seed,
            ..SplitSettings::default()
        };
        Ok(SplitConfig::try_from(settings)?)
    }

    /// The directory to write: --out, or one beside the store; never the store itself.
    fn target(&self) -> Result<PathBuf, CliError> {
        let store = self.store.canonicalize().unwrap_or_else(|_| self.store.clone());
        let target = match &self.out {
            Some(out) => out.clone(),
            None => {
                let mut name = store.file_name().map_or_else(|| OsString::from("graph"), ToOwned::to_owned);
                name.push("-split");
                store.with_file_name(name)
            }
        };
        if target.canonicalize().is_ok_and(|target| target == store) {
            return Err(CliError::Usage(
                "--out is the graph itself, which a split must not replace".to_owned(),
            ));
        }
        Ok(target)
    }
}

pub(crate) fn run(args: &SplitArgs, terminal: &Terminal) -> Result<(), CliError> {
    let store = Store::open(&args.store)?;
    let config = args.config(&store.graph)?;
    if !store.tasks.is_empty() {
        return Err(CliError::Usage(format!(
            "{} has tasks already. Split the graph it was made from, or put the tasks back first: \
             `rana export {0} --format tsv --with-tasks --out all.tsv`, then import that",
            args.store.display()
        )));
    }
    let target = args.target()?;
    let busy = terminal.busy("splitting");
    let outcome = split_to(&store, &config, &target)?;
    drop(busy);
    warn(&outcome.report, terminal);
    let account =
        SplitAccount { store: target.display().to_string(), config: &config, report: &outcome.report };
    terminal.account(&account, |out| {
        print(&outcome.report, out)?;
        print_tasks(&outcome.report, &outcome.graph, out)?;
        writeln!(out, "wrote {BOLD}{}{BOLD:#}", target.display())
    })
}

/// Warns about a benchmark that is well formed but useless.
fn warn(report: &SplitReport, terminal: &Terminal) {
    if report.background_facts == 0 {
        terminal.warn("no background fact is left: every relation became a task");
    }
    for split in report.splits.iter().filter(|split| split.tasks == 0) {
        terminal.warn(&format!("there is no {} task", split.split));
    }
}

/// Splits an opened store into a new one, which also records the files of the first.
pub(crate) fn split_to(store: &Store, config: &SplitConfig, target: &Path) -> Result<SplitOutcome, CliError> {
    let outcome = split(&store.graph, config)?;
    let inputs: Vec<Input> = store.manifest.inputs.clone();
    Store::write(target, &outcome.graph, &outcome.tasks, inputs)?;
    Ok(outcome)
}

#[derive(Serialize)]
struct SplitAccount<'a> {
    store: String,
    config: &'a SplitConfig,
    #[serde(flatten)]
    report: &'a SplitReport,
}

/// The most tasks of a split that are named; JSON has all.
const NAMED: usize = 20;

/// Prints which relations were taken out of the graph for dev and test.
fn print_tasks(report: &SplitReport, graph: &Graph, out: &mut dyn Write) -> io::Result<()> {
    for split in [Split::Dev, Split::Test] {
        let of_split = || report.tasks.iter().filter(|task| task.split == split);
        let title = |task: &SplitTask| match graph.relation(&task.relation) {
            Some(relation) => graph.relation_title(relation),
            None => task.relation.clone(),
        };
        let names =
            of_split().take(NAMED).map(|task| format!("{} ({})", title(task), thousands(task.facts as u64)));
        let names = names.collect::<Vec<_>>().join(", ");
        let more = of_split().count().saturating_sub(NAMED);
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        writeln!(out, "{split} relations, with facts: {names}{more}")?;
    }
    Ok(())
}

/// Prints which tasks were made and what is left in the background.
pub(crate) fn print(report: &SplitReport, out: &mut dyn Write) -> io::Result<()> {
    let rows = report
        .splits
        .iter()
        .map(|split| [split.split.to_string(), thousands(split.tasks as u64), thousands(split.facts as u64)]);
    writeln!(out, "{}", table(["split", "#tasks", "#facts"], rows))?;
    writeln!(
        out,
        "background: {BOLD}{}{BOLD:#} facts of {} relations; {} entities have no background fact, {} task facts touch one",
        thousands(report.background_facts as u64),
        thousands(report.background_relations as u64),
        thousands(report.isolated_entities as u64),
        thousands(report.facts_at_isolated_entities as u64),
    )?;
    let sizes: Vec<u64> = report.tasks.iter().map(|task| task.candidates as u64).collect();
    if let Some(spread) = rana::graph::MinMedianMax::of(sizes) {
        let [min, median, max] = [spread.min, spread.median, spread.max].map(thousands);
        writeln!(out, "candidates per task: {min} to {max}, median {median}")?;
    }
    for removed in &report.removed_inverses {
        let was = if removed.was_task { "few-shot relation" } else { "background relation" };
        writeln!(
            out,
            "removed the {was} `{}` ({} facts): it is the inverse of the task `{}`",
            removed.relation,
            thousands(removed.facts as u64),
            removed.inverse_of
        )?;
    }
    if report.reversed_facts_left > 0 {
        writeln!(
            out,
            "{DIM}{} task facts also appear reversed in a background relation that is not an inverse as a whole{DIM:#}",
            thousands(report.reversed_facts_left as u64)
        )?;
    }
    Ok(())
}
