//! [`Sweep`]: a bounded search over settings, chosen by dev or by held-out train tasks, never by test.
//!
//! | file | concept |
//! | --- | --- |
//! | `sweep.rs` | a plan carried out on a graph |
//! | `sweep_plan.rs`, `value_range.rs` | which settings are tried |
//! | `sweep_report.rs` | the results, and which configuration is best |
//! | `plots.rs`, `dev_curve.rs` | the pictures of a report, and the curve of a training |

mod dev_curve;
mod sweep_plan;
mod plan_error;
mod plots;
mod sweep_report;
#[allow(clippy::module_inception)]
mod sweep;
#[cfg(test)]
mod tests;
mod value_range;

pub use dev_curve::{CurvePoint, dev_curve};
pub use sweep_plan::{Configuration, Select, SweepPlan};
pub use plan_error::PlanError;
pub use sweep_report::{SweepReport, SweepRow, SweepTrialReport};
pub use sweep::Sweep;
pub use value_range::RangeError;
