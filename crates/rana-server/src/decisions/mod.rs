//! Users' verdicts on answers: received, saved on disk, and listed.
//!
//! | file | concept |
//! | --- | --- |
//! | `endpoints.rs` | `/v1/decisions` |
//! | `decision.rs`, `decision_index.rs` | a verdict, and the latest one on each fact, in little memory |
//! | `decision_writer.rs` | saves verdicts in order |
//! | `journal.rs`, `journal_header.rs`, `torn_end.rs`, `sync_directory.rs` | the file on disk |

mod decision;
mod decision_index;
mod decision_writer;
pub(crate) mod endpoints;
mod error;
mod journal;
mod journal_header;
mod sync_directory;
mod torn_end;

pub(crate) use decision::Verdict;
pub(crate) use decision_index::KeptDecision;
pub(crate) use decision_writer::DecisionWriter;
pub use error::JournalError;
pub use torn_end::TornEnd;
