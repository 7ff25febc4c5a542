//! [`Session`]: one training of vectors, started from the command line.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use rana::VectorTraining;
use rana::embed::{
    Checkpoint, Checkpoints, EmbedConfig, EmbeddingSet, PretrainingOutcome, PretrainingReport,
};
use rana::fewshot::{Fold, PretrainingFacts};
use rana::graph::Store;

use super::super::stored_vectors::vectors_path;
use super::CHECKPOINT;
use super::fixed_rows::FixedRowFiles;
use super::trained::{TableNorms, Trained};
use crate::error::CliError;
use crate::terminal::Terminal;
use crate::training_progress::TrainingProgress;

/// One training, started from the command line.
pub(crate) struct Session<'s> {
    pub(crate) store: &'s Store,
    pub(crate) config: EmbedConfig,
    pub(crate) facts: PretrainingFacts,
    pub(crate) fold: Option<Fold>,
    pub(crate) shots: usize,
    pub(crate) fixed: FixedRowFiles,
    pub(crate) out: PathBuf,
    pub(crate) checkpoint_every: Duration,
}

impl Session<'_> {
    /// Trains to the end and writes the vectors. Starts from a checkpoint if there is one.
    pub(crate) fn train(
        &self,
        checkpoint: Option<Checkpoint>,
        terminal: &Terminal,
    ) -> Result<Trained, CliError> {
        let target = EmbeddingSet::target(&self.out)?;
        let training =
            VectorTraining::new(self.store, self.config.clone(), self.facts, self.fold, self.shots)?
                .with_fixed_rows(self.fixed.read(&self.store.graph)?);
        let pretraining = training.pretraining();
        let mut trainer = pretraining.trainer(checkpoint)?;
        let checkpoint_path = self.out.join(CHECKPOINT);
        let started = Instant::now();
        let checkpoints = Checkpoints { path: &checkpoint_path, every: self.checkpoint_every };
        let progress = TrainingProgress::new(terminal);
        let PretrainingReport { outcome, facts_per_second } =
            pretraining.run(&mut trainer, "training", &progress, Some(checkpoints))?;
        drop(progress);
        if outcome == PretrainingOutcome::Stopped {
            trainer.checkpoint().write(&checkpoint_path)?;
            return Err(CliError::Stopped {
                epoch: trainer.checkpoint().position.epoch + 1,
                epochs: self.config.epochs,
                resume: self.command("embed") + " --resume" + &self.facts_options() + &self.fixed.options(),
            });
        }
        let set = training.vectors(trainer)?;
        set.write_to(&target)?;
        let _ = std::fs::remove_file(&checkpoint_path);
        Ok(Trained {
            vectors: self.out.display().to_string(),
            facts: pretraining.data().facts().len(),
            validation_facts: pretraining.validation_facts().len(),
            outcome: if outcome == PretrainingOutcome::Converged { "converged" } else { "finished" },
            seconds: started.elapsed().as_secs_f64(),
            facts_per_second,
            norms: TableNorms::of(&set),
            config: self.config.clone(),
            metrics: set.metadata.metrics,
        })
    }

    /// The command line that applies a subcommand to this graph and these vectors.
    pub(super) fn command(&self, command: &str) -> String {
        let store = &self.store.path;
        if self.out == vectors_path(store, self.config.model) {
            return format!("rana {command} {}", store.display());
        }
        let option = if command == "embed" { "out" } else { "vectors" };
        format!("rana {command} {} --{option} {}", store.display(), self.out.display())
    }

    fn facts_options(&self) -> String {
        let fold = self.fold.map_or_else(String::new, |fold| format!(" --fold {fold}"));
        match self.facts {
            PretrainingFacts::Background => fold,
            PretrainingFacts::TrainTasks => format!(" --facts train-tasks{fold}"),
            PretrainingFacts::Supports => format!(" --facts supports --shots {}{fold}", self.shots),
        }
    }
}
