//! `rana train`: trains a few-shot model by steps.

mod session;
mod trained;

use std::path::PathBuf;

use clap::{Args, ValueHint, value_parser};
use rana::embed::ModelKind;
use rana::graph::Store;
use rana::models::registry::{self, RegistryError};
use rana::models::training::{MetaTraining, Run, RunConfig};

pub(crate) use self::session::Session;
pub(crate) use self::trained::Trained;
use super::stored_vectors::{only_vectors, vectors_path};
use crate::error::CliError;
use crate::human_numbers::seconds;
use crate::settings::{SettingsFile, print_settings};
use crate::terminal::{BOLD, Terminal};
use crate::thread_pool::in_pool;

/// Meta-train a few-shot model on the tasks of a graph.
///
/// The graph needs few-shot tasks (`rana split`) and vectors (`rana embed`). The model with the best MRR on
/// the dev tasks is kept in a run, a directory with the configuration, the log and the model. Settings follow
/// the vectors, unless a preset, a file or --set changes them, in this order; the paper's are `--preset paper`.
/// Ctrl-C writes a checkpoint, and --resume continues from it to the same result.
#[derive(Debug, Args)]
#[command(after_long_help = format!("\
Models and their presets:
{}
Examples:
  rana train kg --out run
  rana train nell --preset nell-one --seed 1 --out runs/nell-1
  rana train nell --model NAME --preset nell-one --out runs/other
  rana train kg --out run --set J=3 --set prune=off --set learning_rate=0.001
  rana train kg --print-config > my.toml && rana train kg --config my.toml --out run
  rana train kg --out run --resume", model_list()))]
pub(crate) struct TrainArgs {
    /// The graph store.
    #[arg(value_name = "KG", value_hint = ValueHint::DirPath)]
    store: PathBuf,
    /// Where the run goes.
    #[arg(long, value_name = "RUN", value_hint = ValueHint::DirPath, required_unless_present = "print_config")]
    out: Option<PathBuf>,
    /// The model to train; see the list below.
    #[arg(long, value_name = "NAME", default_value = registry::DEFAULT)]
    model: String,
    /// Settings that suit a benchmark, or those of the model's paper; `recommended`, which follow the vectors, if not given.
    #[arg(long, value_name = "NAME")]
    preset: Option<String>,
    /// A TOML file of settings; what it leaves out stays as it is. See --print-config.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    config: Option<PathBuf>,
    /// One setting, such as J=3; may be repeated. KEY= unsets an optional one. See --print-config for all.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// The same seed gives the same model.
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// The vectors to start from: a link-prediction model whose vectors are kept with the graph, such as transe, or
    /// a directory; the only ones there are if not given.
    #[arg(long, value_name = "NAME|DIR", value_hint = ValueHint::DirPath)]
    vectors: Option<PathBuf>,
    /// Resume the interrupted training of a run, to the same result.
    #[arg(long, conflicts_with_all = ["preset", "config", "set", "seed"])]
    resume: bool,
    /// How often the state is kept, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0)]
    checkpoint_every: f64,
    /// How many threads to use; all processors if not given.
    #[arg(long, value_name = "N", value_parser = value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Print the settings as TOML, every field, and train nothing.
    #[arg(long, conflicts_with = "resume")]
    print_config: bool,
}

fn model_list() -> String {
    let stepped = registry::MODELS.iter().filter(|entry| entry.is_stepped());
    let line = |entry: &registry::ModelEntry| {
        let presets: Vec<&str> = entry.presets.iter().map(|preset| preset.name).collect();
        format!("  {}: {} (presets: {})\n", entry.name, entry.about, presets.join(", "))
    };
    stepped.map(line).collect()
}

pub(crate) fn run(args: &TrainArgs, terminal: &Terminal) -> Result<(), CliError> {
    let config = args.settings()?;
    if args.print_config {
        terminal.refuse_json("the settings")?;
        return print_settings(&config, &config.unset());
    }
    let every = seconds("checkpoint-every", args.checkpoint_every)?;
    let store = Store::open(&args.store)?;
    // `out` is required unless the settings are printed.
    let out = args.out.clone().unwrap_or_default();
    let session = if args.resume {
        let run = Run::open(&out)?;
        if run.is_finished() {
            let out = out.display();
            terminal.note(&format!("{out}: this training is finished; evaluate it with `rana eval {out}`"));
            return Ok(());
        }
        let vectors = match &args.vectors {
            Some(_) => args.vectors_path()?,
            None => run.manifest.vectors_at(&out, &store.path),
        };
        Session::resume(&store, run, &vectors, terminal)?
    } else {
        Run::check_target(&out)?;
        MetaTraining::check_tasks(&store, &config)?;
        Session::begin(&store, &config, &args.vectors_path()?, &out, terminal)?
    };
    let trained = in_pool(args.threads, || session.train(every, terminal))??;
    terminal.account(&trained, |out| {
        trained.print(out)?;
        writeln!(out, "wrote {BOLD}{run}{BOLD:#}; evaluate it with `rana eval {run}`", run = trained.run)
    })
}

impl TrainArgs {
    fn settings(&self) -> Result<RunConfig, CliError> {
        let wrong = |error: RegistryError| CliError::Usage(error.to_string());
        let entry = registry::find(&self.model).map_err(wrong)?;
        let preset = self.preset.as_deref().unwrap_or_else(|| entry.default_preset());
        let mut config = RunConfig::preset(entry.name, preset).map_err(wrong)?;
        if let Some(path) = &self.config {
            config = SettingsFile::read(path)?.over(&config)?;
        }
        config = SettingsFile::of_assignments(&self.set)?.over(&config)?;
        if let Some(seed) = self.seed {
            config.trainer.seed = seed;
        }
        config.check().map_err(|error| CliError::Usage(error.to_string()))?;
        Ok(config)
    }

    fn vectors_path(&self) -> Result<PathBuf, CliError> {
        let Some(given) = &self.vectors else { return only_vectors(&self.store) };
        let model = given.to_str().and_then(|name| name.parse::<ModelKind>().ok());
        Ok(model
            .filter(|_| !given.is_dir())
            .map_or_else(|| given.clone(), |model| vectors_path(&self.store, model)))
    }
}
