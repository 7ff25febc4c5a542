//! [`FusedTraining`]: from a graph to trust in evidence.

use std::path::PathBuf;
use std::sync::Arc;

use rana_eval::FewShotEvaluation;
use rana_eval::confidence::{Calibration, ConfidenceLessons};
use rana_fewshot::fused::{
    EdgeIndex, EvidenceKind, FusedConfig, FusedModel, Lessons, Sources, TrustedSource,
};
use rana_fewshot::rana::{RanaConfig, Run};
use rana_fewshot::{Fold, tasks_without};
use rana_graph::{Split, Store, Task, Unit};
use serde::{Deserialize, Serialize};

use super::error::FusedError;
use crate::MetaTraining;
use crate::trial::{Measures, Named, Trial, TrialError, VectorPlan, Watch, Workspace, run_all};

/// What `rana-fused` is made of: RANA, the vectors it starts from, and how evidence is gathered.
#[derive(Clone, Debug)]
pub struct FusedTraining {
    /// What its parts are called in the workspace.
    pub name: String,
    /// The vectors of RANA.
    pub vectors: VectorPlan,
    /// The vectors of a bilinear model, if products are evidence.
    pub products: Option<VectorPlan>,
    /// RANA.
    pub rana: RanaConfig,
    /// Evidence and how trust in it is learned.
    pub fused: FusedConfig,
}

/// The sources of evidence that know no fact of some tasks: those of a fold, or the dev and test tasks only.
pub struct Part<'s> {
    fold: Option<Fold>,
    /// The sources.
    pub sources: Sources<'s>,
}

/// All parts: the first is for dev and test tasks, the others for the folds of the train tasks.
pub struct Parts<'s> {
    store: &'s Store,
    parts: Vec<Part<'s>>,
    lessons: Vec<Lessons>,
}

/// MRRs that settings can be chosen by.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FusedScores {
    /// On the dev tasks, over all queries.
    pub dev_mrr: f64,
    /// On the train tasks, over all queries, each by parts and lessons that know none of its facts.
    pub cross_validated_mrr: f64,
    /// The same, over tasks.
    pub cross_validated_macro_mrr: f64,
}

impl FusedTraining {
    /// The trainings of RANA that it needs: one on all train tasks, and one without each part of them.
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
                config: RanaConfig { fold, ..self.rana.clone() },
                measures: Measures::DEV,
                keep_model: true,
            };
            let left_out = fold.map_or_else(String::new, |fold| format!(", without fold {fold}"));
            Named { label: format!("rana (seed {}{left_out})", self.rana.seed), trial }
        });
        Ok(trials.collect())
    }

    /// Trains what is not trained yet, opens the sources and gathers the lessons of the train tasks.
    ///
    /// # Errors
    /// If a training fails or is stopped, or no task has enough facts for a lesson.
    pub fn parts<'s>(
        &self,
        store: &'s Store,
        workspace: &Workspace,
        watch: &dyn Watch,
    ) -> Result<Parts<'s>, FusedError> {
        let trials = self.trials()?;
        run_all(&trials, store, workspace, watch)?;
        let edges = Arc::new(self.fused.edges(&store.graph, &store.tasks));
        let parts = trials
            .iter()
            .map(|named| self.open(&named.trial, &edges, store, workspace, watch))
            .collect::<Result<Vec<_>, _>>()?;
        let progress = watch.progress();
        progress.begin("gathering evidence", Some(self.fused.folds as u64), Unit::Steps);
        let mut lessons = Vec::new();
        for part in &parts[1..] {
            lessons.push(self.lessons(store, part)?);
            progress.advance(1);
        }
        progress.end();
        if lessons.iter().all(Lessons::is_empty) {
            return Err(FusedError::NoLessons);
        }
        Ok(Parts { store, parts, lessons })
    }

    fn open<'s>(
        &self,
        trial: &Trial,
        edges: &Arc<EdgeIndex>,
        store: &'s Store,
        workspace: &Workspace,
        watch: &dyn Watch,
    ) -> Result<Part<'s>, FusedError> {
        let fold = trial.config.fold;
        let vectors = trial.vectors.ready(store, workspace, watch)?;
        let run = Run::open(trial.run_path(store, workspace))?;
        let rana = MetaTraining::model(store, &run, &vectors.set).map_err(TrialError::from)?;
        let products = match &self.products {
            None => None,
            Some(plan) => Some(without(plan, fold).ready(store, workspace, watch)?.set.entities),
        };
        Ok(Part { fold, sources: Sources::new(&store.graph, Arc::clone(edges), rana, products) })
    }

    fn lessons(&self, store: &Store, part: &Part<'_>) -> Result<Lessons, FusedError> {
        let left: Vec<Task<'_>> =
            part.fold.map_or_else(Vec::new, |fold| fold.left_out(&store.tasks).collect());
        Ok(Lessons::gather(&self.fused, &part.sources, &store.tasks, &left)?)
    }

    /// Where the run of RANA and the vectors of the model for dev and test tasks are.
    ///
    /// # Errors
    /// If a setting cannot be used.
    pub fn places(&self, store: &Store, workspace: &Workspace) -> Result<Places, FusedError> {
        let trials = self.trials()?;
        Ok(Places {
            rana: trials[0].trial.run_path(store, workspace),
            vectors: self.vectors.path(store, workspace),
            products: self.products.as_ref().map(|plan| plan.path(store, workspace)),
        })
    }
}

/// Where the parts of a model are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Places {
    /// The run of RANA.
    pub rana: PathBuf,
    /// The vectors it starts from.
    pub vectors: PathBuf,
    /// The vectors of a bilinear model, if products are evidence.
    pub products: Option<PathBuf>,
}

/// Vectors that do not know the tasks of a fold.
fn without(plan: &VectorPlan, fold: Option<Fold>) -> VectorPlan {
    fold.map_or_else(|| plan.clone(), |fold| plan.without(fold))
}

impl<'s> Parts<'s> {
    /// The trust that the lessons teach in some sources.
    #[must_use]
    pub fn learn(&self, evidence: &[EvidenceKind]) -> Vec<TrustedSource> {
        Lessons::learn(&self.lessons.iter().collect::<Vec<_>>(), evidence)
    }

    /// The model for dev and test tasks.
    #[must_use]
    pub fn model(&self, trusted: Vec<TrustedSource>) -> FusedModel<'_, 's> {
        FusedModel::new(&self.parts[0].sources, trusted)
    }

    /// For each fold of the train tasks the trust that the lessons of the other folds teach.
    #[must_use]
    pub fn learn_without_folds(&self, evidence: &[EvidenceKind]) -> Vec<Vec<TrustedSource>> {
        let without = |at: usize| {
            let others = self.lessons.iter().enumerate().filter(|&(other, _)| other != at);
            Lessons::learn(&others.map(|(_, of)| of).collect::<Vec<_>>(), evidence)
        };
        (0..self.lessons.len()).map(without).collect()
    }

    /// The parts that know nothing of a fold, each with the trust that was learned without it.
    fn left_out<'a>(
        &'a self,
        without_folds: &'a [Vec<TrustedSource>],
    ) -> impl Iterator<Item = (&'a Part<'s>, FusedModel<'a, 's>)> {
        let parts = self.parts[1..].iter().zip(without_folds);
        parts.map(|(part, trusted)| (part, FusedModel::new(&part.sources, trusted.clone())))
    }

    /// What turns scores into confidence, learned on the train tasks, each by a part and trust that do not know it.
    ///
    /// # Errors
    /// If a source cannot answer for a support.
    pub fn calibration(
        &self,
        without_folds: &[Vec<TrustedSource>],
        seed: u64,
    ) -> Result<Option<Calibration>, FusedError> {
        let mut lessons = ConfidenceLessons::default();
        for (part, model) in self.left_out(without_folds) {
            let left: Vec<Task<'_>> =
                part.fold.map_or_else(Vec::new, |fold| fold.left_out(&self.store.tasks).collect());
            lessons.extend(ConfidenceLessons::gather(&model, &self.store.tasks, &left, seed)?);
        }
        Ok(Calibration::learn(&lessons))
    }

    /// What settings can be chosen by, with supports of `shots` pairs: dev tasks by what was learned of all folds, each
    /// fold by what was learned of the others.
    ///
    /// # Errors
    /// If a task cannot be evaluated.
    pub fn scores(
        &self,
        trusted: &[TrustedSource],
        without_folds: &[Vec<TrustedSource>],
        shots: usize,
    ) -> Result<FusedScores, FusedError> {
        let evaluation = FewShotEvaluation { shots, ..FewShotEvaluation::default() };
        let evaluate = |part: &Part<'s>, model: &FusedModel<'_, 's>| {
            let tasks = tasks_without(part.fold, &self.store.tasks);
            evaluation.evaluate(model, &self.store.graph, &tasks, Split::Dev, &())
        };
        let dev = evaluate(&self.parts[0], &self.model(trusted.to_vec()))?;
        let (mut queries, mut of_queries, mut tasks, mut of_tasks) = (0.0, 0.0, 0.0, 0.0);
        for (part, model) in self.left_out(without_folds) {
            let report = evaluate(part, &model)?;
            queries += report.micro.queries as f64;
            of_queries += report.micro.queries as f64 * report.micro.mrr;
            tasks += report.tasks.len() as f64;
            of_tasks += report.tasks.len() as f64 * report.macro_average.mrr;
        }
        Ok(FusedScores {
            dev_mrr: dev.micro.mrr,
            cross_validated_mrr: of_queries / queries,
            cross_validated_macro_mrr: of_tasks / tasks,
        })
    }
}
