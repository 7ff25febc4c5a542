//! Random streams of this crate, each keyed by its purpose.
//!
//! Crates share the seed of a run, so their purposes must differ: `rana-fewshot` has 1 to 5, this crate those from 6,
//! `rana-embed` those from 100.

use rana_graph::keyed_rng;
use rand_chacha::ChaCha8Rng;

/// The purpose of a random stream; part of its key.
#[derive(Clone, Copy)]
pub(crate) enum Purpose {
    /// The weights that training starts from, by block.
    Weights = 6,
    /// The negatives of an episode in training, by episode.
    Negatives = 7,
    /// The negatives of a support in evaluation, by relation and draw.
    TestNegatives = 8,
    /// Which neighbours an entity is seen with, by entity and step.
    Neighbours = 9,
    /// Which components are dropped, by step and pair.
    Dropout = 10,
    /// Table rows that do not start from pre-training.
    Rows = 11,
    /// The candidates that evidence is weighed with, by relation and query.
    TrainingQueries = 12,
}

/// The generator for one purpose at one place.
pub(crate) fn rng(seed: u64, purpose: Purpose, place: [u64; 2]) -> ChaCha8Rng {
    keyed_rng([seed, purpose as u64, place[0], place[1]])
}
