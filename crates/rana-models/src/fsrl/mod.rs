//! FSRL: few-shot relation learning (Zhang, Yao, Huang, Jiang, Li and Chawla, AAAI 2020).
//!
//! | file | concept |
//! | --- | --- |
//! | `config.rs` | every choice, those of the paper and those of its public code |
//! | `neighbour_encoder.rs` | an entity by attention over its neighbours |
//! | `support_aggregator.rs` | a support by a recurrent autoencoder and attention over its pairs |
//! | `network.rs` | both together |
//! | `stepped_model.rs` | FSRL as the trainer sees it |
//!
//! The rest is in `matching/`, which other models share.

mod config;
mod neighbour_encoder;
mod network;
mod stepped_model;
mod support_aggregator;
#[cfg(test)]
mod tests;

pub use config::{FsrlConfig, Padding};
pub use network::Fsrl;

pub use crate::matching::Similarity;
use crate::registry::Preset;

/// A short description of the model.
pub const ABOUT: &str = "a support read as a sequence, queries matched with it";

/// Settings that suit a benchmark.
pub const PRESETS: &[Preset] = &[
    Preset { name: "paper", toml: include_str!("../../presets/fsrl/paper.toml") },
    Preset { name: "recommended", toml: include_str!("../../presets/fsrl/recommended.toml") },
    Preset { name: "nell-one", toml: include_str!("../../presets/fsrl/nell-one.toml") },
    Preset { name: "nell-one-in-train", toml: include_str!("../../presets/fsrl/nell-one-in-train.toml") },
    Preset { name: "umls", toml: include_str!("../../presets/fsrl/umls.toml") },
];
