//! rana learns a knowledge-graph relation from a handful of facts and completes it.
//!
//! Start with [`learn`]: it goes from files to a [`Predictor`], which completes a relation from a few pairs.
//!
//! This is the library to depend on; it gathers the parts in the order in which data flows:
//! `files → graph → embeddings → tasks → episodes → evaluation / completion`.
//!
//! | file | concept |
//! | --- | --- |
//! | `learn/` | from files to a predictor |
//! | `predictor/`, `search/` | completing and explaining a relation, and finding entities by name |
//! | `relate/` | which relations may hold between two entities |
//! | `discover/` | the best new facts of any relation |
//! | `update/` | changes of the graph without another training |
//! | `answer_writer/` | answers as files |
//! | `neo4j_export.rs` | a graph and its vectors as Neo4j takes them |
//! | `evaluation.rs` | the evaluation card of a run |
//! | `vector_training.rs`, `fused_training/` | the trainings of vectors and of `rana-fused` |
//! | `trial/`, `sweep/`, `reproduction/` | one configuration measured, many of them, and the tables of the paper |
//! | `report/` | plots, pages and tables |
//! | `schedule.rs` | how long the rest of a learning or of `rana-fused` takes |
//! | `settings.rs` | settings laid over each other |
//!
//! ```
//! use rana::graph::{ImportOptions, import};
//! let umls = import(&[rana::umls()], &ImportOptions::default(), &())?;
//! assert_eq!(umls.graph.entity_count(), 135);
//! # Ok::<(), rana::graph::format::FormatError>(())
//! ```

pub mod answer_writer;
pub mod discover;
mod evaluation;
pub mod fused_training;
mod learn;
mod neo4j_export;
pub mod predictor;
mod relate;
pub mod report;
#[cfg(feature = "plots")]
pub mod reproduction;
mod schedule;
pub mod search;
mod settings;
#[cfg(feature = "plots")]
pub mod sweep;
pub mod trial;
mod update;
mod vector_training;

pub use evaluation::{CardMaker, evaluate};
pub use learn::{
    LEARNED, LearnError, Learning, Quality, QualityRow, RelationQuality, WithheldRelation, learn,
};
pub use neo4j_export::{NEO4J_FILES, Neo4jError, export_neo4j};
pub use predictor::Predictor;
pub use rana_embed as embed;
pub use rana_eval as eval;
pub use rana_fewshot as fewshot;
pub use rana_graph as graph;
pub use rana_models as models;
pub use relate::{NewRelation, RelateRequest, RelatedBy};
pub use settings::{Settings, SettingsError, assignment};
pub use update::{Drift, Update, UpdateReport, UpdateRunError};
pub use vector_training::{CHECKPOINT_EVERY, VectorTraining, VectorTrainingError};

/// The README's example is compiled and run with the doc tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

/// So is that of the page about completion.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/complete.md")]
struct Complete;

/// So is that of the guide.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide.md")]
struct Guide;

/// The UMLS semantic network, embedded: 135 entities, 46 relations, 6,529 facts.
///
/// Its source and terms are in `data/README.md` of this crate.
#[must_use]
pub fn umls() -> graph::format::Source {
    graph::format::Source::Memory {
        name: "umls.tsv.zst".to_owned(),
        bytes: include_bytes!("../data/umls.tsv.zst")[..].into(),
    }
}
