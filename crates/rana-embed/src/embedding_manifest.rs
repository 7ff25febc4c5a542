//! [`Manifest`]: what an embedding set consists of, as its `manifest.json` states it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use super::embedding_set::EmbeddingMetadata;
use crate::table::Table;
use crate::vector_error::VectorError;

/// The version of the layout that this program reads and writes.
pub const EMBEDDING_VERSION: u32 = 1;

pub(crate) const FORMAT: &str = "rana-embedding";

pub(crate) const MANIFEST: &str = "manifest.json";

pub(crate) const DATA_PREFIX: &str = "vectors-";

pub(crate) const DATA_ENDING: &str = ".safetensors";

/// The manifest of an embedding set: `manifest.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Manifest {
    pub(super) format: String,
    pub(super) version: u32,
    pub(super) written_by: String,
    pub(super) metadata: EmbeddingMetadata,
    /// The name of the file of the tables.
    pub(super) file: String,
    /// Its size.
    pub(super) bytes: u64,
    pub(super) tables: BTreeMap<String, TableRecord>,
    /// The xxh3 checksum of this manifest with an empty string in this field.
    pub(super) checksum: String,
}

impl Manifest {
    pub(super) fn expected_checksum(&self) -> String {
        let blank = Self { checksum: String::new(), ..self.clone() };
        // A struct of strings and numbers can always be serialised.
        let text = serde_json::to_vec(&blank).unwrap_or_default();
        format!("{:016x}", xxh3_64(&text))
    }
}

/// The entry of a table in the manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TableRecord {
    rows: usize,
    dim: usize,
    /// The xxh3 checksum of its values.
    #[serde(with = "rana_graph::hex")]
    xxh3: u64,
}

impl TableRecord {
    pub(super) fn of(table: &Table) -> Self {
        let xxh3 = xxh3_64(bytemuck::cast_slice(table.values()));
        Self { rows: table.rows(), dim: table.dim(), xxh3 }
    }
}

pub(crate) fn data_name(tables: &BTreeMap<String, TableRecord>) -> String {
    let mut hasher = Xxh3::new();
    for record in tables.values() {
        for number in [record.rows as u64, record.dim as u64, record.xxh3] {
            hasher.update(&number.to_le_bytes());
        }
    }
    format!("{DATA_PREFIX}{:016x}{DATA_ENDING}", hasher.digest())
}

pub(crate) fn read_manifest(path: &Path) -> Result<Manifest, VectorError> {
    let file = path.join(MANIFEST);
    let missing = || VectorError::Missing { path: path.to_owned() };
    let text = fs::read(&file).map_err(|_| missing())?;
    let damaged = |what: String| VectorError::Altered { file: file.clone(), what };
    // The version is read first, because a later manifest may have another structure.
    let value: serde_json::Value =
        serde_json::from_slice(&text).map_err(|error| damaged(error.to_string()))?;
    if value.get("format").and_then(|format| format.as_str()) != Some(FORMAT) {
        return Err(missing());
    }
    match value.get("version").and_then(serde_json::Value::as_u64) {
        Some(version) if version == u64::from(EMBEDDING_VERSION) => {}
        Some(found) => return Err(VectorError::Version { file, found, supported: EMBEDDING_VERSION }),
        None => return Err(damaged("it states no version".to_owned())),
    }
    let manifest: Manifest = serde_json::from_value(value).map_err(|error| damaged(error.to_string()))?;
    if manifest.checksum != manifest.expected_checksum() {
        return Err(damaged("its checksum does not match".to_owned()));
    }
    if manifest.file != data_name(&manifest.tables) {
        return Err(damaged("it does not name the file of its tables".to_owned()));
    }
    Ok(manifest)
}
