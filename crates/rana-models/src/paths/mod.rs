//! Paths through a graph: which edges a relation may see, and which paths join a pair. Entities of equal label count as
//! joined by an edge.

mod edge_index;
mod visible_edges;

pub use edge_index::{EdgeIndex, same_name};
pub(crate) use visible_edges::TwoHops;
pub use visible_edges::{Path, VisibleEdges};
