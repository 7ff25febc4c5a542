//! [`Sweep`]: a bounded search over settings, chosen by dev or by held-out train tasks, never by test.
//!
//! | file | concept |
//! | --- | --- |
//! | `sweep.rs` | a plan carried out on a graph |
//! | `sweep_plan.rs`, `value_range.rs`, `plan_error.rs` | which settings are tried, and why a plan cannot be used |
//! | `sweep_report.rs` | the results, and which configuration is best |
//! | `plots.rs` | the pictures of a report |

mod plan_error;
mod plots;
#[allow(clippy::module_inception)]
mod sweep;
mod sweep_plan;
mod sweep_report;
#[cfg(test)]
mod tests;
mod value_range;

pub use plan_error::PlanError;
pub use sweep::Sweep;
pub use sweep_plan::{Configuration, Select, SweepPlan};
pub use sweep_report::{SweepReport, SweepRow, SweepTrialReport};
pub use value_range::RangeError;
