//! How sure an answer is: a monotone calibration of scores, learned across tasks.
//!
//! Scores rank the tails of one head; what they are worth differs from model to model and from relation to
//! relation. [`Calibration`] turns a score into the chance that the answer is right. It looks at how far the score
//! stands out among the candidates of its head, at how well the model finds each pair of the support by the others,
//! and at the size of the support, and never changes the order of the answers of a head.
//!
//! "Right" means: a fact that the benchmark knows. Facts that are true but nowhere written count as wrong, so
//! confidence is on the careful side; and it presumes that the head has the relation at all.

mod calibration;
mod calibration_examples;
mod head_scores;
mod isotonic_regression;
mod leave_one_out;
mod logistic_regression;
mod reliability;

pub use calibration::{Calibration, PrecisionPoint, Scale, Signs};
pub use calibration_examples::{CalibrationExamples, CalibrationSize};
pub use head_scores::{HeadScores, Tails};
pub use isotonic_regression::Isotonic;
pub use leave_one_out::leave_one_out_rank;
pub use reliability::{Reliability, ReliabilityBin};
