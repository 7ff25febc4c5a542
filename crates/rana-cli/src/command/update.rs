//! `rana update`: changes of the graph of a learned directory, without another training.

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Instant;

use clap::{Args, ValueHint};
use rana::graph::format::Source;
use rana::{Update, UpdateReport};
use serde::Serialize;

use crate::error::CliError;
use crate::human_numbers::counted;
use crate::staged_progress::StagedProgress;
use crate::terminal::{BOLD, Terminal};

/// Add facts to what was learned, or remove some: in seconds, without another training.
///
/// New entities are placed by their neighbours and can be asked for at once. The update is a layer over what was learned, which is
/// never written again: after a crash it is there or not.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  rana update learned new.tsv
  rana update learned new.tsv --remove wrong.tsv
  rana update learned --merge                       (all updates so far become one)

Facts that are there already are passed over, so the same command may be given again. A running server sees the update \
when it loads the directory again. The summary says how far the graph has gone from the one that was learned from; beyond a tenth of \
its facts or entities, learn again from all files.")]
pub(crate) struct UpdateArgs {
    /// The directory of `rana learn`.
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    run: PathBuf,
    /// Files of new facts, in any format of `rana import`.
    #[arg(value_name = "FILES", required_unless_present_any = ["remove", "merge"], value_hint = ValueHint::FilePath)]
    added: Vec<PathBuf>,
    /// A file of facts that are gone; may be repeated.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    remove: Vec<PathBuf>,
    /// Merge all updates so far into one.
    #[arg(long)]
    merge: bool,
}

#[derive(Serialize)]
struct Account {
    #[serde(flatten)]
    report: UpdateReport,
    seconds: f64,
}

pub(crate) fn run(args: &UpdateArgs, terminal: &Terminal) -> Result<(), CliError> {
    let started = Instant::now();
    let sources = |files: &[PathBuf]| files.iter().cloned().map(Source::from).collect();
    let update = Update {
        added: sources(&args.added),
        removed: sources(&args.remove),
        merge: args.merge,
        ..Update::default()
    };
    let progress = StagedProgress::new(terminal);
    let report = update.apply(&args.run, &progress);
    drop(progress);
    let report = report?;
    let learn_again = report.drift.learn_again;
    let account = Account { report, seconds: started.elapsed().as_secs_f64() };
    terminal.account(&account, |out| account.print(out))?;
    if learn_again {
        terminal.warn("more than a tenth of the graph has changed since it was learned from. Learn again from all files");
    }
    Ok(())
}

impl Account {
    fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        let UpdateReport { added, removed, unchanged, new_entities, new_relations, layers, drift } =
            &self.report;
        writeln!(
            out,
            "{BOLD}{}{BOLD:#} and {} in {:.1} s; {} changed nothing",
            counted(*added as u64, "new fact"),
            counted(*removed as u64, "removed fact"),
            self.seconds,
            counted(*unchanged as u64, "other fact")
        )?;
        writeln!(
            out,
            "{}, {}; {} over what was learned",
            counted(*new_entities as u64, "new entity").replace("entitys", "entities"),
            counted(*new_relations as u64, "new relation"),
            counted(*layers as u64, "update")
        )?;
        writeln!(
            out,
            "since it was learned, {:.1} % of the facts changed, and {:.1} % of the entities were placed by their neighbours",
            100.0 * drift.changed_facts,
            100.0 * drift.placed_entities
        )
    }
}
