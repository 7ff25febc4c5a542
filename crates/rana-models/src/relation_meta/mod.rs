//! What MetaR, GANA and HiRe share: a relation made from its support, scored by a distance, and adapted by one gradient
//! step on the margin loss of the support.
//!
//! | file | concept |
//! | --- | --- |
//! | `support_choices.rs` | choices of the inner step that the configurations of all three have |
//! | `support_contrasts.rs` | the support with its negatives in evaluation |
//! | `pair_distance.rs` | how far a tail is from where a relation leads; that of a translation |
//! | `objective.rs` | margin loss and inner step, with gradients, for any distance |
//! | `background_neighbours.rs`, `surroundings.rs` | the neighbours that support entities are seen with, and their vectors |

mod background_neighbours;
mod objective;
mod pair_distance;
mod support_choices;
mod support_contrasts;
mod surroundings;

pub(crate) use background_neighbours::BackgroundNeighbours;
pub(crate) use objective::{LossSettings, Objective};
pub(crate) use pair_distance::{PairDistance, PairGradients, Translated};
pub use support_choices::{SupportNegatives, SupportReduction};
pub(crate) use support_contrasts::support_contrasts;
pub(crate) use surroundings::Surroundings;
