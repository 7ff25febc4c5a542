//! Cutting a few-shot benchmark out of a graph.
//!
//! | file | concept |
//! | --- | --- |
//! | `split.rs` | the cut |
//! | `config.rs`, `assignment_rule.rs` | its settings, and how relations are to be assigned: by ratio or by names |
//! | `error.rs` | why a graph cannot be split |
//! | `assignment.rs` | which relations become tasks, and of which split |
//! | `inverse_relations.rs` | relations that would give the answers of a task away |
//! | `report.rs` | what was done and what is left |

mod assignment;
mod assignment_rule;
mod config;
mod error;
mod inverse_relations;
mod report;
#[allow(clippy::module_inception)]
mod split;
#[cfg(test)]
mod tests;

pub use assignment_rule::{Assignment, Ratio, RelationNames};
pub use config::{SplitConfig, SplitSettings};
pub use error::SplitError;
pub use report::{RemovedInverse, SplitCount, SplitReport, SplitTask};
pub use split::{SplitOutcome, split};
