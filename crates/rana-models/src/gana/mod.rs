//! GANA: relational learning with a gated and attentive neighbour aggregator (Niu, Li, Tang, Geng, Dai, Liu, Wang, Sun,
//! Huang and Si, SIGIR 2021).
//!
//! | file | concept |
//! | --- | --- |
//! | `config.rs` | every choice, those of the paper and those of its public code |
//! | `neighbour_aggregator.rs` | the gated and attentive neighbour aggregator |
//! | `attentive_bi_lstm.rs` | from the encoded pairs of a support to its relation |
//! | `network.rs` | both, and the normals of hyperplanes, forward and backward |
//! | `hyperplane.rs` | the distance of MTransH, with gradients |
//! | `step.rs` | one step over a batch of tasks; its losses are in `relation_meta/objective.rs` |
//! | `stepped_model.rs` | GANA as the trainer sees it |
//! | `model.rs` | the trained model |

mod attentive_bi_lstm;
mod config;
mod hyperplane;
mod model;
mod neighbour_aggregator;
mod network;
mod step;
mod stepped_model;
#[cfg(test)]
mod tests;

pub use config::{FinalState, FreePlaces, GanaConfig, NormalLength, NormalStep, Normals, StateReading};
pub use model::GanaModel;
pub use stepped_model::Gana;

use crate::registry::Preset;

/// A short description of the model.
pub const ABOUT: &str = "a relation learned from its pairs and their neighbours, scored on a hyperplane";

/// Settings that suit a benchmark.
pub const PRESETS: &[Preset] = &[
    Preset { name: "paper", toml: include_str!("../../presets/gana/paper.toml") },
    Preset { name: "recommended", toml: include_str!("../../presets/gana/recommended.toml") },
    Preset { name: "nell-one", toml: include_str!("../../presets/gana/nell-one.toml") },
    Preset { name: "nell-one-in-train", toml: include_str!("../../presets/gana/nell-one-in-train.toml") },
    Preset { name: "nell-one-tuned", toml: include_str!("../../presets/gana/nell-one-tuned.toml") },
    Preset {
        name: "nell-one-tuned-in-train",
        toml: include_str!("../../presets/gana/nell-one-tuned-in-train.toml"),
    },
    Preset { name: "umls", toml: include_str!("../../presets/gana/umls.toml") },
];
