//! The rows with evidence: their trainings, and how sure their lead is.

use std::collections::BTreeMap;

use rana_embed::{EmbedConfig, ModelKind};
use rana_eval::Spread;
use rana_graph::{Observer, Store};
use rana_models::fused::FusedConfig;
use rana_models::registry;

use super::error::ReproductionError;
use super::experiment::{Row, Subject};
use super::measured_rows::Measuring;
use super::reproduction::Reproduction;
use super::reproduction_row::{ReproductionRow, RowKind};
use super::seed_result::SeedResult;
use crate::fused_training::{FusedError, FusedTraining, Parts};
use crate::trial::{VectorPlan, VectorSettings, Workspace, hash};

impl Reproduction {
    /// Measures all rows with evidence, seed by seed: their trainings are the same but for the graph's edges.
    pub(super) fn fused_rows(
        &self,
        rows: &[Row],
        store: &Store,
        workspace: &Workspace,
        observer: &dyn Observer,
    ) -> Result<BTreeMap<String, Vec<SeedResult>>, ReproductionError> {
        let mut results: BTreeMap<String, Vec<SeedResult>> = BTreeMap::new();
        for &seed in &self.seeds {
            // Opened when the first row needs them.
            let mut opened: BTreeMap<bool, Parts<'_>> = BTreeMap::new();
            for row in rows {
                let Subject::Fused { preset, evidence, train_task_edges } = &row.subject else { continue };
                let training = self.fused_training(row, preset, *train_task_edges, seed, store)?;
                let measuring =
                    Measuring { store, workspace, observer, shots: row.shots, measures: self.measures() };
                let name = format!(
                    "fused-{seed}-{:08x}",
                    hash(&(
                        &training.model,
                        &training.fused,
                        evidence,
                        training.products.as_ref().map(VectorPlan::identity)
                    ))
                );
                let measured =
                    measuring.once::<ReproductionError>(&name, training.vectors.identity(), || {
                        if !opened.contains_key(train_task_edges) {
                            let parts = training.parts(store, workspace, observer).map_err(trial_error)?;
                            opened.insert(*train_task_edges, parts);
                        }
                        let parts = &opened[train_task_edges];
                        let model = parts.model(parts.learn(evidence));
                        Ok(measuring.measure(&[(&name, &model)])?)
                    })?;
                let of_row = results.entry(row.key.clone()).or_default();
                of_row.extend(measured.iter().map(|of| SeedResult::of_measured(Some(seed), of)));
            }
        }
        Ok(results)
    }

    fn fused_training(
        &self,
        row: &Row,
        preset: &str,
        train_task_edges: bool,
        seed: u64,
        store: &Store,
    ) -> Result<FusedTraining, ReproductionError> {
        let vectors = self.vectors(preset, seed, store)?;
        // The same preset for another model, or else what serves the size of the graph.
        let products = VectorSettings::of_preset(preset, ModelKind::DistMult)
            .ok()
            .filter(|_| !self.is_smoke)
            .unwrap_or_else(|| VectorSettings::recommended(ModelKind::DistMult, store));
        let config = EmbedConfig { seed: vectors.config.seed, ..products.config };
        let products = VectorSettings { config: self.short(config), facts: vectors.facts, ..products };
        let config = self.config(row, registry::DEFAULT, preset, &[])?;
        let model = config.with_trainer(|trainer| trainer.seed = seed);
        let fused = FusedConfig { train_task_edges, seed, ..FusedConfig::default() };
        let fused = match self.is_smoke {
            true => FusedConfig { folds: 2, draws: 1, queries: 3, ..fused },
            false => fused,
        };
        Ok(FusedTraining {
            name: preset.to_owned(),
            vectors: VectorPlan::Train(vectors),
            products: Some(VectorPlan::Train(products)),
            model,
            fused,
        })
    }
}

/// A stopped training stops the table.
fn trial_error(error: FusedError) -> ReproductionError {
    match error {
        FusedError::Trial(error) => error.into(),
        error => error.into(),
    }
}

/// How sure the lead of the rows with all evidence is: the difference to the best other row with as many shots, on the
/// same resampled supports.
pub(super) fn differences(rows: &[ReproductionRow]) -> Vec<String> {
    let mean = |row: &ReproductionRow| row.ours.as_ref().and_then(|of| of.resampled_mrr).map(|of| of.mean);
    let whole = |row: &&ReproductionRow| {
        row.kind == RowKind::Fused && row.key.trim_start_matches("fused-").len() == 1
    };
    let mut notes = Vec::new();
    for row in rows.iter().filter(whole) {
        let shots = row.key.trim_start_matches("fused-");
        let rivals =
            rows.iter().filter(|of| of.kind != RowKind::Fused && of.key.ends_with(&format!("-{shots}")));
        let best = rivals
            .filter_map(|of| mean(of).map(|mrr| (of, mrr)))
            .max_by(|one, other| one.1.total_cmp(&other.1));
        let (Some((best, _)), Some(ours)) = (best, &row.ours) else { continue };
        let theirs = best.ours.as_ref().map(super::reproduction_row::Ours::draw_mrrs).unwrap_or_default();
        let gains: Vec<f64> =
            ours.draw_mrrs().iter().zip(&theirs).map(|(ours, theirs)| ours - theirs).collect();
        if gains.len() < 2 {
            continue;
        }
        let Spread { mean, sd } = Spread::of(gains.iter().copied());
        let better = gains.iter().filter(|&&gain| gain > 0.0).count();
        notes.push(format!(
            "{} against the best other row ({}), paired over {} resampled supports: {mean:+.3} ± {sd:.3} MRR (standard error \
             {:.3}), better on {better} of them.",
            row.label,
            best.label,
            gains.len(),
            sd / (gains.len() as f64).sqrt(),
        ));
    }
    notes
}
