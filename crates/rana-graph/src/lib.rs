//! Knowledge graphs for rana: names and ids, neighbourhoods, the on-disk store, and readers and
//! writers of outside formats.
//!
//! This is the first stretch of the way data flows: `files → graph`. It knows nothing of vectors
//! or models.
//!
//! The cargo features `rdf`, `parquet` and `compression` (gzip and zstd), all on by default, bring the
//! readers and writers that need other crates. Without one of them, the formats it brings are refused by
//! [`FormatError::MissingFeature`](format::FormatError::MissingFeature) and
//! [`ExportError::MissingFeature`](format::ExportError::MissingFeature).

mod array;
mod atomic;
mod batch;
pub mod format;
mod graph;
mod held_out;
pub mod hex;
mod id;
mod import;
mod keyed_rng;
mod lists;
mod mapping;
mod named;
mod names;
mod progress;
mod skipped;
mod slots;
mod statistics;
mod store;
pub mod synth;
mod tasks;
mod withhold;

pub use array::Array;
pub use atomic::{unfinished, write_file_atomically};
pub use graph::{Duplicates, Graph, GraphBuilder, LabelRank};
pub use held_out::{HeldOut, HeldOutReport};
pub use id::{Edge, EntityId, Fact, Pair, RelationId, TypeId};
pub use import::{
    ImportOptions, ImportReport, Imported, LABEL_RELATIONS, Literals, RDF_TYPE, SourceReport, TypeTriples,
    import,
};
pub use keyed_rng::keyed_rng;
pub use lists::Lists;
pub use names::{Names, NamesBuilder, Texts};
pub use progress::{Progress, Unit};
pub use statistics::{
    Cardinality, DegreeBucket, Degrees, FewShotRule, RelationStatistics, Spread, Statistics, TaskStatistics,
};
pub use store::{Counts, FileRecord, Input, Manifest, STORE_VERSION, Store, StoreError, TaskCounts};
pub use tasks::{Question, Split, Task, TaskSet, TaskSetBuilder};
