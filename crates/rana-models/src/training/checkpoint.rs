//! Checkpoints: the state of a training in its run, written and resumed from.

use std::fs::{File, OpenOptions};
use std::sync::Arc;

use rana_embed::format::{Tensor, TensorFile, Values};
use serde::{Deserialize, Serialize};

use super::adam::{Moments, RowMoments};
use super::parameter_tensors::{parameter_tensors, read_parameters};
use super::parameters::ParameterLayout;
use super::run::{CHECKPOINT, METRICS, NOTE, Run, lock};
use super::run_error::RunError;
use super::run_manifest::BestRecord;
use super::running_mean::RunningMean;
use super::start_vectors::StartVectors;
use super::training_state::{Best, TrainingState};

/// The prefix of the tensors of the running mean.
const MEAN: &str = "mean.";

/// The content of a checkpoint apart from its tensors.
#[derive(Serialize, Deserialize)]
struct CheckpointNote {
    step: u64,
    misses: u64,
    loss_sum: f64,
    loss_steps: u64,
    /// How many times parameters have entered their mean.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mean_samples: Option<u64>,
    best: Option<BestRecord>,
    /// How many bytes the log had.
    log_bytes: u64,
    /// How long training took so far.
    seconds: f64,
}

impl Run {
    /// Writes the state of a training, so that it can be resumed from here.
    ///
    /// # Errors
    /// If the disk refuses; the checkpoint before then stays usable.
    pub fn write_checkpoint(&mut self, state: &TrainingState, seconds: f64) -> Result<(), RunError> {
        self.write_best(state)?;
        let log = self.path.join(METRICS);
        // What the checkpoint counts on must be on disk before it.
        let file = File::open(&log).map_err(RunError::io(&log, "open the file"))?;
        file.sync_all().map_err(RunError::io(&log, "write the file"))?;
        let log_bytes = file.metadata().map_err(RunError::io(&log, "look at the file"))?.len();
        let note = CheckpointNote {
            step: state.step,
            misses: state.misses,
            loss_sum: state.loss_sum,
            loss_steps: state.loss_steps,
            mean_samples: state.mean.as_ref().map(|mean| mean.samples),
            best: state.best_record(),
            log_bytes,
            seconds,
        };
        let note =
            serde_json::to_string(&note).map_err(|error| self.malformed(CHECKPOINT, &error.to_string()))?;
        let mut tensors = parameter_tensors(&state.parameters, "");
        if let Some(mean) = &state.mean {
            tensors.extend(parameter_tensors(&mean.parameters, MEAN));
        }
        let last = &state.row_moments.last;
        let plain = |name: &str, values| Tensor { name: name.to_owned(), shape: vec![len(values)], values };
        for (name, moments) in [
            ("weights", &state.weight_moments),
            ("relations", &state.relation_moments),
            ("rows", &state.row_moments.moments),
        ] {
            tensors.push(plain(&format!("adam.{name}.first"), Values::F32(&moments.first)));
            tensors.push(plain(&format!("adam.{name}.second"), Values::F32(&moments.second)));
        }
        tensors.push(plain("adam.rows.last", Values::U64(last)));
        TensorFile::write(&self.path.join(CHECKPOINT), (NOTE, &note), &tensors)?;
        self.remove_old_models(state.best.as_ref().map(|best| best.step));
        Ok(())
    }

    /// The state that a training resumes from, and how long it had taken; later lines of the log are cut off. `None`
    /// if it was killed before its first checkpoint: it then starts again, to the same result.
    ///
    /// # Errors
    /// If the checkpoint of a stopped training is missing, was cut short or altered, or another process trains.
    pub fn resume(
        &mut self,
        layout: &Arc<ParameterLayout>,
        start: &StartVectors,
    ) -> Result<Option<(TrainingState, f64)>, RunError> {
        self.lock = Some(lock(&self.path)?);
        let path = self.path.join(CHECKPOINT);
        if !path.exists() {
            if self.manifest.outcome.is_some() {
                return Err(RunError::NoCheckpoint { path });
            }
            // The first model is written before the first checkpoint; the process may have been killed between the two.
            self.manifest.best = None;
            self.write_manifest()?;
            self.write(METRICS, b"")?;
            return Ok(None);
        }
        let (file, note) = TensorFile::open(&path, NOTE)?;
        let note: CheckpointNote = serde_json::from_str(&note)
            .map_err(|error| self.malformed(CHECKPOINT, &format!("its note makes no sense: {error}")))?;
        let parameters = read_parameters(&path, &file, "", layout, start)?;
        let mean = match note.mean_samples {
            None => None,
            Some(samples) => {
                let parameters = read_parameters(&path, &file, MEAN, layout, start)?;
                Some(RunningMean { parameters, samples })
            }
        };
        let moments = |name: &str, len: usize| {
            let first = file.f32(&format!("adam.{name}.first"))?.to_vec();
            let second = file.f32(&format!("adam.{name}.second"))?.to_vec();
            if first.len() != len || second.len() != len {
                return Err(self.malformed(CHECKPOINT, &format!("the state of `{name}` has another size")));
            }
            Ok(Moments { first, second })
        };
        let row_moments = RowMoments {
            moments: moments("rows", parameters.rows.learned_values().len())?,
            last: file.u64("adam.rows.last")?.to_vec(),
        };
        if row_moments.last.len() != parameters.rows.learned().len() {
            return Err(self.malformed(CHECKPOINT, "the state of `rows` has another size"));
        }
        let best = match note.best {
            None => None,
            Some(BestRecord { step, dev_mrr }) => {
                Some(Best { step, dev_mrr, parameters: Arc::new(self.read_model(step, layout, start)?) })
            }
        };
        let state = TrainingState {
            step: note.step,
            best,
            misses: note.misses,
            mean,
            weight_moments: moments("weights", parameters.weights.len())?,
            relation_moments: moments(
                "relations",
                if layout.learns_relations { parameters.relations.len() } else { 0 },
            )?,
            row_moments,
            parameters,
            loss_sum: note.loss_sum,
            loss_steps: note.loss_steps,
        };
        let log = self.path.join(METRICS);
        let file = OpenOptions::new().write(true).open(&log).map_err(RunError::io(&log, "open the file"))?;
        let found = file.metadata().map_err(RunError::io(&log, "look at the file"))?.len();
        if found < note.log_bytes {
            return Err(self.malformed(
                METRICS,
                &format!("{found} bytes long, expected at least {}; the log was cut short", note.log_bytes),
            ));
        }
        file.set_len(note.log_bytes).map_err(RunError::io(&log, "cut the file"))?;
        Ok(Some((state, note.seconds)))
    }
}

fn len(values: Values<'_>) -> usize {
    match values {
        Values::F32(values) => values.len(),
        Values::U32(values) => values.len(),
        Values::U64(values) => values.len(),
    }
}
