//! GMatching: one-shot relational learning (Xiong, Yu, Chang, Guo and Wang, EMNLP 2018).
//!
//! | file | concept |
//! | --- | --- |
//! | `config.rs` | every choice, those of the paper and those of its public code |
//! | `network.rs` | the neighbour encoder, and supports of several pairs |
//! | `stepped_model.rs` | GMatching as the trainer sees it |
//!
//! The rest is in `matching/`, which other models share.

mod config;
mod network;
mod stepped_model;
#[cfg(test)]
mod tests;

pub use config::{FewShots, GmatchingConfig, Padding};
pub use network::Gmatching;

pub use crate::matching::Similarity;
use crate::registry::Preset;

/// A short description of the model.
pub const ABOUT: &str = "pairs matched by their neighbours, step by step";

/// Settings that suit a benchmark.
pub const PRESETS: &[Preset] = &[
    Preset { name: "paper", toml: include_str!("../../presets/gmatching/paper.toml") },
    Preset { name: "recommended", toml: include_str!("../../presets/gmatching/recommended.toml") },
    Preset { name: "nell-one", toml: include_str!("../../presets/gmatching/nell-one.toml") },
    Preset {
        name: "nell-one-in-train",
        toml: include_str!("../../presets/gmatching/nell-one-in-train.toml"),
    },
    Preset { name: "umls", toml: include_str!("../../presets/gmatching/umls.toml") },
];
