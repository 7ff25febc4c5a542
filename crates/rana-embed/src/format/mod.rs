//! Files of vectors: detecting their format, reading and writing them, and matching their rows to a graph.
//!
//! | file | concept |
//! | --- | --- |
//! | `table_format.rs` | the formats of a table |
//! | `safetensors.rs`, `npy.rs`, `text.rs` | the reader and writer of each |
//! | `named_rows.rs` | rows of a text file that begin with a name |
//! | `tensor_file.rs` | files of several tensors |
//! | `floats.rs` | numbers from bytes |
//! | `graph_vectors.rs` | rows matched to the entities and relations of a graph |

mod floats;
mod graph_vectors;
mod named_rows;
mod npy;
pub(crate) mod safetensors;
mod table_format;
mod tensor_file;
mod text;

pub(crate) use graph_vectors::relations_in_order_of_ids;
pub use graph_vectors::{ImportedVectors, VectorFiles, export_vectors, import_vectors};
pub(crate) use named_rows::{NamedRows, read_named_rows, shortened};
pub use table_format::{TableFormat, read_table, write_table};
pub use tensor_file::{Tensor, TensorFile, Values, write_tensors};
