//! Changes of a graph that was written once: layers of added and removed facts over an immutable base.
//!
//! The base is never written again. A change is a layer, one file that is written under another name, synced and
//! renamed: after a crash it is there or not. Merging writes one layer that replaces all before it, and removes
//! these afterwards; until then they are ignored.
//!
//! | file | concept |
//! | --- | --- |
//! | `graph_update.rs` | what changes: facts, labels and types by name; and a graph with a change |
//! | `update_layers.rs` | the directory of layers |
//! | `update_error.rs` | why layers cannot be read or written |

mod graph_update;
mod update_error;
mod update_layers;

pub use graph_update::{GraphUpdate, NamedFact};
pub use update_error::UpdateError;
pub use update_layers::UpdateLayers;
