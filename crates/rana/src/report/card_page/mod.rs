//! The page of an evaluation card: tables and plots in one file.
//!
//! | file | concept |
//! | --- | --- |
//! | `html_page.rs` | the page and its tables |
//! | `charts.rs`, `svg.rs` | its plots, and the shapes they are made of |

mod charts;
mod html_page;
mod svg;

pub use html_page::html_page;
pub(crate) use svg::escape;
