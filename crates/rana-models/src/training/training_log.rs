//! What a training writes down: [`LogEntry`], [`ValidationReport`] and [`TrainingLog`], which keeps them.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::error::TrainingError;
use super::stepped_model::Diagnostics;
use super::training_state::TrainingState;

/// The result of one step.
#[derive(Clone, Debug, PartialEq)]
pub struct StepReport {
    /// How many steps are done.
    pub step: u64,
    /// The loss.
    pub loss: f64,
    /// What the model measured on the batch, by name.
    pub diagnostics: Diagnostics,
}

impl Serialize for StepReport {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("step", &self.step)?;
        map.serialize_entry("loss", &self.loss)?;
        for (name, value) in &self.diagnostics {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

/// An entry of the log.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LogEntry {
    /// The last step.
    #[serde(flatten)]
    pub last: StepReport,
    /// The mean loss since the entry before.
    pub mean_loss: f64,
    /// How many entity rows have learned.
    pub learned_rows: usize,
    /// Their mean norm.
    pub learned_row_norm: f64,
    /// The mean norm of the relation rows.
    pub relation_row_norm: f64,
}

/// The result of a dev evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ValidationReport {
    /// How many steps were done.
    pub step: u64,
    /// The MRR on dev.
    pub dev_mrr: f64,
    /// Whether it is the best so far.
    pub is_best: bool,
}

impl ValidationReport {
    /// A line for people, with the loss if there was a step.
    pub(super) fn line(&self, loss: Option<f64>) -> String {
        let loss = loss.map_or_else(String::new, |loss| format!("loss {loss:.4}, "));
        let mark = if self.is_best { ", the best so far" } else { "" };
        format!("step {}: {loss}dev MRR {:.4}{mark}", self.step, self.dev_mrr)
    }
}

/// A line of a run's log.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum LogLine {
    /// What a step looked like, ten times between dev evaluations.
    Step(LogEntry),
    /// A dev evaluation.
    Dev(ValidationReport),
}

/// Keeps what a training writes down; `()` keeps nothing.
pub trait TrainingLog {
    /// An entry of the log is due.
    ///
    /// # Errors
    /// An error ends the training.
    fn step(&mut self, _: &LogEntry) -> Result<(), TrainingError> {
        Ok(())
    }
    /// A dev evaluation is done.
    ///
    /// # Errors
    /// An error ends the training.
    fn validation(&mut self, _: &ValidationReport) -> Result<(), TrainingError> {
        Ok(())
    }
    /// A good moment to keep the state: a step is done.
    ///
    /// # Errors
    /// An error ends the training.
    fn state(&mut self, _: &TrainingState) -> Result<(), TrainingError> {
        Ok(())
    }
}

impl TrainingLog for () {}
