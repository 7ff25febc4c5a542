//! [`write_json`]: writes a file of a learned directory.

use std::io::{self, Write};
use std::path::Path;

use rana_graph::write_file_atomically;
use serde::Serialize;

use super::error::LearnError;

/// Writes something as JSON.
pub(super) fn write_json(file: &Path, what: &impl Serialize) -> Result<(), LearnError> {
    let written = serde_json::to_vec_pretty(what)
        .map_err(io::Error::from)
        .and_then(|text| write_file_atomically(file, |out| out.write_all(&text)));
    written.map_err(|source| LearnError::Io { path: file.to_owned(), action: "write the file", source })
}
