//! The graph store: a directory that holds a graph and its tasks.
//!
//! ```text
//! KG/
//!   manifest.json        what is here: version, counts, input hashes, checksums
//!   data-<hash>/         the arrays, one little-endian file each, written once
//! ```
//!
//! Opening maps the arrays and copies none. Writing puts the arrays into a fresh `data-…`
//! directory, syncs them, and then replaces `manifest.json` by one atomic rename. A writer that is
//! killed before the rename leaves the old store unchanged; a reader opens either the old store or the
//! new one.
//!
//! | file | concept |
//! | --- | --- |
//! | `store.rs` | an opened store, and the names of its arrays |
//! | `manifest.rs` | what `manifest.json` states |
//! | `read.rs`, `write.rs`, `error.rs` | opening, writing, and why they fail |

mod error;
mod manifest;
mod read;
#[allow(clippy::module_inception)]
mod store;
mod write;

pub use error::StoreError;
pub(crate) use error::hint;
pub use manifest::{Counts, FileRecord, Input, Manifest, TaskCounts};
pub use store::{STORE_VERSION, Store};

use store::{DATA_PREFIX, FORMAT, LOCK, MANIFEST, arrays, is_data_name};

#[cfg(target_endian = "big")]
compile_error!("the store maps little-endian arrays; big-endian machines are not supported");
