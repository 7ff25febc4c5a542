//! [`Surroundings`]: the neighbours of entities and the vectors that training started from.

use super::background_neighbours::BackgroundNeighbours;
use crate::training::Rows;

/// The neighbours of entities and the vectors that training started from, which do not learn.
#[derive(Clone, Copy)]
pub(crate) struct Surroundings<'a, T> {
    pub(crate) neighbours: &'a BackgroundNeighbours,
    pub(crate) rows: &'a dyn Rows<T>,
    /// One row per relation and inverse, in the order of directed ids.
    pub(crate) relations: &'a [T],
}
