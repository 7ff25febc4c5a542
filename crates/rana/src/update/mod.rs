//! Changes of the graph of a learned directory, in seconds and without another training.
//!
//! | file | concept |
//! | --- | --- |
//! | `update.rs`, `update_run_error.rs` | [`Update`]: files of new facts, and of facts that are gone; and why they cannot be used |
//! | `drift.rs` | [`Drift`]: how far the graph has gone from the one that was learned from |

mod drift;
#[allow(clippy::module_inception)]
mod update;
mod update_run_error;

pub use drift::Drift;
pub use update::{Update, UpdateReport};
pub use update_run_error::UpdateRunError;
