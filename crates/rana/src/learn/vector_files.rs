//! Vectors of a learning: trained once, kept in files, and resumed after an interruption.

use std::fs;
use std::path::Path;
use std::time::Instant;

use rana_embed::{
    Checkpoint, EmbedConfig, EmbeddingMetadata, EmbeddingSet, Pretraining, PretrainingOutcome,
    training_metrics,
};
use rana_graph::{Fact, Graph, Progress, Unit};

use super::LearnError;
use super::schedule::Schedule;
use crate::trial::PretrainingWatch;

/// Opens the vectors of some facts in a directory, or trains them into it.
pub(super) fn vectors(
    path: &Path,
    graph: &Graph,
    facts: &[Fact],
    config: &EmbedConfig,
    stage: &str,
    schedule: &Schedule<'_>,
) -> Result<EmbeddingSet, LearnError> {
    let training = Pretraining::of_facts(graph, facts, config.clone())?;
    let identity = format!("{:016x}", training.data().fingerprint());
    let total = training.data().facts().len() as u64 * u64::from(config.epochs);
    schedule.begin(stage, Some(total), Unit::Facts);
    let is_same = |metadata: &EmbeddingMetadata| {
        metadata.training.as_ref() == Some(config) && metadata.task_facts.as_ref() == Some(&identity)
    };
    let earlier = EmbeddingSet::open(path, graph).ok().filter(|earlier| is_same(&earlier.metadata));
    if let Some(earlier) = earlier {
        schedule.end();
        return Ok(earlier);
    }
    let failed = |source| LearnError::Io { path: path.to_owned(), action: "create the directory", source };
    fs::create_dir_all(path).map_err(failed)?;
    EmbeddingSet::check_target(path)?;
    let checkpoint = path.join(EmbeddingSet::CHECKPOINT);
    // A checkpoint that cannot be read, or is of other facts, only costs the time to begin again.
    let kept = Checkpoint::read(&checkpoint).ok().filter(|kept| kept.config == *config);
    let mut trainer = match training.trainer(kept) {
        Ok(trainer) => trainer,
        Err(_) => training.trainer(None)?,
    };
    let position = trainer.checkpoint().position;
    schedule.advance(u64::from(position.epoch) * training.data().facts().len() as u64 + position.fact as u64);
    let watch = schedule.watch();
    let mut observer =
        PretrainingWatch { watch, progress: schedule, checkpoint: checkpoint.clone(), last: Instant::now() };
    let outcome = training.run(&mut trainer, &mut observer, watch.stop())?;
    schedule.end();
    if outcome == PretrainingOutcome::Stopped {
        trainer.checkpoint().write(&checkpoint)?;
        return Err(LearnError::Stopped);
    }
    let metadata = EmbeddingMetadata {
        origin: "learn".to_owned(),
        task_facts: Some(identity),
        metrics: training_metrics(trainer.checkpoint()),
        ..EmbeddingMetadata::default()
    };
    let set = EmbeddingSet::trained(graph, config.clone(), trainer.into_parameters(), metadata)?;
    set.write(path)?;
    // It only takes room from here on.
    let _ = fs::remove_file(&checkpoint);
    Ok(EmbeddingSet::open(path, graph)?)
}
