//! Paths through a graph: which edges a relation may see, and which paths join a pair.
//!
//! | file | concept |
//! | --- | --- |
//! | `edge_index.rs` | all edges by entity and relation; entities of equal label count as joined by an edge |
//! | `visible_edges.rs` | the edges without those of the relation that is asked for |
//! | `path_search.rs` | paths of one and two steps through them |

mod edge_index;
mod path_search;
mod visible_edges;

pub use edge_index::{EdgeIndex, same_name};
pub use path_search::{Path, TwoHops};
pub use visible_edges::VisibleEdges;
