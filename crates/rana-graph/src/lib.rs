//! Knowledge graphs for rana: names and ids, neighbourhoods, the on-disk store, and readers and
//! writers of outside formats.
//!
//! This is the first stretch of the way data flows: `files → graph`. It knows nothing of vectors
//! or models.

mod array;
mod graph;
mod id;
mod lists;
mod mapping;
mod names;
mod store;
pub mod synth;
mod tasks;

pub use array::Array;
pub use graph::{Duplicates, Graph, GraphBuilder, LabelRank};
pub use id::{Edge, EntityId, Fact, Pair, RelationId, TypeId};
pub use lists::Lists;
pub use names::{Names, NamesBuilder, Texts};
pub use store::{Counts, FileRecord, Input, Manifest, STORE_VERSION, Store, StoreError, TaskCounts};
pub use tasks::{Question, Split, Task, TaskSet, TaskSetBuilder};
