//! FAAN: an adaptive attentional network (Sheng, Guo, Chen, Yue, Wang, Liu and Xu, EMNLP 2020).
//!
//! | file | concept |
//! | --- | --- |
//! | `config.rs` | every choice, those of the paper and those of its public code |
//! | `neighbourhood.rs` | which neighbours an entity is seen with |
//! | `neighbour_encoder.rs` | entities by those neighbours that fit their pair (eqs. 1 to 5) |
//! | `pair_transformer.rs` | from two encoded ends to a pair (eqs. 6 and 7) |
//! | `matching.rs` | queries matched with the references that fit them (eqs. 8 to 11) |
//! | `network.rs` | the three together, with their weights |
//! | `pair_batch.rs` | the pairs of a step, each once |
//! | `step.rs` | one step over a batch of tasks |
//! | `prepared_entities.rs` | what evaluations compute once per entity |
//! | `adapted_relation.rs` | a relation after its support |
//! | `stepped_model.rs` | FAAN as the trainer sees it |
//! | `model.rs` | the trained model |

mod adapted_relation;
mod config;
mod matching;
mod model;
mod neighbour_encoder;
mod neighbourhood;
mod network;
mod pair_batch;
mod pair_transformer;
mod prepared_entities;
mod step;
mod stepped_model;
#[cfg(test)]
mod tests;

pub use config::{AttentionScale, EntityOutput, FaanConfig, HeadLayout, Positions, ReferenceScale, Width};
pub use stepped_model::Faan;

use crate::registry::Preset;

/// A short description of the model.
pub const ABOUT: &str = "pairs by the neighbours that fit them, matched by attention";

/// Settings that suit a benchmark.
pub const PRESETS: &[Preset] = &[
    Preset { name: "paper", toml: include_str!("../../presets/faan/paper.toml") },
    Preset { name: "recommended", toml: include_str!("../../presets/faan/recommended.toml") },
    Preset { name: "nell-one", toml: include_str!("../../presets/faan/nell-one.toml") },
    Preset { name: "nell-one-in-train", toml: include_str!("../../presets/faan/nell-one-in-train.toml") },
    Preset { name: "umls", toml: include_str!("../../presets/faan/umls.toml") },
];
