//! [`fit`]: trains a few-shot model by steps.

use std::path::{Path, PathBuf};
use std::time::Duration;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use rana::Settings;
use rana::embed::{EmbeddingSet, ModelKind};
use rana::graph::{Observer, Store};
use rana::models::registry;
use rana::models::training::{MetaTraining, Run, RunConfig, RunManifest, TrainingOutcome};

use crate::failure::{Failure, Outcome};
use crate::predictor::Predictor;
use crate::progress::Shown;
use crate::work::{Way, run, wait_for_interrupted_work};

/// Trains a few-shot model on the tasks of a graph store (`rana split`) from its vectors (`rana embed`), and opens the run.
///
/// It is what `rana train` does: `settings` are its `--set`, such as `{"steps": 300}`. Ctrl-C keeps a checkpoint, and
/// `resume=True` goes on from it to the same result.
#[pyfunction]
#[pyo3(signature = (
    graph: "str | os.PathLike[str]",
    out: "str | os.PathLike[str]",
    *,
    model: "str" = "rana",
    preset: "str | None" = None,
    settings: "dict[str, object] | None" = None,
    seed: "int | None" = None,
    vectors: "str | os.PathLike[str] | None" = None,
    resume: "bool" = false,
    checkpoint_every: "float" = 60.0,
    threads: "int | None" = None,
    progress: "bool | typing.Callable[[Progress], object] | None" = None,
) -> "Predictor")]
#[allow(clippy::too_many_arguments)]
pub(crate) fn fit(
    py: Python<'_>,
    graph: PathBuf,
    out: PathBuf,
    model: &str,
    preset: Option<&str>,
    settings: Option<&Bound<'_, PyDict>>,
    seed: Option<u64>,
    vectors: Option<PathBuf>,
    resume: bool,
    checkpoint_every: f64,
    threads: Option<usize>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Predictor> {
    let failed = |failure: Failure| failure.into_exception(py);
    let config = configured(model, preset, settings, seed).map_err(failed)?;
    let every =
        Duration::try_from_secs_f64(checkpoint_every).map_err(|error| failed(Failure::data(error)))?;
    wait_for_interrupted_work(py)?;
    let kept = out.clone();
    let way = Way { threads, shown: Shown::new(progress) };
    let opened = run(py, way, move |watch| {
        let store = Store::open(&graph)?;
        train(&store, &config, vectors.as_deref(), &out, resume, every, watch)?;
        Ok(rana::Predictor::open(&out, None)?)
    })?;
    Ok(Predictor::new(opened, kept, None, threads))
}

/// The settings of a training.
fn configured(
    model: &str,
    preset: Option<&str>,
    settings: Option<&Bound<'_, PyDict>>,
    seed: Option<u64>,
) -> Outcome<RunConfig> {
    let wrong = |error: &dyn std::error::Error| Failure::new("SettingsError", error);
    let entry = registry::find(model).map_err(|error| wrong(&error))?;
    let preset = preset.unwrap_or_else(|| entry.default_preset());
    let mut config = RunConfig::preset(entry.name, preset).map_err(|error| wrong(&error))?;
    let mut assignments = Vec::new();
    for (key, value) in settings.into_iter().flatten() {
        // TOML writes booleans in small letters; None unsets a setting.
        let text = match value.extract::<bool>() {
            Ok(truth) if value.is_instance_of::<pyo3::types::PyBool>() => truth.to_string(),
            _ if value.is_none() => String::new(),
            _ => value.str()?.to_string(),
        };
        assignments.push(format!("{}={text}", key.str()?));
    }
    let settings = Settings::of_assignments(&assignments).map_err(|error| wrong(&error))?;
    config = settings.over(&config).map_err(|error| wrong(&error))?;
    if let Some(seed) = seed {
        config.trainer.seed = seed;
    }
    config.check().map_err(|error| wrong(&error))?;
    Ok(config)
}

fn train(
    store: &Store,
    config: &RunConfig,
    vectors: Option<&Path>,
    out: &Path,
    resume: bool,
    every: Duration,
    observer: &dyn Observer,
) -> Outcome<()> {
    let (mut run, mut training, from) = if resume {
        let mut run = Run::open(out)?;
        if run.is_finished() {
            return Ok(());
        }
        let vectors = vectors.map_or_else(|| run.manifest.vectors_at(out, &store.path), Path::to_owned);
        let set = EmbeddingSet::open(&vectors, &store.graph)?;
        let start = MetaTraining::start(store, &run.config, &set)?;
        run.check(store, &start)?;
        let from = run.resume(&MetaTraining::layout(store, &run.config, start.dim()), &start)?;
        let training = MetaTraining::new(store, run.config.clone(), start)?;
        (run, training, from)
    } else {
        Run::check_target(out)?;
        MetaTraining::check_tasks(store, config)?;
        let vectors = match vectors {
            Some(vectors) => vectors.to_owned(),
            None => only_vectors(&store.path)?,
        };
        let set = EmbeddingSet::open(&vectors, &store.graph)?;
        let start = MetaTraining::start(store, config, &set)?;
        let config = config.in_unit_of(&start);
        let manifest = RunManifest::new(config.model.model_name(), store, &vectors, &start);
        let training = MetaTraining::new(store, config.clone(), start)?;
        (Run::create(out, manifest, config)?, training, None)
    };
    training.checkpoint_every = every;
    match training.run(&mut run, from, observer)? {
        TrainingOutcome::Stopped => Err(Failure::new("LearningError", "stopped; a checkpoint is written")),
        _ => Ok(()),
    }
}

/// The vectors kept with a store, if they are of one model.
fn only_vectors(store: &Path) -> Outcome<PathBuf> {
    let at = |model: &ModelKind| store.join("vectors").join(model.to_string());
    let mut found = ModelKind::ALL.iter().map(at).filter(|path| EmbeddingSet::read_metadata(path).is_ok());
    match (found.next(), found.next()) {
        (Some(one), None) => Ok(one),
        (None, _) => Err(Failure::new(
            "VectorError",
            format!("{}: no vectors; make some by `rana embed`", store.display()),
        )),
        (Some(_), Some(_)) => {
            let store = store.display();
            Err(Failure::new(
                "VectorError",
                format!("{store} has vectors of several models; choose by `vectors`"),
            ))
        }
    }
}
