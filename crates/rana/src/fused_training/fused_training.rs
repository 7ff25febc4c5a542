//! [`FusedTraining`]: from a graph to trust in evidence.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use rana_embed::ModelKind;
use rana_fewshot::{CandidateRule, Fold, PretrainingFacts};
use rana_graph::{Observer, Store, Task, Unit};
use rana_models::OpenedRun;
use rana_models::fused::{EvidenceKind, EvidenceRun, Examples, FusedConfig, PartPaths, Sources};
use rana_models::paths::EdgeIndex;
use rana_models::training::{MetaTraining, Run, RunConfig};
use rana_models::vectors::MeanTranslation;

use super::error::FusedError;
use super::parts::{Part, Parts};
use super::stages::{EVIDENCE, MEASURING, stages};
use crate::schedule::Schedule;
use crate::trial::{Measures, Named, Trial, TrialError, VectorPlan, VectorSettings, Workspace, run_all};

/// Where the parts are in a run.
const PARTS: &str = "parts";

/// What `rana-fused` is made of: a model, the vectors it starts from, and how evidence is gathered.
#[derive(Clone, Debug)]
pub struct FusedTraining {
    /// What its parts are called in the workspace.
    pub name: String,
    /// The vectors that the model starts from.
    pub vectors: VectorPlan,
    /// The vectors of a bilinear model, if products are evidence.
    pub products: Option<VectorPlan>,
    /// The model that is a source of evidence.
    pub model: RunConfig,
    /// Evidence and how trust in it is learned.
    pub fused: FusedConfig,
}

impl FusedTraining {
    /// The training of a model and its evidence on a graph. Vectors are those of a preset of that name if there is one;
    /// otherwise they follow the size of the graph and also know the facts of the train tasks.
    #[must_use]
    pub fn new(name: &str, model: RunConfig, fused: FusedConfig, store: &Store) -> Self {
        let vectors = |of: ModelKind| {
            let settings = VectorSettings::of_preset(name, of).unwrap_or_else(|_| VectorSettings {
                facts: PretrainingFacts::TrainTasks,
                ..VectorSettings::recommended(of, store)
            });
            VectorPlan::Train(settings)
        };
        let products = fused.evidence.contains(&EvidenceKind::Product);
        Self {
            name: name.to_owned(),
            vectors: vectors(ModelKind::TransE),
            products: products.then(|| vectors(ModelKind::DistMult)),
            model,
            fused,
        }
    }

    /// The trainings of the model that it needs: one on all train tasks, and one without each part of them.
    ///
    /// # Errors
    /// If a setting cannot be used.
    pub fn trials(&self) -> Result<Vec<Named>, FusedError> {
        self.fused.check()?;
        let folds = (1..=self.fused.folds).filter_map(|number| Fold::new(number, self.fused.folds));
        let trials = std::iter::once(None).chain(folds.map(Some)).map(|fold| {
            let trial = Trial {
                name: self.name.clone(),
                vectors: without(&self.vectors, fold),
                config: self.model.with_trainer(|trainer| trainer.fold = fold),
                measures: Measures::DEV,
                keep_model: true,
            };
            let left_out = fold.map_or_else(String::new, |fold| format!(", without fold {fold}"));
            Named {
                label: format!(
                    "{} (seed {}{left_out})",
                    self.model.model.model_name(),
                    self.model.trainer.seed
                ),
                trial,
            }
        });
        Ok(trials.collect())
    }

    /// Trains into a directory. An interrupted training is resumed, to the same result.
    ///
    /// # Errors
    /// If a part cannot be trained, the directory holds a run, or the training is stopped.
    pub fn train(
        &self,
        path: &Path,
        store: &Store,
        observer: &dyn Observer,
    ) -> Result<EvidenceRun, FusedError> {
        if OpenedRun::is_at(path) {
            return Err(FusedError::Exists { path: path.to_owned() });
        }
        let started = Instant::now();
        let workspace = Workspace::new(path.join(PARTS));
        // Before the first second of training.
        for named in self.trials()? {
            MetaTraining::check_tasks(store, &named.trial.config).map_err(TrialError::from)?;
        }
        let observer = Schedule::new(observer, stages(self, store, &workspace)?);
        let parts = self.parts(store, &workspace, &observer)?;
        let evidence = &self.fused.evidence;
        let shots = self.model.trainer.shots;
        observer.begin(MEASURING, None, Unit::Steps);
        let (trusted, without_folds) = (parts.learn(evidence), parts.learn_without_folds(evidence));
        let run = EvidenceRun {
            parts: self.part_paths(store, &Workspace::new(PARTS))?,
            config: self.fused.clone(),
            seed: self.model.trainer.seed,
            shots,
            scores: parts.scores(&trusted, &without_folds, shots)?,
            heads: None,
            relating: None,
            calibration: parts.calibration(&without_folds, self.fused.seed)?,
            trusted,
            candidates: CandidateRule::default(),
        };
        observer.end();
        run.write(path, store, started.elapsed().as_secs_f64())?;
        Ok(run)
    }

    /// Trains what is not trained yet, opens the sources and gathers the examples of the train tasks.
    ///
    /// # Errors
    /// If a training fails or is stopped, or no task has enough facts for a example.
    pub fn parts<'s>(
        &self,
        store: &'s Store,
        workspace: &Workspace,
        observer: &dyn Observer,
    ) -> Result<Parts<'s>, FusedError> {
        let trials = self.trials()?;
        run_all(&trials, store, workspace, observer)?;
        let edges = Arc::new(self.fused.edges(&store.graph, &store.tasks));
        let parts = trials
            .iter()
            .map(|named| self.open(&named.trial, &edges, store, workspace, observer))
            .collect::<Result<Vec<_>, _>>()?;
        observer.begin(EVIDENCE, Some(self.fused.folds as u64), Unit::Steps);
        let mut examples = Vec::new();
        for part in &parts[1..] {
            examples.push(self.examples(store, part)?);
            observer.advance(1);
        }
        observer.end();
        if examples.iter().all(Examples::is_empty) {
            return Err(FusedError::NoExamples);
        }
        Ok(Parts { store, parts, examples })
    }

    fn open(
        &self,
        trial: &Trial,
        edges: &Arc<EdgeIndex>,
        store: &Store,
        workspace: &Workspace,
        observer: &dyn Observer,
    ) -> Result<Part, FusedError> {
        let fold = trial.config.trainer.fold;
        let vectors = trial.vectors.ready(store, workspace, observer)?;
        let run = Run::open(trial.run_path(store, workspace))?;
        let model = MetaTraining::models(store, &run, &vectors.set).map_err(TrialError::from)?.trained;
        let mean = MeanTranslation::new(&vectors.set.entities, vectors.set.own_norm());
        let mut sources = Sources::new(&store.graph, Arc::clone(edges))
            .with_scale_by_support(self.fused.scale_by_support)
            .with_model(model)
            .with_mean_translation(mean);
        if let Some(plan) = &self.products {
            let products = without(plan, fold).ready(store, workspace, observer)?;
            sources = sources.with_products(products.set.entities);
        }
        Ok(Part { fold, sources })
    }

    fn examples(&self, store: &Store, part: &Part) -> Result<Examples, FusedError> {
        let left: Vec<Task<'_>> =
            part.fold.map_or_else(Vec::new, |fold| fold.left_out(&store.tasks).collect());
        Ok(Examples::gather(&self.fused, &part.sources, &store.tasks, &left)?)
    }

    /// The paths of the run of RANA and of the vectors of the model for dev and test tasks.
    ///
    /// # Errors
    /// If a setting cannot be used.
    pub fn part_paths(&self, store: &Store, workspace: &Workspace) -> Result<PartPaths, FusedError> {
        let trials = self.trials()?;
        Ok(PartPaths {
            model: Some(trials[0].trial.run_path(store, workspace)),
            vectors: Some(self.vectors.path(store, workspace)),
            products: self.products.as_ref().map(|plan| plan.path(store, workspace)),
        })
    }
}

/// Vectors that do not know the tasks of a fold.
pub(super) fn without(plan: &VectorPlan, fold: Option<Fold>) -> VectorPlan {
    fold.map_or_else(|| plan.clone(), |fold| plan.without(fold))
}
