//! Results as people read them: pages, plots and tables.

#[cfg(feature = "plots")]
mod card_page;
mod learning_curve;
#[cfg(feature = "plots")]
pub mod plot;
mod results_table;

#[cfg(feature = "plots")]
pub use card_page::html_page;
pub use learning_curve::{CurvePoint, LearningCurve, sparkline};
pub use results_table::ResultsTable;
