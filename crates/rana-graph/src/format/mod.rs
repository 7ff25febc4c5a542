//! File formats: how they are detected, and the readers and writers of each.
//!
//! | file | concept |
//! | --- | --- |
//! | `format.rs`, `detect.rs` | the formats that can be imported, and which one a file has |
//! | `limits.rs` | the limits that keep the memory and time of readers bounded |
//! | `source.rs` | files, standard input or bytes in memory |
//! | `statement.rs` | what a reader finds in a file |
//! | `read_facts.rs` | one file, by the reader of its format |
//! | `delimited.rs`, `columns.rs`, `parquet.rs`, `rdf.rs`, `release/` | the readers and writers of each format |
//! | `export.rs` | facts as a file |

mod columns;
mod delimited;
mod detect;
mod format_error;
mod place;
mod export;
mod export_error;
#[allow(clippy::module_inception)]
mod format;
mod limits;
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(feature = "rdf")]
pub mod rdf;
mod read_facts;
mod release;
mod source;
mod open_source;
mod statement;

pub use columns::{Column, Columns, ColumnsProblem, Role};
pub use delimited::{DelimitedOptions, Header};
pub use format_error::FormatError;
pub use place::Place;
pub use export::{FactFormat, export_facts, export_release};
pub use export_error::ExportError;
pub use format::Format;
pub use limits::Limit;
pub use source::Source;

pub(crate) use detect::detect;
pub(crate) use read_facts::{ReadOptions, read_facts};
pub(crate) use release::{is_release, read_release, release_size};
pub(crate) use open_source::OpenSource;
pub(crate) use statement::{Literal, Sink, Statement};
