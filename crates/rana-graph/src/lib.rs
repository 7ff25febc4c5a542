//! Knowledge graphs for rana: names and ids, neighbourhoods, the on-disk store, and readers and
//! writers of other file formats.
//!
//! This crate does the first step of the data flow: `files → graph`. It does not know vectors or models.
//!
//! # Where to find what
//! In the order in which data passes through:
//! - `format/source.rs`, `format/open_source.rs`: files, standard input or bytes in memory, decompressed and hashed;
//! - `format/limits.rs`: the limits that keep the memory and time of readers bounded;
//! - `format/detect.rs`: which format a file has, by its first bytes and its name;
//! - `format/{delimited,rdf,parquet}.rs` and `format/release/`: the readers and writers of each format,
//!   with `format/columns.rs` for the columns of tables;
//! - `import/`: what the statements of a file mean (facts, types, labels, held-out facts);
//! - `malformed_input.rs`: skips and counts malformed input, or fails;
//! - `statement_batch.rs`: statements on their way from the thread that reads to the thread that builds;
//! - `id.rs` and `fact.rs`: the ids of entities, relations and types, and the facts, pairs and edges made of them;
//! - `graph.rs` and `graph_builder.rs`: [`Graph`] and [`GraphBuilder`], over `names.rs` (names and ids), `hash_index.rs` (hash index),
//!   `lists.rs` (many short lists) and `array.rs` (owned or mapped arrays);
//! - `prefixes.rs`: short names of IRIs;
//! - `tasks.rs`, `split.rs` and `held_out.rs`: few-shot tasks, the splits of a benchmark, and facts kept for validation and
//!   testing;
//! - `store/`: a graph and its tasks on disk, over `file_mapping.rs` (memory maps), `atomic_file.rs` (files that
//!   are replaced as a whole) and `directory_lock.rs` (one writer at a time);
//! - `update/`: added and removed facts as layers over a graph that was written once;
//! - `statistics.rs` and `few_shot_rule.rs`: counts, and which relations count as few-shot;
//! - `without_relations.rs`, `format/export.rs`: a graph without some of its relations, facts as files;
//! - `synth/`: generated graphs with planted structure.
//!
//! # Cargo features
//! The cargo features `rdf`, `parquet` and `compression` (gzip and zstd), all on by default, bring the
//! readers and writers that need other crates. Without one of them, the formats it brings are refused by
//! [`FormatError::MissingFeature`](format::FormatError::MissingFeature) and
//! [`ExportError::MissingFeature`](format::ExportError::MissingFeature).

mod array;
mod atomic_file;
mod directory_lock;
mod fact;
mod few_shot_rule;
mod file_mapping;
pub mod format;
mod graph;
mod graph_builder;
mod hash_index;
mod held_out;
pub mod hex;
mod id;
mod import;
mod keyed_rng;
mod lists;
mod malformed_input;
mod named_enum;
mod names;
mod observer;
mod prefixes;
mod split;
mod statement_batch;
mod statistics;
mod store;
pub mod synth;
mod tasks;
mod unfinished;
mod update;
mod without_relations;

pub use array::Array;
pub use atomic_file::{unfinished, write_file_atomically};
pub use directory_lock::DirectoryLock;
pub use fact::{Edge, Fact, Pair};
pub use few_shot_rule::FewShotRule;
pub use file_mapping::changed_file;
pub use graph::Graph;
pub use graph_builder::{Duplicates, GraphBuilder, LabelRank};
pub use held_out::{HeldOut, HeldOutReport};
pub use id::{EntityId, RelationId, TypeId};
pub use import::{
    ImportOptions, ImportReport, Imported, LABEL_RELATIONS, Literals, RDF_TYPE, Rows, SourceReport,
    TypeTriples, import, import_rows,
};
pub use keyed_rng::keyed_rng;
pub use lists::Lists;
pub use names::{Names, NamesBuilder, Texts};
pub use observer::{Observer, Turn, Unit};
pub use prefixes::{Prefixes, last_part};
pub use split::Split;
pub use statistics::{
    Cardinality, DegreeBucket, Degrees, MinMedianMax, RelationStatistics, Statistics, TaskStatistics,
};
pub use store::{Counts, FileRecord, Input, Manifest, STORE_VERSION, Store, StoreError, TaskCounts};
pub use tasks::{HeadRelation, Task, TaskSet, TaskSetBuilder};
pub use unfinished::remove_unfinished;
pub use update::{GraphUpdate, NamedFact, UpdateError, UpdateLayers};
