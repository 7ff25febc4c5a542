//! [`Sweep`]: a bounded search over settings, chosen by dev or by held-out train tasks, never by test.
//!
//! | file | concept |
//! | --- | --- |
//! | `sweep.rs` | a plan carried out on a graph |
//! | `plan.rs`, `value_range.rs` | which settings are tried |
//! | `report.rs` | the results, and which configuration is best |
//! | `plots.rs`, `dev_curve.rs` | the pictures of a report, and the curve of a training |

mod dev_curve;
mod plan;
mod plots;
mod report;
#[allow(clippy::module_inception)]
mod sweep;
#[cfg(test)]
mod tests;
mod value_range;

pub use dev_curve::{CurvePoint, dev_curve};
pub use plan::{Configuration, PlanError, Select, SweepPlan};
pub use report::{SweepReport, SweepRow, SweepTrialReport};
pub use sweep::Sweep;
pub use value_range::RangeError;
