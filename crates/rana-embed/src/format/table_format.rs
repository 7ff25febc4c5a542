//! [`TableFormat`]: a file format for a table, and how it is read and written.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{npy, safetensors, text};
use crate::table::Table;
use crate::vector_error::VectorError;

/// A file format for a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TableFormat {
    /// Safetensors: one two-dimensional tensor.
    Safetensors,
    /// NumPy: one two-dimensional array.
    Npy,
    /// Text as in `entity2vec.TransE`: one row per line, white space between values.
    Text,
}

impl TableFormat {
    /// All formats.
    pub const ALL: [Self; 3] = [Self::Safetensors, Self::Npy, Self::Text];

    /// `safetensors`, `npy` or `text`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Safetensors => "safetensors",
            Self::Npy => "npy",
            Self::Text => "text",
        }
    }

    /// The format that the extension of a file stands for.
    ///
    /// # Errors
    /// If the extension is unknown.
    pub fn of(path: &Path) -> Result<Self, VectorError> {
        let ending = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
        match ending.as_str() {
            "safetensors" => Ok(Self::Safetensors),
            "npy" => Ok(Self::Npy),
            // Published text files are named after the model.
            "transe" | "transh" | "transr" | "transd" | "distmult" | "complex" | "rescal" | "vec" | "txt"
            | "tsv" | "bern" | "unif" => Ok(Self::Text),
            _ => Err(VectorError::UnknownFormat { file: path.to_owned() }),
        }
    }
}

impl fmt::Display for TableFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for TableFormat {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|format| format.name() == text)
            .ok_or_else(|| format!("`{text}` is not a table format; choose safetensors, npy or text"))
    }
}

/// Reads the table in a file. `name` chooses the tensor in a safetensors file with several.
///
/// # Errors
/// If the file cannot be read, is malformed or truncated, has values of another type, or a value is not finite.
pub fn read_table(path: &Path, format: TableFormat, name: &str) -> Result<Table, VectorError> {
    let bytes = std::fs::read(path).map_err(VectorError::io(path, "read the file"))?;
    let table = match format {
        TableFormat::Safetensors => safetensors::read(path, &bytes.into(), name),
        TableFormat::Npy => npy::read(path, &bytes),
        TableFormat::Text => text::read(path, &bytes),
    }?;
    table.check_finite(&path.display().to_string())?;
    Ok(table)
}

/// Writes a table to a file, completely or not at all. `name` is the name of the tensor in a safetensors file.
///
/// # Errors
/// If the disk fails.
pub fn write_table(path: &Path, format: TableFormat, name: &str, table: &Table) -> Result<(), VectorError> {
    let written = rana_graph::write_file_atomically(path, |out| match format {
        TableFormat::Safetensors => safetensors::write(out, &[(name, table)]),
        TableFormat::Npy => npy::write(out, table),
        TableFormat::Text => text::write(out, table),
    });
    written.map_err(VectorError::io(path, "write the file"))
}
