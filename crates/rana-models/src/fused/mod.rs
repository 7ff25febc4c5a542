//! `rana-fused`: RANA and the evidence in the graph.
//!
//! One idea: everything that can speak for a tail is a *source of evidence*, which looks at a support and then
//! gives each pair one number and a reason. RANA's score is one of them; edges and paths that the support has
//! too, likeness to its tails, copies of them and distances are others. The score of a pair is the weighed sum. A
//! weight says how far a source is trusted, which is learned across the train tasks: in general, by
//! the size of the support, and by the source's *leave-one-out score*, that is how well it finds each pair of the support by the
//! others. Learning is convex, so it has one result.
//!
//! # What evidence may see
//! - The relation that is asked for is never an edge ([`VisibleEdges`](crate::paths::VisibleEdges)): no fact is evidence for itself, and in
//!   meta-training a task's relation is gone from the graph.
//! - Facts of dev and test tasks are never edges. Those of train tasks are, if
//!   [`train_task_edges`](FusedConfig::train_task_edges) says so.
//! - Training examples are gathered by vectors and a RANA that know no fact of the task ([`FusedConfig::folds`]).
//! - The filter of known tails only removes rivals of a query.

mod config;
mod evidence;
mod examples;
mod leave_one_out;
mod likelihood_fit;
mod matrix;
mod model;
mod name_evidence;
mod path_evidence;
mod rank_fit;
mod run;
mod sources;
mod tail_evidence;
#[cfg(test)]
mod tests;
mod trust;
mod vector_evidence;

pub use config::{FusedConfig, FusedConfigError};
pub use evidence::{Evidence, EvidenceKind, FewValues, Reason, Values};
pub use examples::Examples;
pub use model::{Contribution, FusedModel, FusedRelation};
pub use run::{EvidenceRun, FusedRunError, FusedScores, Places};
pub(crate) use run::{is_version_1, open, read_version_1};
pub use sources::Sources;
pub use trust::{Trust, TrustedSource};
