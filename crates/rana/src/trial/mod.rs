//! [`Trial`]: one configuration tried, from a graph to numbers.
//!
//! | file | concept |
//! | --- | --- |
//! | `trial.rs` | a trial: made, trained, measured |
//! | `trial_identity.rs` | the data, vectors and settings by which a trial is known |
//! | `vector_plan.rs` | the vectors that a trial starts from |
//! | `workspace.rs` | the directory of all trials |
//! | `trial_result.rs`, `error.rs` | what a trial gives, and why it fails |
//! | `peak_memory.rs` | how much memory it takes |
//! | `series.rs`, `pace.rs` | many trials one after the other, and how long the rest takes |

mod error;
mod pace;
mod peak_memory;
mod series;
#[cfg(test)]
pub(crate) mod tests;
#[allow(clippy::module_inception)]
mod trial;
mod trial_identity;
mod trial_result;
mod vector_plan;
mod workspace;

pub use error::TrialError;
pub use pace::Pace;
pub use series::{Named, run_all};
pub use trial::Trial;
pub use trial_identity::TrialIdentity;
#[cfg(feature = "plots")]
pub(crate) use trial_identity::hash;
pub use trial_result::{Measurement, Measures, TestResult, TrialOutcome, TrialResult, TrialSeconds};
pub use vector_plan::{ReadyVectors, VectorIdentity, VectorPlan, VectorSettings};
pub use workspace::Workspace;
