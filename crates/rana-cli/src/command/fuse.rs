use std::io::{self, Write};
use std::path::PathBuf;

use clap::{Args, ValueHint, value_parser};
use rana::embed::ModelKind;
use rana::fewshot::PretrainingFacts;
use rana::fewshot::fused::{EvidenceKind, FusedConfig};
use rana::fewshot::rana::RanaConfig;
use rana::fused::{FusedError, FusedManifest, FusedRun, FusedTraining};
use rana::graph::Store;
use rana::trial::{TrialError, VectorPlan, VectorSettings};
use serde::Serialize;

use super::embed::in_pool;
use super::trials::TrialsProgress;
use crate::error::CliError;
use crate::settings::{SettingsFile, print_settings};
use crate::terminal::{BOLD, Terminal, table};

/// Train rana-fused: RANA and the evidence in the graph.
///
/// Everything that can speak for a tail is a source of evidence: RANA's score, products of other vectors, edges and
/// paths that the support has too, copies of its tails, likeness to them, types, and names. How far
/// each is trusted is learned across the train tasks, each of which is seen by vectors and a RANA that do not know it: so this
/// trains both once for each fold and once for all. Ctrl-C keeps what is done, and the same command goes on.
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
    /// Settings of RANA and its vectors that are known to serve a benchmark; if not given, those of RANA are
    /// nell-one-tuned, and vectors are trained as serves the size of the graph.
    #[arg(long, value_name = "NAME")]
    preset: Option<String>,
    /// The same seed gives the same model.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// A source of evidence that is not used; may be repeated.
    #[arg(long, value_name = "EVIDENCE")]
    without: Vec<EvidenceKind>,
    /// One setting of RANA, such as steps=300; may be repeated. See `rana train KG --print-config` for all.
    #[arg(long, value_name = "KEY=VALUE")]
    rana: Vec<String>,
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
    let progress = TrialsProgress::new(terminal);
    let trained = in_pool(args.threads, || FusedRun::train(&out, &store, &training, &progress))?;
    drop(progress);
    let run = trained.map_err(|error| match error {
        FusedError::Trial(TrialError::Stopped) => {
            CliError::StoppedTrials { resume: super::reproduce::resume() }
        }
        error => error.into(),
    })?;
    let account = Account { run: run.path().display().to_string(), manifest: &run.manifest };
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
        let name = self.preset.as_deref().unwrap_or("nell-one-tuned");
        let rana = RanaConfig::preset(name).map_err(|error| CliError::Usage(error.to_string()))?;
        let rana: RanaConfig = SettingsFile::of_assignments(&self.rana)?.over(&rana)?;
        let rana = RanaConfig { seed: self.seed, ..rana };
        rana.check().map_err(|error| CliError::Usage(error.to_string()))?;
        let vectors = |model| {
            let of_preset =
                self.preset.as_ref().and_then(|preset| VectorSettings::of_preset(preset, model).ok());
            of_preset.unwrap_or_else(|| VectorSettings {
                // What the train tasks know is evidence too.
                facts: PretrainingFacts::TrainTasks,
                ..VectorSettings::recommended(model, store)
            })
        };
        let products = fused.evidence.contains(&EvidenceKind::Product);
        Ok(FusedTraining {
            name: name.to_owned(),
            vectors: VectorPlan::Train(vectors(ModelKind::TransE)),
            products: products.then(|| VectorPlan::Train(vectors(ModelKind::DistMult))),
            rana,
            fused: FusedConfig { seed: self.seed, ..fused },
        })
    }
}

#[derive(Serialize)]
struct Account<'a> {
    run: String,
    #[serde(flatten)]
    manifest: &'a FusedManifest,
}

impl Account<'_> {
    fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        let Self { run, manifest } = self;
        let rows = manifest.trusted.iter().map(|of| {
            [
                of.evidence.to_string(),
                format!("{:.3}", of.trust.constant),
                format!("{:.3}", of.trust.record),
                format!("{:.3}", of.trust.scarcity),
            ]
        });
        writeln!(out, "{}", table(["trust in", "#always", "#by its record", "#over K"], rows))?;
        let scores = &manifest.scores;
        writeln!(
            out,
            "dev MRR {BOLD}{:.3}{BOLD:#}; on train tasks left out {BOLD}{:.3}{BOLD:#} over queries, {:.3} over tasks",
            scores.dev_mrr, scores.cross_validated_mrr, scores.cross_validated_macro_mrr
        )?;
        writeln!(out, "wrote {BOLD}{run}{BOLD:#}; evaluate it with `rana eval {run}`")
    }
}
