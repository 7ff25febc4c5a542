//! RANA: the relation-aware network with attention-based loss (section 4 of the paper).
//!
//! | file | concept |
//! | --- | --- |
//! | `config.rs` | every choice, those the paper makes and those it leaves open |
//! | `stepped_model.rs` | RANA as the trainer sees it |
//! | `negatives.rs`, `cutoffs.rs` | candidate pruning and negatives (eq. 8), and how similar to the true tail they must be |
//! | `step.rs` | one step: three parallel passes over pairs, tasks and pairs again |
//! | `encoded_pairs.rs` | the pairs of a batch, each encoded once |
//! | `encoder.rs`, `encoder_gradients.rs`, `neighbour_attention.rs`, `activation.rs` | eqs. 1 to 6, forward and backward |
//! | `chosen_neighbours.rs`, `neighbour_rows.rs`, `relation_groups.rs` | which neighbours are seen, their rows, and those by one relation together |
//! | `objective.rs` | eqs. 7 and 9 to 14, forward and backward |
//! | `layout.rs`, `inputs.rs` | where each weight stands, and all that a step reads |
//! | `model.rs`, `adapted_relation.rs`, `inspection.rs` | the trained model, a relation after its support, what it looked at |
//! | `encoded_translation.rs` | scores between encoded ends |
//! | `diagnostics.rs` | numbers that describe a step |
//! | `reference.rs`, `reference_fixture.rs`, `dual_number.rs`, `gradient_tests.rs` | a plain implementation of the equations, and the test that both agree |

mod activation;
mod adapted_relation;
mod chosen_neighbours;
mod config;
mod cutoffs;
mod diagnostics;
#[cfg(test)]
mod dual_number;
mod encoded_pairs;
mod encoded_translation;
mod encoder;
mod encoder_gradients;
#[cfg(test)]
mod gradient_tests;
mod inputs;
mod inspection;
mod layout;
mod model;
#[cfg(test)]
mod model_tests;
mod negatives;
mod neighbour_attention;
mod neighbour_rows;
mod objective;
#[cfg(test)]
mod reference;
#[cfg(test)]
mod reference_fixture;
mod relation_groups;
mod step;
mod stepped_model;

pub use config::{
    Activation, AggInput, Attn, AttnInput, BetaScale, BetaSpace, EncoderInit, Ends, FewSurvivors,
    InnerReduction, MetaOrder, NegWeight, NeighbourChoice, OuterReduction, Padding, Prune, PruneSpace,
    RScope, RanaConfig, RelInit, Residual, ScoreSpace, TestNegatives, TrainEntities,
};
pub use inspection::{Attention, InspectedNegative, InspectedPair, Inspection, ScoreParts};
pub use layout::Layout;
pub use model::RanaModel;
pub use stepped_model::Rana;

use crate::registry::Preset;

/// A short description of the model.
pub const ABOUT: &str = "relation-aware attention over neighbours and negatives";

/// Settings that suit a benchmark.
pub const PRESETS: &[Preset] = &[
    Preset { name: "paper", toml: include_str!("../../presets/rana/paper.toml") },
    Preset { name: "recommended", toml: include_str!("../../presets/rana/recommended.toml") },
    Preset { name: "nell-one", toml: include_str!("../../presets/rana/nell-one.toml") },
    Preset { name: "nell-one-tuned", toml: include_str!("../../presets/rana/nell-one-tuned.toml") },
    Preset { name: "umls", toml: include_str!("../../presets/rana/umls.toml") },
];
