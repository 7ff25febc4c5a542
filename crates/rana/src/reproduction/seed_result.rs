//! [`SeedResult`]: the results of one seed.

use std::path::PathBuf;

use rana_eval::{Averages, Official, Spread};
use serde::Serialize;

use super::measured_rows::Measured;
use crate::trial::{TestResult, TrialResult};

/// The results of one seed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SeedResult {
    /// The seed; `None` for models without randomness.
    pub seed: Option<u64>,
    /// On the test tasks, official support, over all queries.
    pub test: Averages,
    /// The mean over tasks of the same MRR.
    pub macro_mrr: f64,
    /// The MRR on the dev tasks.
    pub dev_mrr: f64,
    /// The MRR on resampled supports, over the draws.
    pub resampled_mrr: Option<Spread>,
    /// The MRR on each of these supports.
    pub draw_mrrs: Vec<f64>,
    /// The MRR on the queries that all numbers of shots share.
    pub common_mrr: Option<f64>,
    /// How long it took, vectors that it shares with others left out.
    pub seconds: f64,
    /// How many numbers were learned, beyond the vectors that training started from.
    pub learned: Option<usize>,
    /// The most memory of the process, in bytes.
    pub peak_memory: Option<u64>,
    /// Where the trial is.
    pub path: Option<PathBuf>,
}

impl SeedResult {
    /// The result of a trial that was measured on test; `None` if it was not.
    pub(super) fn of_trial(result: &TrialResult, path: PathBuf) -> Option<Self> {
        let measurement = result.measurement()?;
        let test = measurement.test.as_ref()?;
        Some(Self {
            seconds: result.seconds.total(),
            learned: measurement.learned,
            peak_memory: result.peak_memory,
            path: Some(path),
            ..Self::new(Some(result.identity.config.trainer.seed), &measurement.dev, test)
        })
    }

    /// The result of a model that was measured without a trial.
    pub(super) fn of_measured(seed: Option<u64>, measured: &Measured) -> Self {
        Self { seconds: measured.seconds, ..Self::new(seed, &measured.dev, &measured.test) }
    }

    fn new(seed: Option<u64>, dev: &Official, test: &TestResult) -> Self {
        let result = &test.result;
        Self {
            seed,
            test: (&result.official.micro).into(),
            macro_mrr: result.official.macro_average.mrr,
            dev_mrr: dev.micro.mrr,
            resampled_mrr: result.resampled.map(|of| of.micro.mrr),
            draw_mrrs: result.draw_mrrs.clone(),
            common_mrr: result.common.as_ref().map(|of| of.official.micro.mrr),
            seconds: 0.0,
            learned: None,
            peak_memory: None,
            path: None,
        }
    }
}
