//! Results as people read them: pages, plots and tables.

#[cfg(feature = "plots")]
mod card_page;
#[cfg(feature = "plots")]
pub mod plot;
mod results_table;

#[cfg(feature = "plots")]
pub use card_page::html_page;
pub use results_table::ResultsTable;
