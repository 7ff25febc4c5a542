//! The calibration of a run of RANA.

use std::fs;
use std::path::PathBuf;

use rana_eval::confidence::{Calibration, ConfidenceLessons};
use rana_fewshot::SupportError;
use rana_fewshot::rana::{RanaModel, Run};
use rana_graph::{Split, Store, Task};
use serde::{Deserialize, Serialize};

use crate::trial::write;

/// A calibration that was kept, and what it is of.
#[derive(Serialize, Deserialize)]
struct KeptCalibration {
    /// The step of the model.
    step: Option<u64>,
    dataset: String,
    version: String,
    calibration: Option<Calibration>,
}

/// What turns the scores of a run of RANA into confidence, if there are enough tasks to learn it from.
///
/// It is learned on the dev tasks, or on the train tasks too if these are too few, and kept beside the run, because that takes a while.
///
/// # Errors
/// If the model cannot answer for a support.
pub fn rana_calibration(
    run: &Run,
    model: &RanaModel<'_>,
    store: &Store,
) -> Result<Option<Calibration>, SupportError> {
    let file: PathBuf = run.path().join("calibration.json");
    let (step, dataset) = (run.manifest.best.map(|best| best.step), store.manifest.data.clone());
    let version = env!("CARGO_PKG_VERSION").to_owned();
    let kept = fs::read(&file).ok().and_then(|text| serde_json::from_slice::<KeptCalibration>(&text).ok());
    if let Some(kept) = kept
        && (kept.step, &kept.dataset, &kept.version) == (step, &dataset, &version)
    {
        return Ok(kept.calibration);
    }
    let gather =
        |tasks: Vec<Task<'_>>| ConfidenceLessons::gather(model, &store.tasks, &tasks, run.config.seed);
    // Dev tasks were not trained on; where they are too few, confidence by those that were is better than none.
    let calibration = match Calibration::learn(&gather(store.tasks.of(Split::Dev).collect())?) {
        Some(learned) => Some(learned),
        None => {
            let all = store.tasks.of(Split::Train).chain(store.tasks.of(Split::Dev));
            let learned = Calibration::learn(&gather(all.collect())?);
            learned.map(|learned| Calibration { seen_in_training: true, ..learned })
        }
    };
    let kept = KeptCalibration { step, dataset, version, calibration };
    // Not keeping it only costs time: the run may be on a disk that cannot be written to.
    if let Ok(text) = serde_json::to_vec_pretty(&kept) {
        let _ = write(&file, &text);
    }
    Ok(kept.calibration)
}
