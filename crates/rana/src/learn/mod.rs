//! [`learn`]: from files to a [`Predictor`] in one call.
//!
//! ```text
//! OUT/
//!   learning.json     the files and the choices; written first
//!   graph/            the graph
//!   vectors/          vectors that know every fact
//!   quality.json      what was measured on relations that were left out in turn
//!   evidence.json     how far each kind of evidence is trusted
//!   run.json          the manifest; written last
//! ```
//!
//! Measuring and answering are two things. What is measured on relations that are left out (quality, confidence, which
//! model to take) is carried over to a model that uses every fact.
//!
//! | file | concept |
//! | --- | --- |
//! | `learning.rs` | all of it, step by step |
//! | `known_facts.rs` | every fact that may be learned from |
//! | `withheld_relations.rs` | the relations that are left out to measure |
//! | `vector_training_plan.rs` | settings by the graph, the time and the memory |
//! | `vector_files.rs` | the training of vectors, kept and resumed |
//! | `evidence_learning.rs` | trust in evidence and confidence, each part of the relations by the others |
//! | `relation_learning.rs` | which relation holds between two entities |
//! | `measuring.rs` | how good models are on one relation |
//! | `quality.rs` | the results, and which model answers |
//! | `learning_identity.rs` | what a directory was learned from |

mod error;
mod evidence_learning;
mod known_facts;
mod learning;
mod learning_identity;
mod measuring;
mod quality;
mod relation_learning;
mod vector_files;
mod vector_training_plan;
mod withheld_relations;
mod write_json;

pub use error::LearnError;
pub use learning::{Learning, learn};
pub use quality::{LEARNED, Quality, QualityRow, RelationQuality, WithheldRelation};
