//! [`Session`]: one training of a few-shot model, started from the command line.

use std::io::Write;
use std::path::Path;
use std::time::Duration;

use rana::embed::{EmbeddingMetadata, EmbeddingSet, ModelKind};
use rana::graph::{Store, write_file_atomically};
use rana::models::training::{
    MetaTraining, Misfit, Run, RunConfig, RunManifest, StartVectors, TrainingOutcome, TrainingState,
};
use rana::report::LearningCurve;

use super::trained::{LEARNING_CURVE, Trained, model_title};
use crate::error::CliError;
use crate::terminal::Terminal;
use crate::training_progress::TrainingProgress;

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
        config: &RunConfig,
        vectors: &Path,
        out: &Path,
        terminal: &Terminal,
    ) -> Result<Self, CliError> {
        let set = EmbeddingSet::open(vectors, &store.graph)?;
        warn_of_vectors(&set, config, terminal);
        let start = MetaTraining::start(store, config, &set)?;
        let config = config.in_unit_of(&start);
        warn_of_misfit(&start, &config, terminal);
        let manifest = RunManifest::new(config.model.model_name(), store, vectors, &start);
        let training = MetaTraining::new(store, config.clone(), start)?;
        let run = Run::create(out, manifest, config)?;
        Ok(Self { training, run, from: None })
    }

    pub(super) fn resume(
        store: &'s Store,
        mut run: Run,
        vectors: &Path,
        terminal: &Terminal,
    ) -> Result<Self, CliError> {
        let start = start_vectors(store, &run.config, vectors)?;
        run.check(store, &start)?;
        let from = run.resume(&MetaTraining::layout(store, &run.config, start.dim()), &start)?;
        if from.is_none() {
            terminal.note("there was no checkpoint yet: training starts again from step 0");
        }
        let training = MetaTraining::new(store, run.config.clone(), start)?;
        Ok(Self { training, run, from })
    }

    /// Trains to the end.
    pub(crate) fn train(mut self, every: Duration, terminal: &Terminal) -> Result<Trained, CliError> {
        self.training.checkpoint_every = every;
        let progress = TrainingProgress::new(terminal);
        let outcome = self.training.run(&mut self.run, self.from.take(), &progress)?;
        drop(progress);
        let curve = LearningCurve::of_run(self.run.path());
        self.draw(&curve)?;
        let run = self.run.path().display().to_string();
        let steps = self.run.manifest.steps.unwrap_or_default();
        if self.run.manifest.best.is_some_and(|best| best.step == 0) {
            terminal.warn(
                "training did not improve on the untrained model, which is kept. These settings do not suit the graph: \
                 try others, or `rana learn`",
            );
        }
        if outcome == TrainingOutcome::Stopped {
            let store = self.run.manifest.graph_path.display();
            return Err(CliError::StoppedTraining {
                step: steps,
                steps: self.run.config.trainer.steps,
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
            curve,
            config: self.run.config.clone(),
        })
    }

    /// Draws the learning curve into the run.
    fn draw(&self, curve: &LearningCurve) -> Result<(), CliError> {
        let trainer = &self.run.config.trainer;
        let model = model_title(&self.run.config);
        let title = format!("{model} (seed {}, data mode {})", trainer.seed, trainer.data_mode);
        let Some(picture) = curve.picture(&title) else { return Ok(()) };
        let write = |name: &str, bytes: &[u8]| {
            let path = self.run.path().join(name);
            write_file_atomically(&path, |out| out.write_all(bytes))
                .map_err(|error| CliError::io(&path, "write the picture", error))
        };
        write(LEARNING_CURVE, picture.svg.as_bytes())?;
        write("learning-curve.png", &picture.png)
    }
}

/// Says what vectors are not made for.
pub(super) fn warn_of_vectors(set: &EmbeddingSet, config: &RunConfig, terminal: &Terminal) {
    let EmbeddingMetadata { model, support_shots, .. } = set.metadata;
    if model != ModelKind::TransE && config.trainer.data_mode.starts_from_pretrained() {
        terminal.warn(&format!(
            "these are vectors of {model}, but they are read as translations; `rana embed --model transe` makes better ones"
        ));
    }
    if let Some(seen) = support_shots {
        terminal.warn(&format!(
            "these vectors were trained on the first {seen} facts of each dev and test task, so dev and test \
             relations are not unseen: their MRR will be too high"
        ));
    }
}

/// Says if a setting was made for other vectors.
pub(super) fn warn_of_misfit(start: &StartVectors, config: &RunConfig, terminal: &Terminal) {
    if let Some(Misfit { setting, value, distance }) = config.misfit(start) {
        terminal.warn(&format!(
            "{setting} is {value}, but two of these vectors are {distance:.2} apart in the mean: the settings were made \
             for others. Without --preset, settings follow the vectors"
        ));
    }
}

/// The vectors that a configuration starts from.
pub(super) fn start_vectors(
    store: &Store,
    config: &RunConfig,
    vectors: &Path,
) -> Result<StartVectors, CliError> {
    let set = EmbeddingSet::open(vectors, &store.graph)?;
    Ok(MetaTraining::start(store, config, &set)?)
}
