//! `rana sweep`: tries many settings and ranks them.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::{Args, ValueHint, value_parser};
use rana::graph::Store;
use rana::sweep::{Sweep, SweepPlan, SweepReport};
use rana::trial::{TrialError, VectorPlan, Workspace};
use serde::Serialize;

use super::stored_vectors::only_vectors;
use crate::error::CliError;
use crate::terminal::{BOLD, DIM, Terminal};
use crate::text_table::results;
use crate::thread_pool::in_pool;
use crate::trials_progress::TrialsProgress;

/// Search over settings of a model: a grid, single changes or random ranges, ranked by dev MRR.
///
/// The whole plan is checked before anything starts. Trainings run one after the other. Ctrl-C keeps what is
/// finished, and the same command resumes to the same results. A trial is identified by its settings, so a plan can
/// be extended without training anything twice. The test tasks are never used.
#[derive(Debug, Args)]
#[command(after_long_help = "\
A plan:
  model = \"NAME\"                   # the default model if not given; see rana train --help
  preset = \"nell-one\"              # the base settings; `paper` if not given
  vectors = \"nell-one\"             # a preset of rana embed, `recommended`, or a directory;
                                   # those stored with the graph if not given
  vectors_seed = 0                 # the seed of vectors trained for the sweep
  seeds = [0, 1]                   # each configuration is trained with each seed
  folds = 5                        # also train without each fifth of the train tasks (first seed)
  select = \"folds\"                 # rank by the held-out tasks instead of dev
  keep_models = false              # keep models too, not only logs and numbers
  [set]                            # settings of all configurations
  steps = 2000
  [grid]                           # every combination
  gamma = [6.0, 12.0]
  prune = [\"off\", \"quantile(0.5)\"]
  [each]                           # one change at a time, at each point of the grid: an ablation
  neg_weight = [\"uniform\"]
  [random]                         # random draws at each point of the grid
  trials = 20
  seed = 7
  learning_rate = { log = [0.0001, 0.01] }
  eta = { linear = [0.1, 1.0] }
  J = [1, 3, 5]

The settings are those of `rana train KG --print-config`.

Examples:
  rana sweep nell --plan sweep.toml --out sweeps/gamma
  rana sweep nell --plan sweep.toml --out sweeps/gamma --dry-run
  rana sweep nell --plan sweep.toml --out sweeps/gamma --json | jq '.rows[0]'

Written to DIR: results.md, results.csv, results.json, plots/ (SVG and PNG), and the trials.")]
pub(crate) struct SweepArgs {
    /// The graph store.
    #[arg(value_name = "KG", value_hint = ValueHint::DirPath)]
    store: PathBuf,
    /// The plan: a TOML file.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    plan: PathBuf,
    /// The directory for trials and results; finished trials in it are reused.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    out: PathBuf,
    /// Check the plan and list its configurations, but do not train.
    #[arg(long)]
    dry_run: bool,
    /// How many threads to use; all processors if not given.
    #[arg(long, value_name = "N", value_parser = value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
}

pub(crate) fn run(args: &SweepArgs, terminal: &Terminal) -> Result<(), CliError> {
    let file = args.plan.display().to_string();
    let text = std::fs::read_to_string(&args.plan)
        .map_err(|source| CliError::io(&args.plan, "read the plan", source))?;
    let in_plan = |source| CliError::Plan { file: file.clone(), source };
    let plan = SweepPlan::of_text(&text).map_err(in_plan)?;
    // Check the plan before opening the graph, which may take a while.
    plan.configurations().map_err(in_plan)?;
    let store = Store::open(&args.store)?;
    let vectors = match &plan.vectors {
        Some(name) => VectorPlan::of_name(name, plan.vectors_seed, &store)?,
        None => VectorPlan::given(only_vectors(&args.store)?, &store)?,
    };
    let sweep = Sweep::new(plan, &store, Workspace::new(&args.out), vectors).map_err(in_plan)?;
    if args.dry_run {
        let listed = Listed::of(&sweep);
        return terminal.result(&listed, |out| listed.print(out));
    }
    terminal.note(&format!(
        "{} configurations, {} trainings",
        sweep.configurations().len(),
        sweep.trial_count()
    ));
    let progress = TrialsProgress::new(terminal);
    let report = in_pool(args.threads, || sweep.run(&progress))?.map_err(|error| match error {
        TrialError::Stopped => CliError::StoppedTrials { resume: args.command() },
        error => error.into(),
    })?;
    drop(progress);
    let account =
        Account { out: args.out.display().to_string(), command: args.train_command(&report), report };
    terminal.result(&account, |out| account.print(out))
}

impl SweepArgs {
    /// The command that resumes this sweep.
    fn command(&self) -> String {
        let Self { store, plan, out, .. } = self;
        format!("rana sweep {} --plan {} --out {}", store.display(), plan.display(), out.display())
    }

    /// The command that trains the best configuration.
    fn train_command(&self, report: &SweepReport) -> Option<String> {
        let best = report.best()?;
        let seed = best.trials.iter().find(|trial| trial.fold.is_none())?.seed;
        let mut command = format!(
            "rana train {} --vectors {} --preset {} --seed {seed}",
            self.store.display(),
            report.vectors.display(),
            report.plan.preset
        );
        for setting in &report.best_settings {
            // Quote characters that are special to shells.
            match setting.chars().all(|c| c.is_ascii_alphanumeric() || "=._-+/".contains(c)) {
                true => command += &format!(" --set {setting}"),
                false => command += &format!(" --set '{setting}'"),
            }
        }
        Some(command + " --out RUN")
    }
}

#[derive(Serialize)]
struct Listed {
    trainings: usize,
    configurations: Vec<String>,
}

impl Listed {
    fn of(sweep: &Sweep<'_>) -> Self {
        let labels = sweep.configurations().iter().map(|configuration| configuration.label());
        Self { trainings: sweep.trial_count(), configurations: labels.collect() }
    }

    fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        for configuration in &self.configurations {
            writeln!(out, "{configuration}")?;
        }
        let count = self.configurations.len();
        writeln!(out, "{DIM}{count} configurations, {} trainings{DIM:#}", self.trainings)
    }
}

#[derive(Serialize)]
struct Account {
    out: String,
    /// The command that trains the best configuration; `None` if all failed.
    command: Option<String>,
    #[serde(flatten)]
    report: SweepReport,
}

impl Account {
    fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{}", results(&self.report.table()))?;
        writeln!(out, "{DIM}{}{DIM:#}", self.report.caption())?;
        for row in self.report.rows.iter().filter(|row| row.failure().is_some()) {
            writeln!(out, "failed: {}: {}", row.label(), row.failure().unwrap_or_default())?;
        }
        match &self.command {
            Some(command) => {
                writeln!(out, "to train the best configuration again:\n  {BOLD}{command}{BOLD:#}")?;
            }
            None => writeln!(out, "no configuration could be trained")?,
        }
        writeln!(out, "{DIM}tables and plots are in {}{DIM:#}", self.out)
    }
}
