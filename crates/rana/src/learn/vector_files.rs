//! Vectors of a learning: trained once, kept in files, and resumed after an interruption.

use std::fs;
use std::path::Path;

use rana_embed::{EmbedConfig, EmbeddingMetadata, EmbeddingSet, Pretraining, training_metrics};
use rana_graph::{Fact, Graph, Observer, Unit};

use super::error::LearnError;
use crate::vector_training::train_resumably;

/// Opens the vectors at `path` if they were trained on these facts with these settings; otherwise trains them and writes
/// them there.
pub(super) fn vectors(
    path: &Path,
    graph: &Graph,
    facts: &[Fact],
    config: &EmbedConfig,
    stage: &str,
    observer: &dyn Observer,
) -> Result<EmbeddingSet, LearnError> {
    let training = Pretraining::of_facts(graph, facts, config.clone())?;
    let identity = format!("{:016x}", training.data().fingerprint());
    let is_same = |metadata: &EmbeddingMetadata| {
        metadata.training.as_ref() == Some(config) && metadata.task_facts.as_ref() == Some(&identity)
    };
    let earlier = EmbeddingSet::open(path, graph).ok().filter(|earlier| is_same(&earlier.metadata));
    if let Some(earlier) = earlier {
        observer.begin(stage, Some(1), Unit::Steps);
        observer.resume(1);
        observer.end();
        return Ok(earlier);
    }
    let target = EmbeddingSet::target(path)?;
    let checkpoint = path.join(EmbeddingSet::CHECKPOINT);
    let trainer = train_resumably::<LearnError>(&training, &checkpoint, stage, observer)?;
    let trainer = trainer.ok_or(LearnError::Stopped)?;
    let metadata = EmbeddingMetadata {
        origin: "learn".to_owned(),
        task_facts: Some(identity),
        metrics: training_metrics(trainer.checkpoint()),
        ..EmbeddingMetadata::default()
    };
    let set = EmbeddingSet::trained(graph, config.clone(), trainer.into_parameters(), metadata)?;
    set.write_to(&target)?;
    // The checkpoint is no longer needed.
    let _ = fs::remove_file(&checkpoint);
    Ok(EmbeddingSet::open(path, graph)?)
}
