//! Models that match pairs: an entity is encoded by its neighbours, a pair by its two ends, and a query pair scores by
//! how well it matches the support pairs of the relation. GMatching and FSRL are of this kind.
//!
//! | file | concept |
//! | --- | --- |
//! | `network.rs` | what each model brings: its encoder of neighbours, and how supports become references |
//! | `neighbourhoods.rs` | which neighbours an entity is seen with, and their rows on a tape |
//! | `pair_encoder.rs` | from two encoded ends to a pair |
//! | `matching_processor.rs` | the LSTM that matches a query pair with a reference |
//! | `step.rs` | one step over a batch of tasks |
//! | `stepped_model.rs` | a network as the trainer sees it |
//! | `model.rs` | the trained model |
//! | `encoded_entities.rs` | entities encoded once |
//! | `matched_relation.rs` | a relation after its support |

mod encoded_entities;
mod matched_relation;
mod matching_processor;
mod model;
mod neighbourhoods;
mod network;
mod pair_encoder;
mod step;
mod stepped_model;
#[cfg(test)]
pub(crate) mod test_kit;

pub(crate) use matching_processor::MatchingProcessor;
pub use matching_processor::Similarity;
pub(crate) use neighbourhoods::Slots;
pub(crate) use network::{MatchingSettings, Network, References};
pub(crate) use pair_encoder::PairEncoder;
pub(crate) use stepped_model::{Matching, matching_model};
