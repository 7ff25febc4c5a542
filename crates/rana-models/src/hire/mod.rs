//! HiRe: hierarchical relational learning (Wu, Yin, Rajaratnam and Guo, "Hierarchical Relational Learning for Few-Shot
//! Knowledge Graph Completion", ICLR 2023).
//!
//! | file | concept |
//! | --- | --- |
//! | `config.rs` | every choice, those of the paper and those of its public code |
//! | `transformer.rs` | layer norm and self-attention |
//! | `meta_relation_learner.rs` | the transformer over the pairs of a support |
//! | `context_learner.rs` | the contrastive loss of contexts |
//! | `network.rs` | both, and the transfer vectors of relations, forward and backward |
//! | `transfer_distance.rs` | the distance of MTransD, with gradients |
//! | `step.rs` | one step over a batch of tasks; its losses are in `relation_meta/objective.rs` |
//! | `stepped_model.rs` | HiRe as the trainer sees it |
//! | `model.rs` | the trained model |

mod config;
mod context_learner;
mod meta_relation_learner;
mod model;
mod network;
mod step;
mod stepped_model;
#[cfg(test)]
mod tests;
mod transfer_distance;
mod transformer;

pub use config::{EntityTransfers, HireConfig, RelationTransfers, Residual, TransferStep};
pub use model::HireModel;
pub use stepped_model::Hire;

use crate::registry::Preset;

/// A short description of the model.
pub const ABOUT: &str =
    "a relation learned by a transformer over its pairs, contrasted with their surroundings";

/// Settings that suit a benchmark.
pub const PRESETS: &[Preset] = &[
    Preset { name: "paper", toml: include_str!("../../presets/hire/paper.toml") },
    Preset { name: "recommended", toml: include_str!("../../presets/hire/recommended.toml") },
    Preset { name: "nell-one", toml: include_str!("../../presets/hire/nell-one.toml") },
    Preset { name: "nell-one-in-train", toml: include_str!("../../presets/hire/nell-one-in-train.toml") },
    Preset { name: "nell-one-tuned", toml: include_str!("../../presets/hire/nell-one-tuned.toml") },
    Preset { name: "umls", toml: include_str!("../../presets/hire/umls.toml") },
];
