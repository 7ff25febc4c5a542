//! `rana embed`: trains vectors, or imports them.

mod fixed_rows;
mod import;
mod session;
mod settings;
mod trained;

use std::path::{Path, PathBuf};

use clap::{Args, ValueHint, value_parser};
use rana::CHECKPOINT_EVERY;
use rana::embed::{Checkpoint, EmbedConfig, EmbeddingSet, ModelKind, preset_names};
use rana::fewshot::{Fold, PretrainingFacts};
use rana::graph::Store;

pub(crate) use self::fixed_rows::FixedRowFiles;
use self::import::ImportVectorsArgs;
pub(crate) use self::session::Session;
use self::settings::SettingsArgs;
pub(crate) use self::trained::{TableNorms, Trained};
use super::stored_vectors::vectors_path;
use crate::error::CliError;
use crate::human_numbers::seconds;
use crate::settings::print_settings;
use crate::terminal::{BOLD, Terminal};
use crate::thread_pool::in_pool;

/// Train vectors for the entities and relations of a graph, or import vectors.
///
/// Models: transe, distmult, complex, simple, rotate. The settings start from those recommended for the model and the
/// size of the graph. A preset, a file and options override them, in this order. The vectors are stored with the
/// graph. Ctrl-C writes a checkpoint, and --resume resumes from it.
#[derive(Debug, Args)]
#[command(after_long_help = format!("\
Presets: {}.

Examples:
  rana embed kg
  rana embed kg --model complex --dim 200 --seed 7
  rana embed fb15k-237 --model rotate --preset fb15k-237
  rana embed kg --print-config > my.toml && rana embed kg --config my.toml
  rana embed kg --resume
  rana embed nell --model distmult --preset nell-one-few-shot
  rana embed nell --preset nell-one-released --fixed-entities known.tsv --fixed-relations relation2vec.TransE
  rana embed nell --entities entity2vec.TransE --relations relation2vec.TransE", preset_names().join(", ")))]
pub(crate) struct EmbedArgs {
    /// The graph store.
    #[arg(value_name = "KG", value_hint = ValueHint::DirPath)]
    store: PathBuf,
    /// The directory to write the vectors to; KG/vectors/MODEL if not given.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    out: Option<PathBuf>,
    #[command(flatten)]
    settings: SettingsArgs,
    /// Which facts to train on: background, train-tasks (also the facts of the train tasks) or supports (also the
    /// supports of the dev and test tasks); as in the preset if not given.
    #[arg(long, value_name = "WHICH")]
    facts: Option<PretrainingFacts>,
    /// Leave out the train tasks of one fold, such as 2/5, for meta-training with this fold held out.
    #[arg(long, value_name = "N/OF")]
    fold: Option<Fold>,
    /// Support facts of each dev and test task, for --facts supports.
    #[arg(long, value_name = "K", default_value_t = 5)]
    shots: usize,
    /// How often the state is kept, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = CHECKPOINT_EVERY.as_secs_f64())]
    checkpoint_every: f64,
    /// How many threads to use; all processors if not given.
    #[arg(long, value_name = "N", value_parser = value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Resume an interrupted training from its checkpoint; the result is the same as without the interruption.
    #[arg(long, conflicts_with_all = ["settings", "ImportVectorsArgs"])]
    resume: bool,
    /// Print all settings as TOML and exit without training.
    #[arg(long)]
    print_config: bool,
    #[command(flatten)]
    fixed: FixedRowFiles,
    #[command(flatten)]
    import: ImportVectorsArgs,
}

/// The checkpoint file beside the vectors.
const CHECKPOINT: &str = EmbeddingSet::CHECKPOINT;

pub(crate) fn run(args: &EmbedArgs, terminal: &Terminal) -> Result<(), CliError> {
    let store = Store::open(&args.store)?;
    if let Some(files) = args.import.files() {
        let out = args.out.clone().unwrap_or_else(|| vectors_path(&args.store, args.settings.model()));
        return import::run(&files, &args.settings, &store, &out, terminal);
    }
    let (config, checkpoint, out) = if args.resume {
        let path = find_checkpoint(args)?;
        let checkpoint = Checkpoint::read(&path)?;
        let out = path.parent().map(Path::to_owned).unwrap_or_default();
        (checkpoint.config.clone(), Some(checkpoint), out)
    } else {
        let config = args.settings.resolve(store.graph.facts().len())?;
        let out = args.out.clone().unwrap_or_else(|| vectors_path(&args.store, config.model));
        (config, None, out)
    };
    if args.print_config {
        terminal.refuse_json("the settings")?;
        return print_config(&config);
    }
    let (facts, fold, shots) = (args.facts()?, args.fold, args.shots);
    let checkpoint_every = seconds("checkpoint-every", args.checkpoint_every)?;
    let fixed = args.fixed.clone();
    let session = Session { store: &store, config, facts, fold, shots, fixed, out, checkpoint_every };
    let trained = in_pool(args.threads, || session.train(checkpoint, terminal))??;
    terminal.account(&trained, |out| {
        trained.print(out)?;
        let Trained { vectors, .. } = &trained;
        writeln!(out, "wrote {BOLD}{vectors}{BOLD:#}; evaluate it with `{}`", session.command("eval"))
    })
}

impl EmbedArgs {
    fn facts(&self) -> Result<PretrainingFacts, CliError> {
        match (self.facts, self.settings.preset_facts()) {
            (Some(facts), _) => Ok(facts),
            (None, Some(facts)) => facts.parse().map_err(CliError::Usage),
            (None, None) => Ok(PretrainingFacts::default()),
        }
    }
}

fn print_config(config: &EmbedConfig) -> Result<(), CliError> {
    let unset = [("max_norm = 1.0", config.max_norm.is_none()), ("init = 1.0", config.init.is_none())];
    let unset: Vec<String> =
        unset.iter().filter(|(_, is_unset)| *is_unset).map(|(line, _)| (*line).to_owned()).collect();
    print_settings(config, &unset)
}

/// The checkpoint to resume from: the one in --out, or the only one stored with the graph.
fn find_checkpoint(args: &EmbedArgs) -> Result<PathBuf, CliError> {
    if let Some(out) = &args.out {
        let path = out.join(CHECKPOINT);
        return match path.exists() {
            true => Ok(path),
            false => Err(CliError::NothingToResume { place: out.display().to_string() }),
        };
    }
    let found: Vec<PathBuf> = ModelKind::ALL
        .iter()
        .map(|&model| vectors_path(&args.store, model).join(CHECKPOINT))
        .filter(|path| path.exists())
        .collect();
    match &found[..] {
        [one] => Ok(one.clone()),
        [] => Err(CliError::NothingToResume { place: args.store.display().to_string() }),
        several => Err(CliError::Usage(format!(
            "there are {} checkpoints; choose one with --out, such as --out {}",
            several.len(),
            several[0].parent().unwrap_or(Path::new("")).display()
        ))),
    }
}
