//! The calibration of a trained model: how its scores become confidence.

use rana_eval::confidence::{Calibration, CalibrationExamples, CalibrationSize};
use rana_fewshot::{FewShotModel, SupportError};
use rana_graph::{Split, Task, TaskSet};

/// Learns the calibration of a model, if there are enough tasks to learn it from.
///
/// It is learned on the dev tasks, which were not trained on. Where they are too few, the train tasks are added:
/// confidence from tasks that were seen is better than none, and the calibration says so.
///
/// # Errors
/// If the model cannot answer for a support.
pub fn calibrate(
    model: &dyn FewShotModel,
    tasks: &TaskSet,
    seed: u64,
) -> Result<Option<Calibration>, SupportError> {
    let gather =
        |of: Vec<Task<'_>>| CalibrationExamples::gather(model, tasks, &of, &CalibrationSize::default(), seed);
    if let Some(learned) = Calibration::learn(&gather(tasks.of(Split::Dev).collect())?) {
        return Ok(Some(learned));
    }
    let all = tasks.of(Split::Train).chain(tasks.of(Split::Dev));
    let learned = Calibration::learn(&gather(all.collect())?);
    Ok(learned.map(|learned| Calibration { seen_in_training: true, ..learned }))
}
