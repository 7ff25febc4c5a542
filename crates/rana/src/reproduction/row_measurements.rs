//! [`RowMeasurements`]: the numbers of each row, however its model came about.

use std::collections::BTreeMap;

use rana_embed::ModelKind;
use rana_fewshot::{DataMode, PretrainingFacts};
use rana_graph::{Observer, Store, Turn};
use rana_models::MEAN_TRANSLATION;
use rana_models::vectors::KgeModel;

use super::error::ReproductionError;
use super::experiment::{Row, SHOTS, Subject};
use super::measured_rows::{Measured, Measuring};
use super::reproduction::Reproduction;
use super::reproduction_row::{Ours, ReproductionRow, RowKind};
use super::seed_result::SeedResult;
use crate::trial::{Measures, Named, Pace, TrialOutcome, TrialResult, VectorPlan, Workspace};

/// Measures rows; what learns nothing is measured once per support size.
pub(super) struct RowMeasurements<'a> {
    reproduction: &'a Reproduction,
    store: &'a Store,
    workspace: &'a Workspace,
    observer: &'a dyn Observer,
    known: BTreeMap<usize, Vec<Measured>>,
    /// The results of rows with evidence, by key.
    fused: BTreeMap<String, Vec<SeedResult>>,
    /// How long vectors of ordinary models take.
    kge_pace: Pace,
    /// How many of them are not there yet, and were not at the start.
    kge_left: usize,
    kge_total: usize,
}

impl<'a> RowMeasurements<'a> {
    pub(super) fn new(
        reproduction: &'a Reproduction,
        store: &'a Store,
        workspace: &'a Workspace,
        observer: &'a dyn Observer,
        fused: BTreeMap<String, Vec<SeedResult>>,
    ) -> Self {
        Self {
            reproduction,
            store,
            workspace,
            observer,
            known: BTreeMap::new(),
            fused,
            kge_pace: Pace::default(),
            kge_left: 0,
            kge_total: 0,
        }
    }

    /// Counts the vectors of ordinary models that are not there yet.
    pub(super) fn count_kge(&mut self, rows: &[Row]) -> Result<(), ReproductionError> {
        for row in rows {
            if let Subject::Kge(model) = row.subject {
                let plans = self.reproduction.kge_vectors(model, row, self.store)?;
                self.kge_left +=
                    plans.iter().filter(|(_, plan)| !plan.is_ready(self.store, self.workspace)).count();
            }
        }
        self.kge_total = self.kge_left;
        Ok(())
    }

    /// The numbers of a row.
    pub(super) fn row(
        &mut self,
        row: &Row,
        trials: &[(&Named, &TrialResult)],
    ) -> Result<ReproductionRow, ReproductionError> {
        let mut failures = Vec::new();
        let (kind, per_seed) = match &row.subject {
            Subject::Trained { .. } => {
                let mut seeds = Vec::new();
                for (named, result) in trials {
                    let path = named.trial.path(self.store, self.workspace);
                    if let TrialOutcome::Failed { reason } = &result.outcome {
                        failures.push(format!("seed {}: {reason}", named.trial.config.trainer.seed));
                    }
                    seeds.extend(SeedResult::of_trial(result, path));
                }
                (RowKind::Trained, seeds)
            }
            Subject::TrainingFree(name) => {
                let measured = self.training_free(row.shots)?.iter().find(|of| of.name == *name).cloned();
                (RowKind::TrainingFree, measured.iter().map(|of| SeedResult::of_measured(None, of)).collect())
            }
            Subject::Kge(model) => (RowKind::Vectors, self.kge(*model, row)?),
            Subject::Fused { .. } => (RowKind::Fused, self.fused.remove(&row.key).unwrap_or_default()),
            Subject::NoPreset => (RowKind::NoPreset, Vec::new()),
        };
        let (preset, changes) = match &row.subject {
            Subject::Trained { preset, changes, .. } => (Some(preset.clone()), changes.clone()),
            _ => (None, Vec::new()),
        };
        let data = match &row.subject {
            Subject::Trained { model, preset, changes } => {
                Some(self.reproduction.config(row, model, preset, changes)?.trainer.data_mode.to_string())
            }
            Subject::Fused { .. } => Some(DataMode::Pretrain.to_string()),
            Subject::Kge(_) => Some(PretrainingFacts::Supports.to_string()),
            Subject::TrainingFree(_) | Subject::NoPreset => None,
        };
        let mut label = row.label.clone();
        if matches!(row.subject, Subject::TrainingFree(MEAN_TRANSLATION)) {
            label +=
                &format!(" (vectors of {})", self.reproduction.presets.first().map_or("", String::as_str));
        }
        Ok(ReproductionRow {
            key: row.key.clone(),
            label,
            kind,
            x: row.x,
            preset,
            changes,
            data,
            ours: Ours::of(per_seed),
            failures,
            published: row.published,
        })
    }

    fn measuring(&self, shots: usize) -> Measuring<'_> {
        let Self { store, workspace, observer, .. } = *self;
        Measuring { store, workspace, observer, shots, measures: self.reproduction.measures() }
    }

    fn training_free(&mut self, shots: usize) -> Result<&[Measured], ReproductionError> {
        if !self.known.contains_key(&shots) {
            let preset = self.reproduction.presets.first().cloned().unwrap_or_default();
            let seed = self.reproduction.seeds.first().copied().unwrap_or_default();
            let plan = VectorPlan::Train(self.reproduction.vectors(&preset, seed, self.store)?);
            let vectors = plan.ready(self.store, self.workspace, self.observer)?;
            let rows = self.measuring(shots).training_free(&vectors.set, plan.identity())?;
            self.known.insert(shots, rows);
        }
        Ok(self.known.get(&shots).map_or(&[], Vec::as_slice))
    }

    /// The vectors of an ordinary model by their own score, one training per seed.
    fn kge(&mut self, model: ModelKind, row: &Row) -> Result<Vec<SeedResult>, ReproductionError> {
        let mut seeds = Vec::new();
        for (seed, plan) in self.reproduction.kge_vectors(model, row, self.store)? {
            if !plan.is_ready(self.store, self.workspace) {
                self.observer.turn(&Turn {
                    at: self.kge_total - self.kge_left + 1,
                    of: self.kge_total,
                    label: &format!("{} on the supports (seed {seed})", row.label),
                    left: self.kge_pace.left(self.kge_left as f64),
                });
                self.kge_left -= 1;
            }
            let vectors = plan.ready(self.store, self.workspace, self.observer)?;
            vectors.seconds.iter().for_each(|&seconds| self.kge_pace.add(1.0, seconds));
            let Store { graph, tasks, .. } = self.store;
            let few_shot = KgeModel::new(&vectors.set, graph, tasks)?;
            // It knows the official supports and no others.
            let measures = Measures { draws: 0, ..self.reproduction.measures() };
            let measuring = Measuring { measures, ..self.measuring(SHOTS) };
            let measured = measuring.vectors(&model.to_string(), plan.identity(), &few_shot)?;
            seeds.extend(measured.iter().map(|of| {
                let seconds = of.seconds + vectors.seconds.unwrap_or_default();
                SeedResult { seconds, ..SeedResult::of_measured(Some(seed), of) }
            }));
        }
        Ok(seeds)
    }
}
