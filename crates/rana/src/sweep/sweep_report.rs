//! [`SweepReport`]: the results of a sweep, best first.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use rana_eval::Spread;
use serde::Serialize;

use super::sweep_plan::{Select, SweepPlan, look_up};
use crate::report::ResultsTable;
use crate::settings::assignment;
use crate::trial::{TrialError, TrialOutcome, TrialResult, Workspace};

/// The results of a sweep.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SweepReport {
    /// The graph.
    pub graph: PathBuf,
    /// The vectors.
    pub vectors: PathBuf,
    /// The plan.
    pub plan: SweepPlan,
    /// The configurations, the best first.
    pub rows: Vec<SweepRow>,
    /// How the best one is trained again, settings as `KEY=VALUE`.
    pub best_settings: Vec<String>,
}

/// The results of one configuration.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SweepRow {
    /// The settings that differ from the other configurations, by field.
    pub settings: BTreeMap<String, toml::Value>,
    /// The MRR on the dev tasks over the seeds; none if all failed.
    pub dev_mrr: Option<Spread>,
    /// The MRR on held-out train tasks over the folds; `None` without folds, or if one failed.
    pub fold_mrr: Option<Spread>,
    /// How long its trials took together.
    pub seconds: f64,
    /// Its trials.
    pub trials: Vec<SweepTrialReport>,
}

/// The result of one training.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SweepTrialReport {
    /// Where it is.
    pub path: PathBuf,
    /// Its seed.
    pub seed: u64,
    /// The part of the train tasks that was left out, counted from 1.
    pub fold: Option<u64>,
    /// The MRR on the dev tasks.
    pub dev_mrr: Option<f64>,
    /// The MRR its model was chosen by: on dev, or on the left-out train tasks.
    pub selection_mrr: Option<f64>,
    /// The step of the best model.
    pub best_step: Option<u64>,
    /// How many steps were done.
    pub steps: Option<u64>,
    /// How long it took.
    pub seconds: f64,
    /// Why it failed, if it did.
    pub failure: Option<String>,
}

impl SweepTrialReport {
    pub(super) fn new(path: PathBuf, seed: u64, fold: Option<u64>, result: &TrialResult) -> Self {
        let measured = result.measurement();
        Self {
            path,
            seed,
            fold,
            dev_mrr: measured.map(|of| of.dev.micro.mrr),
            selection_mrr: measured.map(|of| of.selection_mrr),
            best_step: measured.map(|of| of.best_step),
            steps: measured.map(|of| of.steps),
            seconds: result.seconds.total(),
            failure: match &result.outcome {
                TrialOutcome::Failed { reason } => Some(reason.clone()),
                TrialOutcome::Measured(_) => None,
            },
        }
    }
}

impl SweepRow {
    pub(super) fn new(settings: BTreeMap<String, toml::Value>, trials: Vec<SweepTrialReport>) -> Self {
        // One failure is enough not to be compared with others.
        let spread = |values: Vec<Option<f64>>| -> Option<Spread> {
            let values: Vec<f64> = values.into_iter().collect::<Option<_>>()?;
            (!values.is_empty()).then(|| Spread::of(values.into_iter()))
        };
        let seeds = trials.iter().filter(|trial| trial.fold.is_none());
        let folds = trials.iter().filter(|trial| trial.fold.is_some());
        Self {
            settings,
            dev_mrr: spread(seeds.map(|trial| trial.dev_mrr).collect()),
            fold_mrr: spread(folds.map(|trial| trial.selection_mrr).collect()),
            seconds: trials.iter().map(|trial| trial.seconds).sum(),
            trials,
        }
    }

    /// The number it is ranked by.
    #[must_use]
    pub fn selected_by(&self, select: Select) -> Option<Spread> {
        match select {
            Select::Dev => self.dev_mrr,
            Select::Folds => self.fold_mrr,
        }
    }

    /// The configuration as `KEY=VALUE`.
    #[must_use]
    pub fn label(&self) -> String {
        let settings = self.settings.iter().map(|(key, value)| assignment(key, value));
        settings.collect::<Vec<_>>().join(", ")
    }

    /// Why it has no number, if it has none.
    #[must_use]
    pub fn failure(&self) -> Option<&str> {
        self.trials.iter().find_map(|trial| trial.failure.as_deref())
    }
}

impl SweepReport {
    pub(super) fn new(
        graph: PathBuf,
        vectors: PathBuf,
        plan: SweepPlan,
        fixed: Vec<(String, toml::Value)>,
        mut rows: Vec<SweepRow>,
    ) -> Self {
        let rank = |row: &SweepRow| row.selected_by(plan.select).map_or(f64::NEG_INFINITY, |of| of.mean);
        // Of equal ones, the first of the plan.
        rows.sort_by(|a, b| rank(b).total_cmp(&rank(a)));
        let varied = rows.first().map(|row| row.settings.clone()).unwrap_or_default();
        let all: BTreeMap<String, toml::Value> = fixed.into_iter().chain(varied).collect();
        let best_settings = all.iter().map(|(key, value)| assignment(key, value)).collect();
        Self { graph, vectors, plan, rows, best_settings }
    }

    /// The best configuration, unless all failed.
    #[must_use]
    pub fn best(&self) -> Option<&SweepRow> {
        self.rows.first().filter(|row| row.selected_by(self.plan.select).is_some())
    }

    /// The fields that differ between configurations.
    #[must_use]
    pub fn varied(&self) -> BTreeSet<&str> {
        self.rows.iter().flat_map(|row| row.settings.keys()).map(String::as_str).collect()
    }

    /// The configurations as a table, the best first.
    #[must_use]
    pub fn table(&self) -> ResultsTable {
        let varied = self.varied();
        let has_folds = self.plan.folds.is_some();
        let has_changes = self.plan.each.is_some();
        let mut titles = vec!["#".to_owned()];
        match has_changes {
            true => titles.push("settings".to_owned()),
            false => titles.extend(varied.iter().map(|field| (*field).to_owned())),
        }
        titles.push("dev MRR".to_owned());
        if has_changes {
            titles.push("worth".to_owned());
        }
        if has_folds {
            titles.push(format!("MRR over {} folds", self.plan.folds.unwrap_or_default()));
        }
        titles.extend(["best step", "seconds"].map(str::to_owned));
        let rows = self.rows.iter().enumerate().map(|(at, row)| {
            let mut cells = vec![(at + 1).to_string()];
            match has_changes {
                true if row.settings.is_empty() => cells.push("as set".to_owned()),
                true => cells.push(row.label()),
                false => cells.extend(varied.iter().map(|field| {
                    row.settings.get(*field).map_or_else(String::new, |value| match value {
                        toml::Value::String(text) => text.clone(),
                        value => value.to_string(),
                    })
                })),
            }
            cells.push(mrr(row.dev_mrr, row));
            if has_changes {
                cells.push(self.worth(row).map_or_else(String::new, |worth| format!("{worth:+.3}")));
            }
            if has_folds {
                cells.push(mrr(row.fold_mrr, row));
            }
            let steps: Vec<String> =
                row.trials.iter().filter_map(|trial| trial.best_step).map(|step| step.to_string()).collect();
            cells.push(steps.join(" "));
            cells.push(format!("{:.0}", row.seconds));
            cells
        });
        ResultsTable { titles, rows: rows.collect() }
    }

    /// What the single change of a row adds to the MRR on dev; `None` if nothing is changed in it.
    fn worth(&self, row: &SweepRow) -> Option<f64> {
        let is_changed = |field: &String| look_up(self.plan.each.as_ref(), field).is_some();
        if !row.settings.keys().any(is_changed) {
            return None;
        }
        let mut settings = row.settings.clone();
        settings.retain(|field, _| !is_changed(field));
        let unchanged = self.rows.iter().find(|other| other.settings == settings)?;
        Some(row.dev_mrr?.mean - unchanged.dev_mrr?.mean)
    }

    /// An explanation of the numbers of the table.
    #[must_use]
    pub fn caption(&self) -> String {
        let seeds = match self.plan.seeds.len() {
            1 => format!("seed {}", self.plan.seeds[0]),
            count => format!("mean ± standard deviation over {count} seeds"),
        };
        let by = match self.plan.select {
            Select::Dev => "the MRR on the dev tasks",
            Select::Folds => "the mean MRR on left-out train tasks",
        };
        let worth = match self.plan.each {
            Some(_) => " Worth: dev MRR beyond that without the change.",
            None => "",
        };
        format!("{} configurations, {seeds}; ranked by {by}.{worth} Test was not looked at.", self.rows.len())
    }

    /// Writes `results.md`, `results.csv` and `results.json`.
    pub(super) fn write(&self, workspace: &Workspace) -> Result<(), TrialError> {
        let table = self.table();
        let text = format!(
            "# Sweep over {}, from `{}`\n\n{}\n\n{}",
            self.varied().into_iter().collect::<Vec<_>>().join(", "),
            self.plan.preset,
            self.caption(),
            table.markdown()
        );
        workspace.write("results.md", text.as_bytes())?;
        workspace.write("results.csv", self.csv().csv().as_bytes())?;
        let json = serde_json::to_vec_pretty(self)
            .map_err(|error| TrialError::io(workspace.root(), "write results.json")(error.into()))?;
        workspace.write("results.json", &json)?;
        Ok(())
    }

    /// One line per training, numbers in full.
    fn csv(&self) -> ResultsTable {
        let varied = self.varied();
        let titles = varied.iter().copied().chain([
            "seed",
            "fold",
            "dev_mrr",
            "selection_mrr",
            "best_step",
            "steps",
            "seconds",
            "failure",
            "path",
        ]);
        let rows = self.rows.iter().flat_map(|row| row.trials.iter().map(move |trial| (row, trial)));
        let rows = rows.map(|(row, trial)| {
            let settings = varied.iter().map(|field| match row.settings.get(*field) {
                None => String::new(),
                Some(toml::Value::String(text)) => text.clone(),
                Some(value) => value.to_string(),
            });
            let or_empty = |value: Option<String>| value.unwrap_or_default();
            let cells = [
                trial.seed.to_string(),
                or_empty(trial.fold.map(|fold| fold.to_string())),
                or_empty(trial.dev_mrr.map(|mrr| mrr.to_string())),
                or_empty(trial.selection_mrr.map(|mrr| mrr.to_string())),
                or_empty(trial.best_step.map(|step| step.to_string())),
                or_empty(trial.steps.map(|steps| steps.to_string())),
                format!("{:.1}", trial.seconds),
                or_empty(trial.failure.clone()),
                trial.path.display().to_string(),
            ];
            settings.chain(cells).collect()
        });
        ResultsTable { titles: titles.map(str::to_owned).collect(), rows: rows.collect() }
    }
}

fn mrr(spread: Option<Spread>, row: &SweepRow) -> String {
    match spread {
        None => row.failure().map_or_else(|| "–".to_owned(), |_| "failed".to_owned()),
        Some(Spread { mean, .. }) if row.trials.len() == 1 => format!("{mean:.3}"),
        Some(Spread { mean, sd }) => format!("{mean:.3} ± {sd:.3}"),
    }
}
