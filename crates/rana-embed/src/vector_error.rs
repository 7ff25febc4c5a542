//! [`VectorError`]: why vectors cannot be used, read or written.

use std::io;
use std::path::{Path, PathBuf};

use crate::model::ModelKind;

/// Why vectors cannot be used, read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VectorError {
    /// The operating system reported an error.
    #[error("{}: could not {action}: {source}", path.display())]
    Io {
        /// The file or directory concerned.
        path: PathBuf,
        /// What was attempted.
        action: &'static str,
        /// Why it failed.
        source: io::Error,
    },
    /// The number of values is not rows times dimension.
    #[error("{values} values do not make {rows} rows of dimension {dim}; rows need at least one value")]
    Shape {
        /// Rows wanted.
        rows: usize,
        /// Values per row wanted.
        dim: usize,
        /// Values given.
        values: usize,
    },
    /// A value is NaN or infinite.
    #[error(
        "{table}: row {row}, column {column} (counted from 0) is {value}. Vectors must be finite: if these were trained, \
         they have diverged, so train again with a smaller learning rate; if they were converted, check the conversion"
    )]
    NotFinite {
        /// The table or the file it was read from.
        table: String,
        /// The row, from 0.
        row: usize,
        /// The column, from 0.
        column: usize,
        /// The value.
        value: f32,
    },
    /// A metric of the vectors is NaN or infinite.
    #[error("the metric `{name}` is {value}, which a manifest cannot store. Leave it out")]
    Metric {
        /// Its name.
        name: String,
        /// Its value.
        value: f64,
    },
    /// The dimension is odd, but the rows of the model have two halves.
    #[error(
        "entity rows of dimension {dim}, but the rows of {model} have two halves. Use vectors of even dimension, or name the model these vectors were trained with"
    )]
    OddDimension {
        /// The model.
        model: ModelKind,
        /// The dimension of entity rows.
        dim: usize,
    },
    /// The dimensions of entity and relation rows do not fit each other.
    #[error(
        "relation rows of dimension {found} where {model} has {expected} beside entity rows of {dim}. Use entity and relation tables from the same training, or name the model these vectors were trained with"
    )]
    RelationDimension {
        /// The model.
        model: ModelKind,
        /// The dimension of entity rows.
        dim: usize,
        /// The dimension that relation rows should have.
        expected: usize,
        /// The dimension they have.
        found: usize,
    },
    /// A table has a wrong number of rows for the graph.
    #[error(
        "{table}: {found} rows where the graph has {expected}. These are vectors of another graph, or of another import \
         of it: give the graph store they were made with"
    )]
    Rows {
        /// The table or the file it was read from.
        table: String,
        /// Rows found.
        found: usize,
        /// What the graph has, as text.
        expected: String,
    },
    /// The vocabulary of a relation file has no row for a relation.
    #[error(
        "{table}: the graph's `relation2ids` has no row for {relation}, so its vector cannot be found. Give one row per \
         relation, or one per relation and one per inverse"
    )]
    MissingRelation {
        /// The file.
        table: String,
        /// The name of the relation.
        relation: String,
    },
    /// The vectors were trained on another graph.
    #[error(
        "{}: these vectors belong to another graph (fingerprint {found:016x}, this one has {expected:016x}). Open the graph \
         they were trained on, or train vectors for this one",
        path.display()
    )]
    OtherGraph {
        /// The embedding set.
        path: PathBuf,
        /// The fingerprint of the graph given.
        expected: u64,
        /// The fingerprint of the graph they were trained on.
        found: u64,
    },
    /// A file is shorter or longer than its header or manifest says.
    #[error("{}: {found} bytes, expected {expected}: the size does not match its header or manifest. Copy or make the file again", file.display())]
    Size {
        /// The file.
        file: PathBuf,
        /// The size according to its header or manifest.
        expected: u64,
        /// The bytes it has.
        found: u64,
    },
    /// The values have a type that cannot be read.
    #[error("{}: values of type {found}; only 32-bit and 64-bit little-endian floats can be read. Convert them first, in NumPy with `.astype('<f4')`", file.display())]
    Dtype {
        /// The file.
        file: PathBuf,
        /// The type, as named by the format.
        found: String,
    },
    /// A text file is malformed at some position.
    #[error("{}:{line}:{column}: {problem}", file.display())]
    Text {
        /// The file.
        file: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The column in bytes, from 1.
        column: usize,
        /// What is wrong and what was expected.
        problem: String,
    },
    /// A binary file is malformed.
    #[error("{}: {problem}", file.display())]
    Malformed {
        /// The file.
        file: PathBuf,
        /// What is wrong and what to do.
        problem: String,
    },
    /// The format of a file cannot be detected from its name.
    #[error("{}: the extension does not show the format. Name it `.safetensors`, `.npy` or `.TransE` (text: also `.vec`, `.txt`, `.tsv`), or give the format", file.display())]
    UnknownFormat {
        /// The file.
        file: PathBuf,
    },
    /// There is no embedding set at this path.
    #[error("{}: not an embedding set (no readable `manifest.json` of one). Train vectors first, or give their directory", path.display())]
    Missing {
        /// The path.
        path: PathBuf,
    },
    /// The directory contains other files, which must not be overwritten.
    #[error("{}: exists and is not an embedding set, so it is left alone. Choose another directory, or empty it first", path.display())]
    Occupied {
        /// The directory.
        path: PathBuf,
    },
    /// Another process is writing the same embedding set.
    #[error("{}: another process is writing these vectors. Wait for it to end, or choose another directory", path.display())]
    Locked {
        /// The directory.
        path: PathBuf,
    },
    /// The embedding set was written by a version of rana with another format.
    #[error("{}: embedding format version {found}, this program reads version {supported}. Train the vectors again, or use the version that wrote them", file.display())]
    Version {
        /// The manifest.
        file: PathBuf,
        /// The version it states.
        found: u64,
        /// The version this program reads and writes.
        supported: u32,
    },
    /// The content was altered after writing.
    #[error("{}: {what}: the file was altered after writing. Restore the file, or train the vectors again", file.display())]
    Altered {
        /// The file.
        file: PathBuf,
        /// The part that does not match.
        what: String,
    },
}

impl VectorError {
    pub(crate) fn io(path: &Path, action: &'static str) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { path, action, source }
    }

    pub(crate) fn malformed(file: &Path, problem: impl Into<String>) -> Self {
        Self::Malformed { file: file.to_owned(), problem: problem.into() }
    }
}
