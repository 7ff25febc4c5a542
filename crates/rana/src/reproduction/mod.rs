//! [`Reproduction`]: a table or figure of the paper, from raw files to numbers next to the published ones.
//!
//! Settings come from presets, which were chosen without looking at test; test is evaluated once per trial.
//!
//! | file | concept |
//! | --- | --- |
//! | `reproduction.rs` | a table or figure, made step by step |
//! | `experiment.rs`, `published.rs` | the rows of each table and figure, and the published numbers |
//! | `dataset.rs` | the data |
//! | `row_measurements.rs` | the numbers of each row |
//! | `measured_rows.rs`, `fused_rows.rs` | models that are not meta-trained, and models with evidence |
//! | `seed_errors.rs` | the errors of a seed's model on one relation |
//! | `reproduction_report.rs`, `reproduction_row.rs`, `seed_result.rs` | the result as Markdown, CSV and picture, its rows, and the numbers of one seed |

mod dataset;
mod error;
mod experiment;
mod fused_rows;
mod measured_rows;
mod published;
#[allow(clippy::module_inception)]
mod reproduction;
mod reproduction_report;
mod reproduction_row;
mod row_measurements;
mod seed_errors;
mod seed_result;
#[cfg(test)]
mod tests;

pub use dataset::Dataset;
pub use error::ReproductionError;
pub use experiment::Experiment;
pub use published::Published;
pub use reproduction::Reproduction;
pub use reproduction_report::ReproductionReport;
pub use reproduction_row::{Ours, ReproductionRow, RowKind};
pub use seed_errors::SeedErrors;
pub use seed_result::SeedResult;
