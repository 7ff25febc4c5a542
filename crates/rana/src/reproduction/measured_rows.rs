//! Measures models that are not meta-trained: training-free baselines, and vectors with their own score.

use std::fs;
use std::time::Instant;

use rana_embed::EmbeddingSet;
use rana_eval::{CardSettings, EvaluationCard, NamedModel, Official};
use rana_fewshot::FewShotModel;
use rana_graph::{Observer, Split, Store};
use rana_models::vectors::MeanTranslation;
use rana_models::{Baseline, MEAN_TRANSLATION};
use serde::{Deserialize, Serialize};

use crate::trial::{Measures, TestResult, TrialError, VectorIdentity, Workspace, hash};

/// The results of some models, as a file of the workspace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct MeasuredFile {
    identity: Identity,
    rows: Vec<Measured>,
}

/// The settings that the numbers depend on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Identity {
    what: String,
    dataset: String,
    vectors: VectorIdentity,
    shots: usize,
    measures: Measures,
}

/// The results of one model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Measured {
    pub(super) name: String,
    pub(super) dev: Official,
    pub(super) test: TestResult,
    pub(super) seconds: f64,
}

/// A measuring, under one protocol and with one set of vectors.
pub(super) struct Measuring<'a> {
    pub(super) store: &'a Store,
    pub(super) workspace: &'a Workspace,
    pub(super) observer: &'a dyn Observer,
    pub(super) shots: usize,
    pub(super) measures: Measures,
}

impl Measuring<'_> {
    /// The rows that learn nothing; the mean translation is that of `set`.
    pub(super) fn training_free(
        &self,
        set: &EmbeddingSet,
        vectors: VectorIdentity,
    ) -> Result<Vec<Measured>, TrialError> {
        self.once("training-free", vectors, || {
            let baselines = Baseline::all(&self.store.graph);
            let mean = MeanTranslation::new(&set.entities, set.own_norm());
            let mut models: Vec<NamedModel<'_>> =
                baselines.iter().map(|of| (of.kind().name(), of as &dyn FewShotModel)).collect();
            models.push((MEAN_TRANSLATION, &mean));
            self.measure(&models)
        })
    }

    /// Vectors by their own score, under the name of their model.
    pub(super) fn vectors(
        &self,
        name: &str,
        vectors: VectorIdentity,
        model: &dyn FewShotModel,
    ) -> Result<Vec<Measured>, TrialError> {
        self.once(name, vectors, || self.measure(&[(name, model)]))
    }

    /// Reads earlier results, or measures and saves them.
    pub(super) fn once<E: From<TrialError>>(
        &self,
        what: &str,
        vectors: VectorIdentity,
        measure: impl FnOnce() -> Result<Vec<Measured>, E>,
    ) -> Result<Vec<Measured>, E> {
        let identity = Identity {
            what: what.to_owned(),
            dataset: self.store.manifest.data.clone(),
            vectors,
            shots: self.shots,
            measures: self.measures,
        };
        let name = format!("measured/{what}-{:08x}.json", hash(&identity));
        let path = self.workspace.root().join(&name);
        // What cannot be read is of another version, and measured again.
        let known = fs::read(&path).ok().and_then(|text| serde_json::from_slice::<MeasuredFile>(&text).ok());
        if let Some(known) = known.filter(|known| known.identity == identity) {
            return Ok(known.rows);
        }
        let file = MeasuredFile { identity, rows: measure()? };
        let text = serde_json::to_vec_pretty(&file)
            .map_err(|error| TrialError::io(&path, "write the file")(error.into()))?;
        self.workspace.write(&name, &text)?;
        Ok(file.rows)
    }

    pub(super) fn measure(&self, models: &[NamedModel<'_>]) -> Result<Vec<Measured>, TrialError> {
        let started = Instant::now();
        let Some((subject, others)) = models.split_first() else { return Ok(Vec::new()) };
        let Measures { draws, common_shots, .. } = self.measures;
        let settings = CardSettings { shots: self.shots, draws, common_shots, ..CardSettings::default() };
        let Store { graph, tasks, .. } = self.store;
        let card = settings.evaluate(*subject, others, graph, tasks, self.observer)?;
        let dev = CardSettings { split: Split::Dev, draws: 0, ..settings };
        let seconds = started.elapsed().as_secs_f64() / models.len() as f64;
        models
            .iter()
            .map(|(name, model)| {
                let dev = dev.evaluate((name, *model), &[], graph, tasks, &())?;
                Ok(Measured {
                    name: (*name).to_owned(),
                    dev: dev.result.official,
                    test: test_scores(&card, name),
                    seconds,
                })
            })
            .collect()
    }
}

/// The results of one row of a card.
fn test_scores(card: &EvaluationCard, name: &str) -> TestResult {
    match card.baselines.iter().find(|row| row.name == name) {
        Some(row) => TestResult::from(&row.result),
        None => TestResult::from(card),
    }
}
