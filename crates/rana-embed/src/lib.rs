//! Embeddings of knowledge graphs: tables of vectors, their files, and how well they predict links.

mod embedding_set;
pub mod format;
pub mod link_prediction;
mod table;
mod table_error;

pub use embedding_set::{EMBEDDING_VERSION, EmbeddingMetadata, EmbeddingSet, RelationRows};
pub use table::{Norms, Table};
pub use table_error::TableError;
