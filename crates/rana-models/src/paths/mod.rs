//! Paths through a graph: which edges a relation may see, and which paths join a pair.

mod edge_index;
mod name_index;
mod visible_edges;

pub use edge_index::{EdgeIndex, same_name};
pub(crate) use visible_edges::TwoHops;
pub use visible_edges::{Path, VisibleEdges};

use rana_graph::EntityId;

/// Hands on each tail once, its values combined in the order they were found.
pub(crate) fn each_once(
    mut found: Vec<(EntityId, f32)>,
    combine: impl Fn(f32, f32) -> f32,
    hand: &mut dyn FnMut(EntityId, f32),
) {
    // Stable, so that values are always combined in the same order.
    found.sort_by_key(|&(tail, _)| tail);
    for same in found.chunk_by(|one, other| one.0 == other.0) {
        let value = same.iter().map(|&(_, value)| value).reduce(&combine).unwrap_or(0.0);
        hand(same[0].0, value);
    }
}
