//! [`Reproduction`]: a table or figure of the paper, from raw files to numbers next to the published ones.
//!
//! Settings come from presets, which were chosen without looking at test; test is evaluated once per trial.

use rana_embed::{EmbedConfig, ModelKind};
use rana_fewshot::PretrainingFacts;
use rana_graph::{Observer, Store};
use rana_models::registry;
use rana_models::training::RunConfig;

use super::dataset::Dataset;
use super::error::ReproductionError;
use super::experiment::{Experiment, Row, SHOTS, Subject};
use super::fused_rows;
use super::reproduction_report::ReproductionReport;
use super::reproduction_row::ReproductionRow;
use super::row_measurements::RowMeasurements;
use super::seed_errors::SeedErrors;
use crate::settings::Settings;
use crate::trial::{
    Measures, Named, Trial, TrialError, TrialResult, VectorPlan, VectorSettings, Workspace, run_all,
};

/// The table or figure to reproduce, and its settings.
#[derive(Clone, Debug, PartialEq)]
pub struct Reproduction {
    /// The table or figure.
    pub experiment: Experiment,
    /// The dataset.
    pub dataset: Dataset,
    /// The presets of RANA: each is a row of Table 2; figures and ablations start from the first.
    pub presets: Vec<String>,
    /// The training seeds.
    pub seeds: Vec<u64>,
    /// Resampled supports per task: none, or at least 2.
    pub draws: usize,
    /// Whether each seed also has its own vectors; else all start from those of the preset's seed.
    pub fresh_vectors: bool,
    /// Whether this only shows that everything runs: a few steps on small vectors.
    pub is_smoke: bool,
}

/// The settings of a short training, for a smoke run.
const SMOKE: [&str; 4] = ["steps=12", "eval_every=6", "batch=4", "patience=0"];
/// The preset of vectors for link-prediction models among few-shot ones.
const KGE_PRESET: &str = "nell-one-few-shot";
/// All support sizes of Figure 2a share the queries after this many facts.
const COMMON_SHOTS: usize = 8;

impl Reproduction {
    /// The default presets of an experiment: the paper's reading, and in Table 2 also the
    /// tuned one.
    #[must_use]
    pub fn usual_presets(experiment: Experiment) -> Vec<String> {
        let presets: &[&str] = match experiment {
            Experiment::Table2 => &["nell-one", "nell-one-tuned"],
            Experiment::Frontier => &["nell-one-tuned"],
            _ => &["nell-one"],
        };
        presets.iter().map(ToString::to_string).collect()
    }

    /// A short run on the embedded graph, which shows that everything works.
    #[must_use]
    pub fn smoke(experiment: Experiment) -> Self {
        Self {
            experiment,
            dataset: Dataset::umls(),
            presets: ["umls", "paper"].map(str::to_owned).to_vec(),
            seeds: vec![1, 2],
            draws: 2,
            fresh_vectors: false,
            is_smoke: true,
        }
    }

    /// Checks everything that can be before work begins.
    ///
    /// # Errors
    /// If a preset is missing, or settings contradict each other.
    pub fn check(&self) -> Result<(), ReproductionError> {
        for row in self.rows() {
            match &row.subject {
                Subject::Trained { model, preset, changes } => {
                    self.config(&row, model, preset, changes)?;
                }
                Subject::Fused { preset, .. } => {
                    self.config(&row, registry::DEFAULT, preset, &[])?;
                }
                Subject::Kge(_) | Subject::TrainingFree(_) | Subject::NoPreset => {}
            }
        }
        Ok(())
    }

    /// Does what is not done yet, and writes the table and its picture into the workspace.
    ///
    /// # Errors
    /// If a training fails or is stopped; the same reproduction resumes from there.
    pub fn run(
        &self,
        workspace: &Workspace,
        observer: &dyn Observer,
    ) -> Result<ReproductionReport, ReproductionError> {
        self.check()?;
        let (store, source) = self.dataset.prepare(workspace, observer)?;
        let rows = self.rows();
        let plans = rows.iter().map(|row| self.trials(row, &store)).collect::<Result<Vec<_>, _>>()?;
        let all: Vec<Named> = plans.iter().flatten().cloned().collect();
        let results = run_all(&all, &store, workspace, observer)?;
        let mut results = all.iter().zip(&results);
        let fused = self.fused_rows(&rows, &store, workspace, observer)?;
        let mut measured = RowMeasurements::new(self, &store, workspace, observer, fused);
        measured.count_kge(&rows)?;
        let mut report_rows = Vec::new();
        for (row, plan) in rows.iter().zip(&plans) {
            let of_row: Vec<(&Named, &TrialResult)> = results.by_ref().take(plan.len()).collect();
            report_rows.push(measured.row(row, &of_row)?);
        }
        let mut errors = Vec::new();
        if self.experiment == Experiment::Errors {
            for named in &all {
                errors.extend(SeedErrors::of_trial(&named.trial, &store, workspace)?);
            }
        }
        let report = ReproductionReport { errors, ..self.report(report_rows, &source, &store)? };
        self.write(&report, workspace)?;
        Ok(report)
    }

    /// Where the files of the report go, without their endings.
    #[must_use]
    pub fn file(&self) -> String {
        let presets = match self.experiment {
            Experiment::Table2 => String::new(),
            _ => self.presets.first().map_or_else(String::new, |preset| format!("-{preset}")),
        };
        format!("{}{presets}", self.experiment)
    }

    fn rows(&self) -> Vec<Row> {
        self.experiment.rows(&self.presets, self.dataset.benchmark())
    }

    /// The settings of a row that is trained by steps.
    pub(super) fn config(
        &self,
        row: &Row,
        model: &str,
        preset: &str,
        changes: &[String],
    ) -> Result<RunConfig, ReproductionError> {
        let base = RunConfig::preset(model, preset)
            .map_err(|source| ReproductionError::Preset { row: row.label.clone(), source })?;
        let wrong = |error: &dyn std::fmt::Display| ReproductionError::Row {
            row: row.label.clone(),
            message: error.to_string(),
        };
        let mut assignments: Vec<String> = changes.to_vec();
        if self.is_smoke {
            assignments.extend(SMOKE.map(str::to_owned));
        }
        let settings = Settings::of_assignments(&assignments).map_err(|error| wrong(&error))?;
        let config: RunConfig = settings.over(&base).map_err(|error| wrong(&error))?;
        config.check().map_err(|error| wrong(&error))?;
        Ok(config)
    }

    pub(super) fn measures(&self) -> Measures {
        Measures { test: true, draws: self.draws, common_shots: COMMON_SHOTS }
    }

    /// The trials of a row, one per seed; none if nothing is meta-trained.
    fn trials(&self, row: &Row, store: &Store) -> Result<Vec<Named>, ReproductionError> {
        let Subject::Trained { model, preset, changes } = &row.subject else { return Ok(Vec::new()) };
        let config = self.config(row, model, preset, changes)?;
        self.seeds
            .iter()
            .map(|&seed| {
                let trial = Trial {
                    name: preset.clone(),
                    vectors: VectorPlan::Train(self.vectors(preset, seed, store)?),
                    config: config.with_trainer(|trainer| trainer.seed = seed),
                    measures: self.measures(),
                    keep_model: true,
                };
                Ok(Named { label: format!("{} (seed {seed})", row.label), trial })
            })
            .collect()
    }

    /// The vectors that RANA starts from with a preset: those of the same name, or the dataset's usual ones.
    pub(super) fn vectors(
        &self,
        preset: &str,
        seed: u64,
        store: &Store,
    ) -> Result<VectorSettings, ReproductionError> {
        // The presets of one model for two data modes start from the same vectors.
        let names = [preset, preset.trim_end_matches("-in-train"), self.dataset.vectors()];
        let found =
            names.into_iter().find_map(|name| VectorSettings::of_preset(name, ModelKind::TransE).ok());
        let settings = found
            .filter(|_| !self.is_smoke)
            .unwrap_or_else(|| VectorSettings::recommended(ModelKind::TransE, store));
        let seed = if self.fresh_vectors { seed } else { settings.config.seed };
        let config = self.short(EmbedConfig { seed, ..settings.config });
        Ok(VectorSettings { config, ..settings })
    }

    /// The vectors of an ordinary model, trained on the supports too: one training per seed.
    pub(super) fn kge_vectors(
        &self,
        model: ModelKind,
        row: &Row,
        store: &Store,
    ) -> Result<Vec<(u64, VectorPlan)>, ReproductionError> {
        let config = match self.is_smoke {
            true => EmbedConfig::recommended(model, store.graph.facts().len()),
            false => EmbedConfig::preset(KGE_PRESET, model)
                .map_err(|source| ReproductionError::Vectors { row: row.label.clone(), source })?,
        };
        let plan = |seed: u64| {
            VectorPlan::Train(VectorSettings {
                name: format!("{model}-supports"),
                config: self.short(EmbedConfig { seed, ..config.clone() }),
                facts: PretrainingFacts::Supports,
                shots: SHOTS,
                fold: None,
            })
        };
        Ok(self.seeds.iter().map(|&seed| (seed, plan(seed))).collect())
    }

    /// Small vectors in a smoke run.
    pub(super) fn short(&self, config: EmbedConfig) -> EmbedConfig {
        match self.is_smoke {
            true => EmbedConfig { dim: 16, epochs: 3, ..config },
            false => config,
        }
    }

    fn report(
        &self,
        rows: Vec<ReproductionRow>,
        source: &str,
        store: &Store,
    ) -> Result<ReproductionReport, ReproductionError> {
        let mut notes: Vec<String> =
            self.experiment.notes(self.dataset.benchmark()).into_iter().map(str::to_owned).collect();
        notes.push(format!("Data: {source}."));
        for preset in
            self.presets.iter().take(if self.experiment == Experiment::Table2 { usize::MAX } else { 1 })
        {
            let VectorSettings { name, config, facts, .. } = self.vectors(preset, 0, store)?;
            let seeds = match self.fresh_vectors {
                true => "seeded as the training".to_owned(),
                false => format!("seed {} for all trainings", config.seed),
            };
            notes.push(format!(
                "Preset `{preset}`: vectors by {} ({name}) on {facts}, dim {}, {} epochs, {seeds}.",
                config.model, config.dim, config.epochs
            ));
        }
        notes.push(
            "Settings come from presets; the model of a training is chosen by its dev MRR; test is evaluated once per trial."
                .to_owned(),
        );
        if self.experiment == Experiment::Frontier {
            notes.extend(fused_rows::differences(&rows));
        }
        let seconds =
            rows.iter().flat_map(|row| &row.ours).flat_map(|of| &of.per_seed).map(|of| of.seconds).sum();
        Ok(ReproductionReport {
            experiment: self.experiment,
            title: self.experiment.title().to_owned(),
            dataset: self.dataset.name.clone(),
            is_smoke: self.is_smoke,
            seeds: self.seeds.clone(),
            draws: self.draws,
            notes,
            rows,
            errors: Vec::new(),
            seconds,
        })
    }

    fn write(&self, report: &ReproductionReport, workspace: &Workspace) -> Result<(), ReproductionError> {
        let file = self.file();
        workspace.write(&format!("{file}.md"), report.markdown(&format!("{file}.svg")).as_bytes())?;
        workspace.write(&format!("{file}.csv"), report.csv().as_bytes())?;
        let json = serde_json::to_vec_pretty(report)
            .map_err(|error| TrialError::io(workspace.root(), "write the report")(error.into()))?;
        workspace.write(&format!("{file}.json"), &json)?;
        let picture = report.picture();
        workspace.write(&format!("{file}.svg"), picture.svg.as_bytes())?;
        workspace.write(&format!("{file}.png"), &picture.png)?;
        Ok(())
    }
}
