//! [`Trained`]: the summary of a training, as JSON and as text.

use std::io::{self, Write};

use rana::models::registry;
use rana::models::training::{RunConfig, TrainingOutcome};
use rana::report::{LearningCurve, sparkline};
use serde::Serialize;

use crate::human_numbers::thousands;
use crate::terminal::{BOLD, DIM};

/// How many evaluations the curve shows.
const CURVE_WIDTH: usize = 60;
/// The picture of the curve in a run.
pub(super) const LEARNING_CURVE: &str = "learning-curve.svg";

/// The account of a training.
#[derive(Serialize)]
pub(crate) struct Trained {
    pub(crate) run: String,
    pub(super) outcome: TrainingOutcome,
    pub(super) steps: u64,
    pub(super) seconds: f64,
    pub(super) best_step: Option<u64>,
    pub(super) dev_mrr: Option<f64>,
    #[serde(skip)]
    pub(super) curve: LearningCurve,
    pub(super) config: RunConfig,
}

/// The name of a model as people write it.
pub(super) fn model_title(config: &RunConfig) -> &'static str {
    registry::find(config.model.model_name()).map_or("a model", |entry| entry.title)
}

impl Trained {
    pub(crate) fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        let trainer = &self.config.trainer;
        writeln!(
            out,
            "meta-trained {BOLD}{}{BOLD:#} (seed {}, {} shots, data mode {}): {} steps of {} episodes in {:.1} s",
            model_title(&self.config),
            trainer.seed,
            trainer.shots,
            trainer.data_mode,
            thousands(self.steps),
            trainer.batch,
            self.seconds,
        )?;
        if let (Some(step), Some(mrr)) = (self.best_step, self.dev_mrr) {
            let tasks = match trainer.fold {
                None => "the dev tasks".to_owned(),
                Some(fold) => format!("the train tasks left out by fold {fold}"),
            };
            writeln!(out, "best on {tasks} after step {step}: MRR {BOLD}{mrr:.3}{BOLD:#}")?;
        }
        if let [first, .., last] = &self.curve.points[..] {
            let values: Vec<f64> = self.curve.points.iter().map(|point| point.mrr).collect();
            let line = sparkline(&values, CURVE_WIDTH);
            let (first, last, run) = (first.mrr, last.mrr, &self.run);
            writeln!(out, "by evaluation: {first:.3} {line} {last:.3}, drawn in {run}/{LEARNING_CURVE}")?;
        }
        if self.outcome == TrainingOutcome::OutOfPatience {
            writeln!(out, "{DIM}stopped early: no better for {} evaluations{DIM:#}", trainer.patience)?;
        }
        Ok(())
    }
}
