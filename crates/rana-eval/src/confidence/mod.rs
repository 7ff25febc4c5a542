//! How sure an answer is: a monotone calibration of scores, learned across tasks.
//!
//! Scores rank the tails of one head. Their meaning differs between models and relations. [`Calibration`] turns a
//! score into the probability that the answer is right. It uses the margin of the score over the other candidates of
//! its head, how well the model finds each pair of the support from the others, and the size of the support. It never
//! changes the order of the answers of a head.
//!
//! "Right" means: a fact of the benchmark. Facts that are true but missing there count as wrong, so confidence is
//! rather too low. It assumes that the head has the relation at all.

mod calibration;
mod calibration_examples;
mod head_scores;
mod isotonic_regression;
mod leave_one_out;
mod logistic_regression;
mod relation_confidence;
mod reliability;

pub use calibration::{Calibration, PrecisionPoint, Scale, Signs};
pub use calibration_examples::{CalibrationExamples, CalibrationSize};
pub use head_scores::{HeadScores, Tails};
pub use isotonic_regression::Isotonic;
pub use leave_one_out::leave_one_out_rank;
pub use relation_confidence::{RelationConfidence, RelationExample, RelationSigns};
pub use reliability::{Reliability, ReliabilityBin};
