//! [`Sweep`]: a bounded search over settings, chosen by dev or by held-out train tasks, never by test.

use rana_graph::{Observer, Store};
use rana_models::training::{RunConfig, Trainer};

use super::plan_error::PlanError;
use super::plots;
use super::sweep_plan::{Configuration, SweepPlan};
use super::sweep_report::{SweepReport, SweepRow, SweepTrialReport};
use crate::trial::{Measures, Named, Trial, TrialError, TrialResult, VectorPlan, Workspace, run_all};

/// A plan, ready to be carried out on a graph.
#[derive(Debug)]
pub struct Sweep<'s> {
    plan: SweepPlan,
    store: &'s Store,
    pub(super) workspace: Workspace,
    vectors: VectorPlan,
    configurations: Vec<Configuration>,
    members: Vec<Member>,
}

/// One training of a sweep.
#[derive(Clone, Debug)]
struct Member {
    /// The configuration it belongs to, by its position.
    configuration: usize,
    /// The part of the train tasks that is left out, counted from 1.
    fold: Option<u64>,
    named: Named,
}

impl<'s> Sweep<'s> {
    /// Expands a plan and checks all of it.
    ///
    /// # Errors
    /// If a part of the plan cannot be used, which is named.
    pub fn new(
        plan: SweepPlan,
        store: &'s Store,
        workspace: Workspace,
        vectors: VectorPlan,
    ) -> Result<Self, PlanError> {
        let configurations = plan.configurations()?;
        let mut members = Vec::new();
        for (at, configuration) in configurations.iter().enumerate() {
            let mut add = |config: RunConfig, fold: Option<u64>| {
                let part = fold.map_or_else(String::new, |fold| {
                    format!(", fold {fold}/{}", plan.folds.unwrap_or_default())
                });
                let label = format!("{} (seed {}{part})", configuration.label(), config.trainer.seed);
                let trial = Trial {
                    name: plan.preset.clone(),
                    vectors: config
                        .trainer
                        .fold
                        .map_or_else(|| vectors.clone(), |fold| vectors.without(fold)),
                    config,
                    measures: Measures::DEV,
                    keep_model: plan.keep_models,
                };
                members.push(Member { configuration: at, fold, named: Named { label, trial } });
            };
            for &seed in &plan.seeds {
                add(configuration.config.with_trainer(|trainer| trainer.seed = seed), None);
            }
            for fold in 1..=plan.folds.unwrap_or(0) {
                add(plan.fold(&configuration.config, fold)?, Some(fold));
            }
        }
        check_tasks(store, &members)?;
        Ok(Self { plan, store, workspace, vectors, configurations, members })
    }

    /// The plan.
    #[must_use]
    pub fn plan(&self) -> &SweepPlan {
        &self.plan
    }

    /// The configurations, each once.
    #[must_use]
    pub fn configurations(&self) -> &[Configuration] {
        &self.configurations
    }

    /// How many trainings that are, over all seeds and folds.
    #[must_use]
    pub fn trial_count(&self) -> usize {
        self.members.len()
    }

    /// Does every trial that is not done yet, and reports on all; the files of the report are written into
    /// the workspace.
    ///
    /// # Errors
    /// If a trial fails or is stopped; the same sweep resumes from there.
    pub fn run(&self, observer: &dyn Observer) -> Result<SweepReport, TrialError> {
        let trials: Vec<Named> = self.members.iter().map(|member| member.named.clone()).collect();
        let results = run_all(&trials, self.store, &self.workspace, observer)?;
        let report = self.report(&results);
        report.write(&self.workspace)?;
        plots::write(self, &report)?;
        Ok(report)
    }

    fn report(&self, results: &[TrialResult]) -> SweepReport {
        let rows = self.configurations.iter().enumerate().map(|(at, configuration)| {
            let members = self.members.iter().zip(results).filter(|(member, _)| member.configuration == at);
            let trials = members.map(|(member, result)| {
                let path = member.named.trial.path(self.store, &self.workspace);
                SweepTrialReport::new(path, member.named.trial.config.trainer.seed, member.fold, result)
            });
            SweepRow::new(configuration.varied.clone(), trials.collect())
        });
        let mut fixed = Vec::new();
        flatten("", &self.plan.set, &mut fixed);
        SweepReport::new(
            self.store.path.clone(),
            self.vectors.path(self.store, &self.workspace),
            self.plan.clone(),
            fixed,
            rows.collect(),
        )
    }
}

/// Checks that every training has tasks to choose its model by, with queries left behind its supports.
fn check_tasks(store: &Store, members: &[Member]) -> Result<(), PlanError> {
    let mut checked = Vec::new();
    for Member { named, .. } in members {
        let config = &named.trial.config;
        let key = (config.trainer.fold, config.trainer.shots);
        if checked.contains(&key) {
            continue;
        }
        checked.push(key);
        let left_out = config.trainer.fold.map(|fold| fold.of(&store.tasks));
        let tasks = left_out.as_ref().unwrap_or(&store.tasks);
        Trainer::check_dev(config.trainer.shots, &store.graph, tasks).map_err(|error| {
            PlanError::Configuration { settings: named.label.clone(), message: error.to_string() }
        })?;
    }
    Ok(())
}

/// Settings by their dotted names.
fn flatten(prefix: &str, table: &toml::Table, into: &mut Vec<(String, toml::Value)>) {
    for (field, value) in table {
        match value {
            toml::Value::Table(inner) => flatten(&format!("{prefix}{field}."), inner, into),
            value => into.push((format!("{prefix}{field}"), value.clone())),
        }
    }
}
