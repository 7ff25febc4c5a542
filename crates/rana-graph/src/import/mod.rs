//! [`import`]: files into a graph with its tasks.
//!
//! | file | concept |
//! | --- | --- |
//! | `import.rs` | the import, step by step |
//! | `import_options.rs` | what may be chosen |
//! | `import_report.rs` | what was read, kept and skipped |
//! | `planned_sources.rs` | the files that directories stand for, and what each is read as |
//! | `import_rows.rs` | the same from rows that a program hands over |
//! | `interpreter.rs` | what statements mean: facts, types, labels |

#[allow(clippy::module_inception)]
mod import;
mod import_options;
mod import_report;
mod import_rows;
mod interpreter;
mod planned_sources;

pub use import::import;
pub use import_options::{ImportOptions, LABEL_RELATIONS, Literals, RDF_TYPE, TypeTriples};
pub use import_report::{ImportReport, Imported, SourceReport};
pub use import_rows::{Rows, import_rows};
