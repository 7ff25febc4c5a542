//! File formats: how they are detected, and the readers and writers of each.
//!
//! | file | concept |
//! | --- | --- |
//! | `format.rs`, `detect.rs` | the formats that can be imported, and which one a file has |
//! | `limits.rs` | the limits that keep the memory and time of readers bounded |
//! | `source.rs`, `open_source.rs` | files, standard input or bytes in memory; decompressed and hashed while they are read |
//! | `statement.rs` | what a reader finds in a file |
//! | `read_facts.rs` | one file, by the reader of its format |
//! | `delimited.rs`, `columns.rs`, `parquet.rs`, `rdf.rs`, `rdf_terms.rs`, `release/` | the readers and writers of each format |
//! | `format_error.rs`, `place.rs` | why a file cannot be read, and where in it |
//! | `export.rs`, `export_error.rs` | facts as a file, and why they cannot be written |

mod columns;
mod delimited;
mod detect;
mod export;
mod export_error;
#[allow(clippy::module_inception)]
mod format;
mod format_error;
mod limits;
mod open_source;
#[cfg(feature = "parquet")]
mod parquet;
mod place;
#[cfg(feature = "rdf")]
pub mod rdf;
#[cfg(feature = "rdf")]
mod rdf_terms;
mod read_facts;
mod release;
mod source;
mod statement;

pub use columns::{Column, Columns, ColumnsProblem, Role};
pub use delimited::{DelimitedOptions, Header};
pub use export::{FactFormat, export_facts, export_release};
pub use export_error::ExportError;
pub use format::Format;
pub use format_error::FormatError;
pub use limits::Limit;
pub use place::Place;
pub use source::Source;

pub(crate) use detect::detect;
pub(crate) use open_source::OpenSource;
pub(crate) use read_facts::{ReadOptions, read_facts};
pub(crate) use release::{is_release, read_release, release_size};
pub(crate) use statement::{Literal, Sink, Statement};
