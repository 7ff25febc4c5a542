//! MetaR: meta relational learning (Chen, Zhang, Zhang, Chen and Chen, EMNLP 2019).
//!
//! | file | concept |
//! | --- | --- |
//! | `config.rs` | every choice, those of the paper and those of its public code |
//! | `learner.rs` | the relation-meta learner (eqs. 1 and 2), forward and backward |
//! | `step.rs` | one step over a batch of tasks; its losses (eqs. 3 to 8) are in `relation_meta/objective.rs` |
//! | `stepped_model.rs` | MetaR as the trainer sees it |
//! | `model.rs` | the trained model |

mod config;
mod learner;
mod model;
mod step;
mod stepped_model;
#[cfg(test)]
mod tests;

pub use config::{MetarConfig, Normalisation};
pub use model::MetarModel;
pub use stepped_model::Metar;

use crate::registry::Preset;

/// A short description of the model.
pub const ABOUT: &str = "a relation learned from its pairs by a small network";

/// Settings that suit a benchmark.
pub const PRESETS: &[Preset] = &[
    Preset { name: "paper", toml: include_str!("../../presets/metar/paper.toml") },
    Preset { name: "recommended", toml: include_str!("../../presets/metar/recommended.toml") },
    Preset { name: "nell-one-pretrain", toml: include_str!("../../presets/metar/nell-one-pretrain.toml") },
    Preset { name: "nell-one-in-train", toml: include_str!("../../presets/metar/nell-one-in-train.toml") },
    Preset {
        name: "nell-one-in-train-pretrained",
        toml: include_str!("../../presets/metar/nell-one-in-train-pretrained.toml"),
    },
    Preset {
        name: "nell-one-tuned-in-train",
        toml: include_str!("../../presets/metar/nell-one-tuned-in-train.toml"),
    },
    Preset { name: "umls", toml: include_str!("../../presets/metar/umls.toml") },
];
