//! [`NameIndex`]: entities by what people call them.
//!
//! | file | concept |
//! | --- | --- |
//! | `name_index.rs` | the index and the search |
//! | `found.rs`, `unresolved.rs` | what a search gives, and why a text names no entity |
//! | `prefix_index.rs` | names in order, searched by their beginnings |
//! | `spelling.rs`, `misspelled_query.rs` | words within a few edits, and queries made of them |
//! | `text_folding.rs` | text without case, accents and punctuation |

mod found;
mod misspelled_query;
mod name_index;
mod prefix_index;
mod spelling;
#[cfg(test)]
mod tests;
mod text_folding;
mod unresolved;

pub use found::{Found, Match};
pub use name_index::NameIndex;
pub use unresolved::Unresolved;
