//! Random numbers keyed by what they are for.

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
    /// The weights that training starts from, by block.
    Weights = 6,
    /// Which negatives pairs are contrasted with, by episode; in evaluation by relation and draw.
    Negatives = 7,
    TestNegatives = 8,
    /// Which neighbours an entity is seen with, by entity and step.
    Neighbours = 9,
    /// Which components are dropped, by step and pair.
    Dropout = 10,
    /// Table rows that do not start from pre-training.
    Rows = 11,
    /// Which candidates evidence is weighed with, by relation and query.
    Lessons = 12,
}

/// The generator for one purpose at one place.
pub(crate) fn rng(seed: u64, purpose: Purpose, place: [u64; 2]) -> ChaCha8Rng {
    keyed_rng([seed, purpose as u64, place[0], place[1]])
}
