//! Results as people read them: pages, plots and tables.

#[cfg(feature = "plots")]
mod page;
#[cfg(feature = "plots")]
pub mod plot;
mod results_table;

#[cfg(feature = "plots")]
pub use page::html_page;
pub use results_table::ResultsTable;
