//! `rana-fused`: RANA and the evidence in the graph.
//!
//! One idea: everything that can speak for a tail is a *source of evidence*, which looks at a support and then gives
//! each pair one number and a reason. The score of a trained model is one of them; edges and paths that the support
//! has too, likeness to its tails and copies of them are others. The score of a pair is the weighted sum. The weight of
//! a source says how far it is trusted, which is learned across the train tasks: in general, by the size of the
//! support, and by the source's *leave-one-out score*, that is how well it finds each pair of the support by the others.
//! Learning starts with a convex fit, which has one result, and improves the ranks from there.
//!
//! | file | concept |
//! | --- | --- |
//! | `config.rs` | the settings |
//! | `evidence.rs`, `evidence_kind.rs`, `reason.rs` | what a source says, the kinds of sources, and why they say it |
//! | `sources.rs` | all sources, and how each is adapted to a support |
//! | `vector_evidence.rs`, `path_evidence.rs`, `tail_evidence.rs`, `analogy_evidence.rs`, `name_evidence.rs` | the sources themselves |
//! | `support_record.rs` | how well a source finds each pair of a support by the others |
//! | `evidence_matrix.rs` | the values of all sources for some heads and candidates |
//! | `example.rs`, `examples.rs` | supports and queries of train tasks, from which trust is learned |
//! | `likelihood_fit.rs`, `rank_fit.rs` | how it is learned: first by likelihood, then by ranks |
//! | `prior.rs` | how far a source is trusted before any example is seen |
//! | `trust.rs` | how far a source is trusted |
//! | `model.rs`, `adapted_relation.rs` | the model of the sources and the trust in them, and a relation after its support |
//! | `evidence_run.rs`, `evidence_run_error.rs` | the run directory, and why it cannot be read or written |
//! | `run_version_1.rs` | the reader of run directories that version 1 wrote |
//! | `placed_rows.rs` | vectors of entities that came after the training |
//! | `open_run.rs` | from a run directory to the model |
//!
//! # What evidence may see
//! - The relation that is asked for is never an edge ([`VisibleEdges`](crate::paths::VisibleEdges)): no fact is
//!   evidence for itself, and where trust is learned, the relation of a task is not in the graph.
//! - Facts of dev and test tasks are never edges. Those of train tasks are, if
//!   [`train_task_edges`](FusedConfig::train_task_edges) says so.
//! - The examples of a task are gathered with vectors and a model that were trained without its facts
//!   ([`FusedConfig::folds`]).
//! - The filter of known tails only removes rivals of a query.

mod adapted_relation;
mod analogy_evidence;
mod config;
mod evidence;
mod evidence_kind;
mod evidence_matrix;
mod evidence_run;
mod evidence_run_error;
mod example;
mod examples;
mod likelihood_fit;
mod model;
mod name_evidence;
mod open_run;
mod path_evidence;
mod placed_rows;
mod prior;
mod rank_fit;
mod reason;
mod run_version_1;
mod sources;
mod support_record;
mod tail_evidence;
#[cfg(test)]
mod tests;
mod trust;
mod vector_evidence;

pub use adapted_relation::{Contribution, FusedRelation};
pub use config::{FusedConfig, FusedConfigError};
pub use evidence::{Evidence, FewValues, Values};
pub use evidence_kind::EvidenceKind;
pub use evidence_run::{EvidenceRun, FusedScores, HeadsEvidence, PartPaths};
pub use evidence_run_error::EvidenceRunError;
pub use examples::{Examples, prior_trust};
pub use model::FusedModel;
pub(crate) use open_run::open;
pub use reason::Reason;
pub(crate) use run_version_1::{is_version_1, read_version_1};
pub use sources::Sources;
pub use trust::{Trust, TrustedSource};

/// What it is, in a few words.
pub const ABOUT: &str = "a trained model and the evidence in the graph, weighed";
