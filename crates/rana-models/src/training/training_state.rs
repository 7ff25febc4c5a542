//! [`TrainingState`]: everything that changes during training, and how a training ends.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::adam::{Moments, RowMoments};
use super::parameters::Parameters;
use super::run_manifest::BestRecord;
use super::running_mean::RunningMean;

/// The best parameters so far.
#[derive(Clone, Debug)]
pub struct Best {
    /// After how many steps.
    pub step: u64,
    /// Their MRR on dev.
    pub dev_mrr: f64,
    /// The parameters.
    pub parameters: Arc<Parameters>,
}

/// Everything that changes during training.
#[derive(Clone, Debug)]
pub struct TrainingState {
    /// How many steps are done.
    pub step: u64,
    /// The parameters now.
    pub parameters: Parameters,
    /// The best so far, if there was a dev evaluation.
    pub best: Option<Best>,
    /// Dev evaluations since the best one.
    pub misses: u64,
    /// The mean of the parameters over the last steps, if that is what is evaluated.
    pub(crate) mean: Option<RunningMean>,
    pub(crate) weight_moments: Moments,
    pub(crate) relation_moments: Moments,
    pub(crate) row_moments: RowMoments,
    /// The losses since the last entry of the log.
    pub(crate) loss_sum: f64,
    pub(crate) loss_steps: u64,
}

impl TrainingState {
    /// What the manifest says about the best parameters.
    pub(super) fn best_record(&self) -> Option<BestRecord> {
        self.best.as_ref().map(|best| BestRecord { step: best.step, dev_mrr: best.dev_mrr })
    }
}

/// How training ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TrainingOutcome {
    /// All steps are done.
    Finished,
    /// There was no new best for too long.
    OutOfPatience,
    /// It was told to stop, and can be resumed.
    Stopped,
}
