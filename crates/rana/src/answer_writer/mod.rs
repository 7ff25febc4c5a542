//! [`AnswerWriter`]: writes answers with their confidence in several file formats.
//!
//! | file | concept |
//! | --- | --- |
//! | `answer_writer.rs` | the writer, with tab-separated text, RDF, QuickStatements and Parquet |
//! | `answer_format.rs`, `answer_error.rs` | the formats, and why answers cannot be written |

mod answer_error;
mod answer_format;
#[allow(clippy::module_inception)]
mod answer_writer;

pub use answer_error::AnswerError;
pub use answer_format::AnswerFormat;
pub use answer_writer::{AnswerWriter, AnsweredFact};
