//! `rana reproduce`: the tables and figures of the paper.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::{Args, ValueHint, value_parser};
use rana::reproduction::{Dataset, Experiment, Reproduction, ReproductionError, ReproductionReport};
use rana::trial::{TrialError, Workspace};
use serde::Serialize;

use crate::error::CliError;
use crate::terminal::{BOLD, DIM, Terminal};
use crate::text_table::results;
use crate::thread_pool::in_pool;
use crate::trials_progress::TrialsProgress;

/// Reproduce a table or figure of the paper from raw files, next to the published numbers.
///
/// table2 (the model compared with others), table3 (ablations), fig2a (1 to 8 shots), fig2b (1 to 10 negatives), errors (twenty
/// queries of one relation and their ranks), or frontier, which is not in the paper: the fused model, and the effect of each source of evidence. Settings come
/// from presets. The model of each training is chosen on dev, and test is evaluated once per training. Baselines that
/// learn nothing are the last rows. Ctrl-C keeps what is finished, and the same command resumes to the same numbers.
/// Tables and figures in the same --out share their trainings.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  rana reproduce table2 --data NELL-One
  rana reproduce table3 --preset nell-one-tuned --seeds 3
  rana reproduce fig2a --dataset WD50K --out reproduction/wd50k
  rana reproduce errors --preset nell-one-tuned --seeds 1
  rana reproduce frontier --data NELL-One
  rana reproduce table2 --fast          (a smoke run on the embedded graph, in seconds)

Raw files are looked for in --data DIR, or else in $RANA_DATASETS/NAME, datasets/NAME and \
../shared/datasets/NAME. A dataset without tasks of its own, such as WD50K, is split by the rule of `rana split`. \
The files of Wiki-One are no longer published.

Written to DIR: the table (.md, .csv, .json), its picture (.svg, .png), the graph, the vectors and the trials.")]
pub(crate) struct ReproduceArgs {
    /// table2, table3, fig2a, fig2b, errors or frontier.
    #[arg(value_name = "WHAT")]
    what: Experiment,
    /// The dataset: its name says which numbers were published, and where its files are looked for.
    #[arg(long, value_name = "NAME", default_value = "NELL-One", conflicts_with = "fast")]
    dataset: String,
    /// The directory of the raw files.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath, conflicts_with = "fast")]
    data: Option<PathBuf>,
    /// The directory for all output; rana-reproduction/NAME if not given.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    out: Option<PathBuf>,
    /// How many training seeds: 1 to N.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = value_parser!(u64).range(1..=1000), conflicts_with = "fast")]
    seeds: u64,
    /// The preset of the model and its vectors; may be repeated for table2. If not given: nell-one (the settings of
    /// the paper), in table2 also nell-one-tuned, and for frontier only nell-one-tuned.
    #[arg(long, value_name = "NAME", conflicts_with = "fast")]
    preset: Vec<String>,
    /// Random supports per task that are evaluated in addition to the official one; 0 for none.
    #[arg(long, value_name = "N", default_value_t = 20, conflicts_with = "fast")]
    draws: usize,
    /// Train new vectors for each seed, instead of starting all trainings from the same vectors.
    #[arg(long, conflicts_with = "fast")]
    fresh_vectors: bool,
    /// Only check that everything runs: a few steps on the embedded graph. The output is marked as a smoke run.
    #[arg(long)]
    fast: bool,
    /// How many threads to use; all processors if not given.
    #[arg(long, value_name = "N", value_parser = value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
}

pub(crate) fn run(args: &ReproduceArgs, terminal: &Terminal) -> Result<(), CliError> {
    let reproduction = args.reproduction()?;
    // Fail before any file is read.
    reproduction.check()?;
    let out = args.out(&reproduction);
    let progress = TrialsProgress::new(terminal);
    let workspace = Workspace::new(&out);
    let report =
        in_pool(args.threads, || reproduction.run(&workspace, &progress))?.map_err(|error| match error {
            ReproductionError::Trial(TrialError::Stopped) => {
                CliError::StoppedTrials { resume: crate::interrupt::resume_command() }
            }
            error => error.into(),
        })?;
    drop(progress);
    let files = out.join(reproduction.file()).display().to_string();
    let account = Account { files, report };
    terminal.result(&account, |out| account.print(out))
}

impl ReproduceArgs {
    fn reproduction(&self) -> Result<Reproduction, CliError> {
        if self.fast {
            return Ok(Reproduction::smoke(self.what));
        }
        if self.draws == 1 {
            let message = "--draws 1: one draw has no standard deviation; draw at least 2, or 0 for none";
            return Err(CliError::Usage(message.to_owned()));
        }
        if self.preset.len() > 1 && self.what != Experiment::Table2 {
            return Err(CliError::Usage(format!(
                "{} is made with one preset; several --preset are rows of table2",
                self.what
            )));
        }
        let presets = match self.preset.is_empty() {
            true => Reproduction::usual_presets(self.what),
            false => self.preset.clone(),
        };
        Ok(Reproduction {
            experiment: self.what,
            dataset: Dataset::find(&self.dataset, self.data.as_deref(), &folders())?,
            presets,
            seeds: (1..=self.seeds).collect(),
            draws: self.draws,
            fresh_vectors: self.fresh_vectors,
            is_smoke: false,
        })
    }

    fn out(&self, reproduction: &Reproduction) -> PathBuf {
        let name = if self.fast { "smoke" } else { &reproduction.dataset.name };
        self.out.clone().unwrap_or_else(|| PathBuf::from("rana-reproduction").join(name))
    }
}

/// The directories to search for datasets. Each dataset is a folder with its name.
fn folders() -> Vec<PathBuf> {
    let named = std::env::var_os("RANA_DATASETS").map(PathBuf::from);
    named.into_iter().chain(["datasets", "../shared/datasets"].map(PathBuf::from)).collect()
}

#[derive(Serialize)]
struct Account {
    /// The path of the written files, without extension.
    files: String,
    #[serde(flatten)]
    report: ReproductionReport,
}

impl Account {
    fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        let Self { files, report } = self;
        let smoke = if report.is_smoke { "SMOKE RUN, the numbers mean nothing: " } else { "" };
        writeln!(out, "{smoke}{BOLD}{}{BOLD:#}, {}", report.title, report.dataset)?;
        writeln!(out, "{}", results(&report.table()))?;
        writeln!(out, "{DIM}{}{DIM:#}", report.caption())?;
        for row in &report.rows {
            for failure in &row.failures {
                writeln!(out, "failed: {}: {failure}", row.label)?;
            }
        }
        for note in &report.notes {
            writeln!(out, "{DIM}· {note}{DIM:#}")?;
        }
        for errors in &report.errors {
            writeln!(out, "\n{}", errors.summary())?;
            writeln!(out, "{}", results(&errors.sample_table()))?;
            writeln!(out, "{}", results(&errors.neighbour_table()))?;
        }
        if let Some(summary) = report.summary().filter(|_| !report.is_smoke) {
            writeln!(out, "{summary}")?;
        }
        writeln!(out, "{DIM}wrote {files}.md, .csv, .json, .svg and .png{DIM:#}")
    }
}
