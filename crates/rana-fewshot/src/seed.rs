//! Random streams of this crate, each keyed by its purpose.
//!
//! Crates share the seed of a run, so their purposes must differ: this crate has 1 to 5 and 50, `rana-models` those from 6,
//! `rana-embed` those from 100.

use rana_graph::keyed_rng;
use rand_chacha::ChaCha8Rng;

/// What a stream of random numbers is for; part of its key.
#[derive(Clone, Copy)]
pub(crate) enum Purpose {
    /// Which candidates a cap keeps, by relation.
    Candidates = 1,
    /// Which split a relation falls into.
    Assignment = 2,
    /// In which order episodes walk the tasks, by round.
    Walk = 3,
    /// Which facts an episode holds, by episode.
    Episode = 4,
    /// Which facts support an evaluation, by relation and draw.
    Support = 5,
    /// Which task an episode is drawn from, by episode, where large tasks come up more often.
    TaskDraw = 50,
}

/// The generator for one purpose at one place.
pub(crate) fn rng(seed: u64, purpose: Purpose, place: [u64; 2]) -> ChaCha8Rng {
    keyed_rng([seed, purpose as u64, place[0], place[1]])
}
