//! [`open`]: from the run of `rana-fused` to its model.

use std::sync::Arc;

use rana_embed::{EmbeddingMetadata, EmbeddingSet};
use rana_fewshot::{CandidateConfig, Direction, FewShotModel};

use super::evidence_run::{EvidenceRun, FusedScores};
use super::model::FusedModel;
use super::placed_rows::placed_rows;
use super::sources::Sources;
use crate::opened_run::{HeadsModel, MEAN_TRANSLATION, OpenError, OpenedModel, RunToOpen, open_vectors};
use crate::training::{MetaTraining, Run, StartVectors, TrainingError};
use crate::vectors::MeanTranslation;

/// Opens the run of `rana-fused`.
pub(crate) fn open(to_open: &RunToOpen<'_>) -> Result<OpenedModel, OpenError> {
    let RunToOpen { path, store, manifest, updated, .. } = to_open;
    let evidence = EvidenceRun::read(path)?;
    let graph = updated.unwrap_or(&store.graph);
    let edges = Arc::new(evidence.config.edges(graph, &store.tasks));
    // Entities that came with updates are placed by their neighbours.
    let rows = |set: &EmbeddingSet| match updated {
        None => set.entities.clone(),
        Some(graph) => placed_rows(set, graph),
    };
    let mut sources =
        Sources::new(graph, Arc::clone(&edges)).with_scale_by_support(evidence.config.scale_by_support);
    let mut beside: Vec<(String, Arc<dyn FewShotModel>)> = Vec::new();
    let mut vectors = EmbeddingMetadata::default();
    if evidence.parts.vectors.is_some() {
        let set = to_open.open_vectors()?;
        let start = StartVectors::pretrained(&store.graph, &set).map_err(TrainingError::from)?;
        manifest.check_vectors(path, &start)?;
        let mean = MeanTranslation::new(&rows(&set), set.own_norm());
        sources = sources.with_mean_translation(mean.clone());
        match &evidence.parts.model {
            Some(_) if updated.is_some() => {
                return Err(OpenError::UpdatedModel {
                    path: path.to_path_buf(),
                    model: manifest.model.clone(),
                });
            }
            Some(place) => {
                let part = Run::open(path.join(place))?;
                let model = MetaTraining::models(store, &part, &set)?.trained;
                beside.push((part.config.model.model_name().to_owned(), Arc::clone(&model)));
                sources = sources.with_model(model);
            }
            None => beside.push((MEAN_TRANSLATION.to_owned(), Arc::new(mean))),
        }
        vectors = set.metadata.clone();
    }
    if let Some(place) = &evidence.parts.products {
        sources = sources.with_products(rows(&open_vectors(&path.join(place), store)?));
    }
    let FusedScores { dev_mrr, cross_validated_mrr, .. } = evidence.scores;
    let details = vec![
        ("run", path.display().to_string()),
        ("run_seed", evidence.seed.to_string()),
        ("trained_by", manifest.written_by.clone()),
        ("dev_mrr", dev_mrr.map_or_else(|| "none".to_owned(), |mrr| format!("{mrr:.4}"))),
        ("cross_validated_mrr", format!("{cross_validated_mrr:.4}")),
        ("train_task_edges", evidence.config.train_task_edges.to_string()),
    ];
    let sources_count = evidence.trusted.len();
    // A run of a version that learned nothing about heads trusts evidence as for tails, and cannot say how sure it is.
    let (of_heads, calibration) = match &evidence.heads {
        Some(heads) => (heads.trusted.clone(), heads.calibration.clone()),
        None => (evidence.trusted.clone(), None),
    };
    let of_heads = FusedModel::new(sources.clone(), of_heads).asking(Direction::Heads);
    let heads = Some(HeadsModel { model: Arc::new(of_heads), calibration });
    Ok(OpenedModel {
        settings: serde_json::to_value(&evidence).unwrap_or_default(),
        model: Arc::new(FusedModel::new(sources, evidence.trusted)),
        beside,
        calibration: evidence.calibration,
        heads,
        relating: evidence.relating,
        shots: evidence.shots,
        seed: evidence.seed,
        details,
        summary: format!(
            "seed {}, {sources_count} sources of evidence, MRR {cross_validated_mrr:.3} on relations left out",
            evidence.seed
        ),
        vectors,
        edges: Some(edges),
        candidates: CandidateConfig { rule: evidence.candidates, ..CandidateConfig::default() },
    })
}
