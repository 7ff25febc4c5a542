//! RANA: the relation-aware network with attention-based loss (section 4 of the paper).

mod batch;
mod config;
mod inputs;
mod real;
#[cfg(test)]
mod reference;
mod weights;

pub use batch::{Contrasts, MetaTask};
pub use config::{
    Activation, AdamRows, AggInput, Attn, AttnInput, BetaScale, BetaSpace, Ends, FewSurvivors, Init,
    InnerReduction, MetaOrder, NegWeight, NeighbourChoice, OuterReduction, Padding, Prune, PruneSpace,
    RScope, RanaConfig, RanaConfigError, Residual, ScoreSpace, TestNegatives, TrainEntities,
};
pub use weights::{Block, Layout};
