use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clap::{Args, ValueHint, value_parser};
use rana::MetaTraining;
use rana::embed::{EmbeddingMetadata, EmbeddingSet, ModelKind};
use rana::fewshot::rana::{
    LogEntry, MetaError, MetaObserver, MetaOutcome, RANA_PRESETS, RanaConfig, Run, RunManifest, StartVectors,
    StepReport, TrainingState, ValidationReport,
};
use rana::graph::{Progress, Store, Unit};
use serde::Serialize;

use super::embed::{in_pool, stop_on_interrupt, vectors_path};
use super::eval::only_vectors;
use crate::error::CliError;
use crate::settings::{SettingsFile, print_settings};
use crate::terminal::{BOLD, Bar, DIM, Terminal, thousands};

/// Meta-train RANA on the tasks of a graph.
///
/// The graph needs few-shot tasks (`rana split`) and vectors (`rana embed`). The model with the best MRR on
/// the dev tasks is kept in a run, a directory with the configuration, the log and the model. Settings are
/// those of the paper, unless a preset, a file or --set say otherwise, in this order. Ctrl-C writes a
/// checkpoint, and --resume goes on from it to the same result.
#[derive(Debug, Args)]
#[command(after_long_help = format!("\
Presets: {}.

Examples:
  rana train kg --out run
  rana train nell --preset nell-one --seed 1 --out runs/nell-1
  rana train kg --out run --set J=3 --set prune=off --set learning_rate=0.001
  rana train kg --print-config > my.toml && rana train kg --config my.toml --out run
  rana train kg --out run --resume", preset_list()))]
pub(crate) struct TrainArgs {
    /// The graph store.
    #[arg(value_name = "KG", value_hint = ValueHint::DirPath)]
    store: PathBuf,
    /// Where the run goes.
    #[arg(long, value_name = "RUN", value_hint = ValueHint::DirPath, required_unless_present = "print_config")]
    out: Option<PathBuf>,
    /// Settings that are known to serve a benchmark; `paper` if not given.
    #[arg(long, value_name = "NAME")]
    preset: Option<String>,
    /// A TOML file of settings; what it leaves out stays as it is. See --print-config.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    config: Option<PathBuf>,
    /// One setting, such as J=3; may be repeated. KEY= takes an optional one back. See --print-config for all.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// The same seed gives the same model.
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// The vectors of this model; those that are there if they are of one model only.
    #[arg(long, conflicts_with = "vectors")]
    model: Option<ModelKind>,
    /// Where the vectors are, if not with the graph.
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    vectors: Option<PathBuf>,
    /// Go on with the interrupted training of a run, to the same result.
    #[arg(long, conflicts_with_all = ["preset", "config", "set", "seed", "model"])]
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

fn preset_list() -> String {
    RANA_PRESETS.iter().map(|preset| preset.name).collect::<Vec<_>>().join(", ")
}

pub(crate) fn run(args: &TrainArgs, terminal: &Terminal) -> Result<(), CliError> {
    let config = args.settings()?;
    if args.print_config {
        terminal.refuse_json("the settings")?;
        return print_config(&config);
    }
    let every = Duration::try_from_secs_f64(args.checkpoint_every)
        .map_err(|error| CliError::Usage(format!("--checkpoint-every {}: {error}", args.checkpoint_every)))?;
    let store = Store::open(&args.store)?;
    // `out` is required unless the settings are printed.
    let out = args.out.clone().unwrap_or_default();
    let session = if args.resume {
        let run = Run::open(&out)?;
        if run.is_finished() {
            return Err(CliError::NothingToResume { place: out.display().to_string() });
        }
        let vectors = args.vectors.clone().unwrap_or_else(|| run.manifest.vectors_path.clone());
        Session::resume(&store, run, &vectors, terminal)?
    } else {
        Run::check_target(&out)?;
        Session::begin(&store, config, &args.vectors_path()?, &out, terminal)?
    };
    let trained = in_pool(args.threads, || session.train(every, terminal))??;
    terminal.account(&trained, |out| {
        trained.print(out)?;
        writeln!(out, "wrote {BOLD}{run}{BOLD:#}; evaluate it with `rana eval {run}`", run = trained.run)
    })
}

impl TrainArgs {
    fn settings(&self) -> Result<RanaConfig, CliError> {
        let mut config = match &self.preset {
            Some(name) => RanaConfig::preset(name).map_err(|error| CliError::Usage(error.to_string()))?,
            None => RanaConfig::default(),
        };
        if let Some(path) = &self.config {
            config = SettingsFile::read(path)?.over(&config)?;
        }
        config = SettingsFile::of_assignments(&self.set)?.over(&config)?;
        if let Some(seed) = self.seed {
            config.seed = seed;
        }
        config.check().map_err(|error| CliError::Usage(error.to_string()))?;
        Ok(config)
    }

    fn vectors_path(&self) -> Result<PathBuf, CliError> {
        match (&self.vectors, self.model) {
            (Some(path), _) => Ok(path.clone()),
            (None, Some(model)) => Ok(vectors_path(&self.store, model)),
            (None, None) => only_vectors(&self.store),
        }
    }
}

fn print_config(config: &RanaConfig) -> Result<(), CliError> {
    let unset = [
        ("fold = \"1/5\"", config.fold.is_none()),
        ("max_norm = 1.0", config.max_norm.is_none()),
        ("test_inner_steps = 1", config.test_inner_steps.is_none()),
        ("entity_learning_rate = 0.01", config.entity_learning_rate.is_none()),
    ];
    print_settings(config, &unset)
}

/// One training from the command line.
pub(crate) struct Session<'s> {
    training: MetaTraining<'s>,
    run: Run,
    from: Option<(TrainingState, f64)>,
}

impl<'s> Session<'s> {
    /// A training from its start; nothing is written unless it can begin.
    pub(crate) fn begin(
        store: &'s Store,
        config: RanaConfig,
        vectors: &Path,
        out: &Path,
        terminal: &Terminal,
    ) -> Result<Self, CliError> {
        let set = EmbeddingSet::open(vectors, &store.graph)?;
        warn_of_vectors(&set, &config, terminal);
        let start = MetaTraining::start(store, &config, &set)?;
        let vectors = std::fs::canonicalize(vectors).unwrap_or_else(|_| vectors.to_owned());
        let graph = std::fs::canonicalize(&store.path).unwrap_or_else(|_| store.path.clone());
        let manifest = RunManifest::new(&store.graph, graph, store.manifest.data.clone(), vectors, &start);
        let training = MetaTraining::new(store, config.clone(), start)?;
        let run = Run::create(out, manifest, config)?;
        Ok(Self { training, run, from: None })
    }

    fn resume(store: &'s Store, mut run: Run, vectors: &Path, terminal: &Terminal) -> Result<Self, CliError> {
        let start = start_vectors(store, &run.config, vectors)?;
        run.check(&store.graph, &start)?;
        run.check_tasks(&store.manifest.data)?;
        let from = run.resume(&start)?;
        if from.is_none() {
            terminal.note("there was no checkpoint yet: training begins again at its start");
        }
        let training = MetaTraining::new(store, run.config.clone(), start)?;
        Ok(Self { training, run, from })
    }

    /// Trains to the end.
    pub(crate) fn train(mut self, every: Duration, terminal: &Terminal) -> Result<Trained, CliError> {
        self.training.checkpoint_every = every;
        let mut progress = MetaProgress::new(terminal, &self.run.config, self.from.as_ref());
        let outcome = self.training.run(&mut self.run, self.from.take(), &mut progress)?;
        drop(progress);
        let run = self.run.path().display().to_string();
        let steps = self.run.manifest.steps.unwrap_or_default();
        if outcome == MetaOutcome::Stopped {
            let store = self.run.manifest.graph_path.display();
            return Err(CliError::StoppedTraining {
                step: steps,
                steps: self.run.config.steps,
                resume: format!("rana train {store} --out {run} --resume"),
            });
        }
        Ok(Trained {
            run,
            outcome,
            steps,
            seconds: self.run.manifest.seconds.unwrap_or_default(),
            best_step: self.run.manifest.best.map(|best| best.step),
            dev_mrr: self.run.manifest.best.map(|best| best.dev_mrr),
            config: self.run.config.clone(),
        })
    }
}

/// Says what vectors are not made for.
fn warn_of_vectors(set: &EmbeddingSet, config: &RanaConfig, terminal: &Terminal) {
    let EmbeddingMetadata { model, support_shots, .. } = set.metadata;
    if model != ModelKind::TransE && config.data_mode.starts_from_pretrained() {
        terminal.warn(&format!(
            "these are vectors of {model}, which RANA reads as translations; `rana embed --model transe` makes better ones"
        ));
    }
    if let Some(seen) = support_shots {
        terminal.warn(&format!(
            "these vectors were trained on the first {seen} facts of each dev and test task: dev MRR is too good, and \
             results on test are none for unseen relations"
        ));
    }
}

/// The vectors that a configuration starts from.
fn start_vectors(store: &Store, config: &RanaConfig, vectors: &Path) -> Result<StartVectors, CliError> {
    let set = EmbeddingSet::open(vectors, &store.graph)?;
    Ok(MetaTraining::start(store, config, &set)?)
}

/// The account of a training.
#[derive(Serialize)]
pub(crate) struct Trained {
    pub(crate) run: String,
    outcome: MetaOutcome,
    steps: u64,
    seconds: f64,
    best_step: Option<u64>,
    dev_mrr: Option<f64>,
    config: RanaConfig,
}

impl Trained {
    pub(crate) fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(
            out,
            "meta-trained {BOLD}RANA{BOLD:#} (seed {}, {} shots, data mode {}): {} steps of {} episodes in {:.1} s",
            self.config.seed,
            self.config.shots,
            self.config.data_mode,
            thousands(self.steps),
            self.config.batch,
            self.seconds,
        )?;
        if let (Some(step), Some(mrr)) = (self.best_step, self.dev_mrr) {
            let tasks = match self.config.fold {
                None => "the dev tasks".to_owned(),
                Some(fold) => format!("the train tasks left out by fold {fold}"),
            };
            writeln!(out, "best on {tasks} after step {step}: MRR {BOLD}{mrr:.3}{BOLD:#}")?;
        }
        if self.outcome == MetaOutcome::OutOfPatience {
            writeln!(out, "{DIM}stopped early: no better for {} evaluations{DIM:#}", self.config.patience)?;
        }
        Ok(())
    }
}

/// A progress bar with loss, dev MRR, steps per second and time left; a line for each evaluation.
struct MetaProgress<'t> {
    terminal: &'t Terminal,
    bar: Bar,
    stop: Arc<AtomicBool>,
    loss: f64,
    validation: Option<(u64, f64)>,
}

impl<'t> MetaProgress<'t> {
    fn new(terminal: &'t Terminal, config: &RanaConfig, from: Option<&(TrainingState, f64)>) -> Self {
        let bar = terminal.progress();
        bar.begin("meta-training", Some(config.steps), Unit::Steps);
        bar.jump(from.map_or(0, |(state, _)| state.step));
        let best = from.and_then(|(state, _)| state.best.as_ref());
        let validation = best.map(|best| (best.step, best.dev_mrr));
        Self { terminal, bar, stop: stop_on_interrupt(), loss: f64::NAN, validation }
    }
}

impl MetaObserver for MetaProgress<'_> {
    fn stepped(&mut self, report: &StepReport) {
        // The loss of one batch says little.
        self.loss = if self.loss.is_nan() { report.loss } else { 0.9 * self.loss + 0.1 * report.loss };
        self.bar.advance(1);
        self.bar.say(|| {
            let best = self
                .validation
                .map_or_else(String::new, |(step, mrr)| format!(", best dev MRR {mrr:.3} at {step}"));
            format!("loss {:.4}{best}", self.loss)
        });
    }

    fn logged(&mut self, _: &LogEntry) -> Result<(), MetaError> {
        Ok(())
    }

    fn validated(&mut self, report: &ValidationReport) -> Result<(), MetaError> {
        if report.is_best {
            self.validation = Some((report.step, report.dev_mrr));
        }
        let mark = if report.is_best { ", the best so far" } else { "" };
        let line =
            format!("step {}: loss {:.4}, dev MRR {:.4}{mark}", report.step, self.loss, report.dev_mrr);
        self.bar.above(|| self.terminal.note(&line));
        Ok(())
    }

    fn should_stop(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}
