//! [`PromisedPrecision`]: the precision that was asked for, and how sure answers must be for it.

use rana::eval::confidence::PrecisionPoint;
use rana::predictor::LearnedRelation;
use serde::Serialize;

use crate::error::CliError;

/// A precision that was asked for and can be promised.
#[derive(Serialize)]
pub(super) struct PromisedPrecision {
    wanted: f64,
    /// What was measured on relations that were left out.
    measured: PrecisionPoint,
}

impl PromisedPrecision {
    /// What a precision takes.
    ///
    /// # Errors
    /// If no confidence promises it.
    pub(super) fn new(learned: &LearnedRelation, wanted: f64) -> Result<Self, CliError> {
        let refused = |error| CliError::Usage(format!("--precision {wanted}: {error}"));
        let measured = learned.confidence_for(wanted).map_err(refused)?;
        Ok(Self { wanted, measured })
    }

    /// How sure an answer must be.
    pub(super) fn confidence(&self) -> f32 {
        self.measured.confidence
    }

    /// What it means; heads that are chosen by what they are need not have the relation at all.
    pub(super) fn text(&self, is_bulk: bool) -> String {
        let [least, share, error] =
            [f64::from(self.measured.confidence), self.measured.precision, self.measured.error]
                .map(|of| 100.0 * of);
        let heads = match is_bulk {
            true => {
                ". This holds for heads that have the relation. Some of these heads may not, so fewer answers may be right"
            }
            false => "",
        };
        format!(
            "answers need a confidence of {least:.0} %: of such answers, {share:.0} ± {error:.0} % were right for relations \
             left out. One relation can be better or worse{heads}"
        )
    }
}
