//! `rana fuse`: trains the model that weighs all evidence.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::{Args, ValueHint, value_parser};
use rana::fused_training::{FusedError, FusedTraining};
use rana::graph::Store;
use rana::models::fused::{EvidenceKind, EvidenceRun, FusedConfig};
use rana::models::registry;
use rana::models::training::RunConfig;
use rana::trial::TrialError;
use serde::Serialize;

use crate::error::CliError;
use crate::settings::{SettingsFile, print_settings};
use crate::staged_progress::StagedProgress;
use crate::terminal::{BOLD, Terminal};
use crate::text_table::table;
use crate::thread_pool::in_pool;

/// Train a model and weigh it with the evidence in the graph.
///
/// Everything that can speak for a tail is a source of evidence: the score of the trained model, products of other
/// vectors, edges and paths that the support has too, copies of its tails, likeness to them, types, and names. How far
/// each source is trusted is learned across the train tasks by cross-validation: the vectors and the model are trained
/// once without each fold of the train tasks, and once on all of them. Ctrl-C keeps what is done; the same command
/// resumes.
#[derive(Debug, Args)]
#[command(after_long_help = format!("\
Evidence: {}.

Examples:
  rana fuse kg --out fused
  rana fuse nell --preset nell-one-tuned --seed 1 --out runs/fused-1
  rana fuse kg --out fused --without name --without path
  rana eval fused", evidence_list()))]
pub(crate) struct FuseArgs {
    /// The graph store, with few-shot tasks.
    #[arg(value_name = "KG", value_hint = ValueHint::DirPath)]
    store: PathBuf,
    /// Where the model goes.
    #[arg(long, value_name = "RUN", value_hint = ValueHint::DirPath, required_unless_present = "print_config")]
    out: Option<PathBuf>,
    /// The model that is a source of evidence.
    #[arg(long, value_name = "NAME", default_value = registry::DEFAULT)]
    model: String,
    /// Settings of the model and its vectors that suit a benchmark; if not given, settings that follow the vectors, and
    /// vectors by the size of the graph.
    #[arg(long, value_name = "NAME")]
    preset: Option<String>,
    /// The same seed gives the same model.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// A source of evidence that is not used; may be repeated.
    #[arg(long, value_name = "EVIDENCE")]
    without: Vec<EvidenceKind>,
    /// One setting of the model, such as steps=300; may be repeated. See `rana train KG --print-config` for all.
    #[arg(long, value_name = "KEY=VALUE")]
    model_set: Vec<String>,
    /// One setting, such as train_task_edges=false; may be repeated. See --print-config for all.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// How many threads to use; all processors if not given.
    #[arg(long, value_name = "N", value_parser = value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Print the settings as TOML, every field, and train nothing.
    #[arg(long)]
    print_config: bool,
}

fn evidence_list() -> String {
    EvidenceKind::ALL.iter().map(|kind| kind.name()).collect::<Vec<_>>().join(", ")
}

pub(crate) fn run(args: &FuseArgs, terminal: &Terminal) -> Result<(), CliError> {
    let config = args.settings()?;
    if args.print_config {
        terminal.refuse_json("the settings")?;
        return print_settings(&config, &[]);
    }
    let store = Store::open(&args.store)?;
    let training = args.training(&store, config)?;
    // `out` is required unless the settings are printed.
    let out = args.out.clone().unwrap_or_default();
    let progress = StagedProgress::new(terminal);
    let trained = in_pool(args.threads, || training.train(&out, &store, &progress))?;
    drop(progress);
    let run = trained.map_err(|error| match error {
        FusedError::Trial(TrialError::Stopped) => {
            CliError::StoppedTrials { resume: crate::interrupt::resume_command() }
        }
        error => error.into(),
    })?;
    let account = Account { run: out.display().to_string(), evidence: &run };
    terminal.account(&account, |out| account.print(out))
}

impl FuseArgs {
    fn settings(&self) -> Result<FusedConfig, CliError> {
        let mut config = SettingsFile::of_assignments(&self.set)?.over(&FusedConfig::default())?;
        config.evidence.retain(|kind| !self.without.contains(kind));
        config.check().map_err(|error| CliError::Usage(error.to_string()))?;
        Ok(config)
    }

    fn training(&self, store: &Store, fused: FusedConfig) -> Result<FusedTraining, CliError> {
        let wrong = |error: &dyn std::fmt::Display| CliError::Usage(error.to_string());
        let entry = registry::find(&self.model).map_err(|error| wrong(&error))?;
        let name = self.preset.as_deref().unwrap_or_else(|| entry.default_preset());
        let model = RunConfig::preset(entry.name, name).map_err(|error| wrong(&error))?;
        let model: RunConfig = SettingsFile::of_assignments(&self.model_set)?.over(&model)?;
        let model = model.with_trainer(|trainer| trainer.seed = self.seed);
        model.check().map_err(|error| wrong(&error))?;
        Ok(FusedTraining::new(name, model, FusedConfig { seed: self.seed, ..fused }, store))
    }
}

#[derive(Serialize)]
struct Account<'a> {
    run: String,
    #[serde(flatten)]
    evidence: &'a EvidenceRun,
}

impl Account<'_> {
    fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        let Self { run, evidence } = self;
        let rows = evidence.trusted.iter().map(|of| {
            [
                of.evidence.to_string(),
                format!("{:.3}", of.trust.constant),
                format!("{:.3}", of.trust.record),
                format!("{:.3}", of.trust.scarcity),
            ]
        });
        writeln!(out, "{}", table(["evidence", "#weight", "#× leave-one-out record", "#÷ shots"], rows))?;
        let scores = &evidence.scores;
        writeln!(
            out,
            "dev MRR {BOLD}{:.3}{BOLD:#}; on train tasks left out {BOLD}{:.3}{BOLD:#} over queries, {:.3} over tasks",
            scores.dev_mrr.unwrap_or_default(),
            scores.cross_validated_mrr,
            scores.cross_validated_macro_mrr
        )?;
        writeln!(out, "wrote {BOLD}{run}{BOLD:#}; evaluate it with `rana eval {run}`")
    }
}
