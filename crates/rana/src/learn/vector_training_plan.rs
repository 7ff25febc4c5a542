//! [`Plan`]: the settings of a learning, by the graph, the time and the memory that it may take.

use std::time::Duration;

use rana_embed::{EmbedConfig, ModelKind, Validation};
use rana_graph::{Fact, Graph};

use super::error::LearnError;
use crate::vector_training::seconds_per_epoch;

/// The share of a budget that is planned for vectors; the rest is for evidence, and for what goes slower than planned.
const FOR_VECTORS: f64 = 0.6;
/// Vectors of fewer epochs than this share of the usual ones are not worth their time.
const LEAST_EPOCHS: f64 = 0.1;
/// The narrowest vectors that are worth having.
const NARROWEST: usize = 24;

/// How vectors are trained, and how long that takes.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    /// One setting per kind of vectors: translations, and products. None if time or memory do not allow vectors.
    pub(super) vectors: Vec<(EmbedConfig, Duration)>,
    /// What was changed to fit, as a sentence.
    pub(super) note: Option<String>,
}

impl Plan {
    /// Plans a number of trainings of each kind of vectors.
    ///
    /// # Errors
    /// If the memory allowed is too small even without vectors.
    pub(super) fn new(
        graph: &Graph,
        facts: &[Fact],
        trainings: usize,
        seed: u64,
        budget: Option<Duration>,
        memory: Option<u64>,
    ) -> Result<Self, LearnError> {
        let mut notes = Vec::new();
        let usual = [ModelKind::TransE, ModelKind::DistMult].map(|model| usual(model, facts.len(), seed));
        let mut configs = usual.to_vec();
        if let Some(allowed) = memory {
            let needed = bytes_without_vectors(graph, facts.len());
            if needed > allowed {
                return Err(LearnError::Memory { needed, allowed });
            }
            let most = (allowed - needed) / (graph.entity_count() as u64 * BYTES_PER_NUMBER).max(1);
            let most = usize::try_from(most).unwrap_or(usize::MAX) / 2 * 2;
            for config in &mut configs {
                config.dim = config.dim.min(most);
            }
            if most < NARROWEST {
                configs.clear();
                notes.push("no vectors are trained: they need more memory than is allowed".to_owned());
            } else if most < 100 {
                notes.push(format!("vectors have {most} numbers instead of 100, to fit the memory allowed"));
            }
        }
        let mut vectors = Vec::new();
        for config in configs {
            let seconds = seconds_per_epoch(graph, facts, &config)?;
            vectors.push((config, seconds));
        }
        let planned: f64 = vectors.iter().map(|(config, seconds)| f64::from(config.epochs) * seconds).sum();
        let planned = planned * trainings as f64;
        if let Some(budget) = budget.filter(|_| !vectors.is_empty()) {
            let factor = FOR_VECTORS * budget.as_secs_f64() / planned.max(1e-9);
            if factor < LEAST_EPOCHS {
                vectors.clear();
                notes.push("no vectors are trained: the budget is too short for them".to_owned());
            } else if factor < 1.0 {
                for (config, _) in &mut vectors {
                    let epochs = f64::from(config.epochs) * factor;
                    config.epochs = (epochs.round() as u32).max(1);
                }
                notes.push(format!(
                    "vectors are trained for {:.0} % of the usual epochs, to fit the budget",
                    100.0 * factor
                ));
            }
        }
        let vectors = vectors.into_iter().map(|(config, seconds)| {
            let seconds = f64::from(config.epochs) * seconds;
            (config, Duration::from_secs_f64(seconds))
        });
        Ok(Self { vectors: vectors.collect(), note: (!notes.is_empty()).then(|| notes.join("; ")) })
    }
}

/// A number of a vector, its state in the optimiser, a copy in a checkpoint, and the vectors that know everything.
const BYTES_PER_NUMBER: u64 = 4 * 4;

/// What a graph, its edges and its names take, as a rough bound from above.
fn bytes_without_vectors(graph: &Graph, facts: usize) -> u64 {
    200 * graph.entity_count() as u64 + 120 * facts as u64
}

/// The settings that suit most graphs of a size.
fn usual(model: ModelKind, facts: usize, seed: u64) -> EmbedConfig {
    let config = EmbedConfig::recommended(model, facts);
    EmbedConfig {
        dim: config.dim.min(100),
        seed,
        validation: Validation { every: 0, ..config.validation },
        ..config
    }
}
