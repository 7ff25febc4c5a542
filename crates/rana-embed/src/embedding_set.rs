//! [`EmbeddingSet`]: the vectors of a graph, stored in a directory.
//!
//! ```text
//! VECTORS/
//!   manifest.json                  version, shapes, checksums, how it was made
//!   vectors-<hash>.safetensors     the tensors `entities` and `relations`, written once
//! ```
//!
//! Both tables are in one file, which is named after its content. The manifest is replaced by one atomic rename, so
//! it always names tables that belong together.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use rana_graph::{Array, DirectoryLock, Graph, unfinished, write_file_atomically};
use serde::{Deserialize, Serialize};

use super::embedding_manifest::{
    DATA_ENDING, DATA_PREFIX, EMBEDDING_VERSION, FORMAT, MANIFEST, Manifest, TableRecord, data_name,
    read_manifest,
};
use super::relation_rows::RelationRows;
use crate::embed_config::EmbedConfig;
use crate::format::safetensors;
use crate::model::{ModelKind, Norm};
use crate::parameters::Parameters;
use crate::table::Table;
use crate::training::Checkpoint;
use crate::vector_error::VectorError;
use crate::vectors::Vectors;

/// The names of the two tables.
pub(crate) const ENTITIES: &str = "entities";
pub(crate) const RELATIONS: &str = "relations";

const LOCK: &str = ".lock";
/// The vectors of a graph and how they were made.
#[derive(Clone, Debug, PartialEq)]
pub struct EmbeddingSet {
    /// One row per entity, in the order of ids.
    pub entities: Table,
    /// One row per relation, or per relation and inverse, in the order of ids.
    pub relations: Table,
    /// How they were made.
    pub metadata: EmbeddingMetadata,
}

/// The metadata of vectors: how they were made.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EmbeddingMetadata {
    /// The score function.
    pub model: ModelKind,
    /// The distance of TransE; the other models have no choice.
    pub norm: Norm,
    /// The settings they were trained with; `None` for imported vectors.
    pub training: Option<EmbedConfig>,
    /// The facts they were trained on, such as `background`, or the files they were imported from.
    pub origin: String,
    /// How many facts of each dev and test task they were trained on, if any.
    pub support_shots: Option<usize>,
    /// The fold of the train tasks that was left out of their training, if any, such as `2/5`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fold: Option<String>,
    /// A checksum of the task facts they were trained on, if there were any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_facts: Option<String>,
    /// The [fingerprint](Graph::fingerprint) of the graph they belong to.
    #[serde(with = "rana_graph::hex")]
    pub graph: u64,
    /// Which directions of relations have rows.
    pub relation_rows: RelationRows,
    /// Results of the training, by name.
    pub metrics: BTreeMap<String, f64>,
}

/// A directory that only this process may write vectors to.
#[derive(Debug)]
pub struct VectorsTarget {
    path: PathBuf,
    _lock: DirectoryLock,
}

impl EmbeddingSet {
    /// The distance of the vectors: that of TransE, else the Euclidean one.
    #[must_use]
    pub fn own_norm(&self) -> Norm {
        if self.metadata.model == ModelKind::TransE { self.metadata.norm } else { Norm::L2 }
    }

    /// The lines about the vectors in an evaluation, by name.
    #[must_use]
    pub fn details(&self, path: &Path) -> Vec<(&'static str, String)> {
        let EmbeddingMetadata { model, origin, support_shots, .. } = &self.metadata;
        let seen = support_shots
            .map_or_else(String::new, |shots| format!(", {shots} facts of each dev and test task seen"));
        vec![
            ("vectors", path.display().to_string()),
            ("vectors_made_by", format!("{model}, dim {}", self.entities.dim())),
            ("vectors_trained_on", format!("{origin}{seen}")),
        ]
    }

    /// The name of the checkpoint file of an interrupted training, beside the vectors.
    pub const CHECKPOINT: &str = "checkpoint";

    /// The vectors of a graph; `metadata` is completed with the graph's fingerprint.
    ///
    /// # Errors
    /// If a table has another number of rows than the graph needs or another dimension than the
    /// model, or a value is not finite.
    pub fn new(
        graph: &Graph,
        entities: Table,
        relations: Table,
        metadata: EmbeddingMetadata,
    ) -> Result<Self, VectorError> {
        metadata.relation_rows.check(graph, &entities, &relations)?;
        entities.check_finite(ENTITIES)?;
        relations.check_finite(RELATIONS)?;
        let metadata = EmbeddingMetadata { graph: graph.fingerprint(), ..metadata };
        metadata.check_dimensions(&entities, &relations)?;
        Ok(Self { entities, relations, metadata })
    }

    /// The vectors that a training made from a graph's facts. `metadata` states the facts and the results; everything
    /// else is filled in.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn trained(
        graph: &Graph,
        config: EmbedConfig,
        parameters: Parameters,
        metadata: EmbeddingMetadata,
    ) -> Result<Self, VectorError> {
        let Parameters { model, norm, dim, inverses, .. } = parameters;
        let table = |values: Vec<f32>, dim: usize| {
            Table::new(values.len().checked_div(dim).unwrap_or(0), dim, values)
        };
        let entities = table(parameters.entities, dim)?;
        let relations = table(parameters.relations, model.relation_width(dim))?;
        let relation_rows = if inverses { RelationRows::Directed } else { RelationRows::Forward };
        let training = Some(config);
        let metadata = EmbeddingMetadata { model, norm, training, relation_rows, ..metadata };
        Self::new(graph, entities, relations, metadata)
    }

    /// The rows as a borrowed view, for scoring.
    #[must_use]
    pub fn vectors(&self) -> Vectors<'_> {
        Vectors {
            model: self.metadata.model,
            norm: self.metadata.norm,
            dim: self.entities.dim(),
            inverses: self.metadata.relation_rows == RelationRows::Directed,
            entities: self.entities.values(),
            relations: self.relations.values(),
        }
    }

    /// Takes the directory at `path` to write vectors to, before they are trained: it is made if it is not there, must be
    /// writable, and no other process may write it.
    ///
    /// # Errors
    /// If the directory cannot be made or written, contains other files, or another process writes it.
    pub fn target(path: impl AsRef<Path>) -> Result<VectorsTarget, VectorError> {
        let path = path.as_ref().to_owned();
        fs::create_dir_all(&path).map_err(VectorError::io(&path, "create the directory"))?;
        refuse_foreign_directory(&path)?;
        let lock =
            DirectoryLock::take(&path.join(LOCK)).map_err(VectorError::io(&path, "lock the directory"))?;
        let lock = lock.ok_or_else(|| VectorError::Locked { path: path.clone() })?;
        Ok(VectorsTarget { path, _lock: lock })
    }

    /// Opens the vectors at `path`, memory-mapped, verifies their checksums, and checks that they
    /// belong to `graph`.
    ///
    /// # Errors
    /// If there are none, they have another version, were truncated or altered, or belong to another graph.
    pub fn open(path: impl AsRef<Path>, graph: &Graph) -> Result<Self, VectorError> {
        let path = path.as_ref();
        let manifest = read_manifest(path)?;
        let expected = graph.fingerprint();
        if manifest.metadata.graph != expected {
            return Err(VectorError::OtherGraph {
                path: path.to_owned(),
                expected,
                found: manifest.metadata.graph,
            });
        }
        let file = path.join(&manifest.file);
        let bytes = Array::map_file(&file).map_err(VectorError::io(&file, "open the file"))?;
        if bytes.len() as u64 != manifest.bytes {
            return Err(VectorError::Size { file, expected: manifest.bytes, found: bytes.len() as u64 });
        }
        let table = |name: &str| {
            let table = safetensors::read(&file, &bytes, name)?;
            if manifest.tables.get(name) == Some(&TableRecord::of(&table)) {
                Ok(table)
            } else {
                Err(VectorError::Altered {
                    file: file.clone(),
                    what: format!("checksum mismatch in `{name}`"),
                })
            }
        };
        let (entities, relations) = rayon::join(|| table(ENTITIES), || table(RELATIONS));
        let (entities, relations) = (entities?, relations?);
        let metadata = manifest.metadata;
        metadata.relation_rows.check(graph, &entities, &relations)?;
        metadata.check_dimensions(&entities, &relations)?;
        Ok(Self { entities, relations, metadata })
    }

    /// The metadata of the vectors at `path`, without opening the tables.
    ///
    /// # Errors
    /// If there is no embedding set, or it has another version.
    pub fn read_metadata(path: impl AsRef<Path>) -> Result<EmbeddingMetadata, VectorError> {
        Ok(read_manifest(path.as_ref())?.metadata)
    }

    /// Writes the vectors to `path`. Replaces existing vectors atomically.
    ///
    /// # Errors
    /// If the directory contains other files, another process writes it, or the disk fails. Existing vectors then
    /// stay unchanged.
    pub fn write(&self, path: impl AsRef<Path>) -> Result<(), VectorError> {
        self.write_to(&Self::target(path)?)
    }

    /// Writes the vectors to a target that was taken before. Replaces existing vectors atomically.
    ///
    /// # Errors
    /// If the disk fails. Existing vectors then stay unchanged.
    pub fn write_to(&self, target: &VectorsTarget) -> Result<(), VectorError> {
        let path = &target.path;
        let manifest = self.write_files(path);
        let current = match &manifest {
            Ok(manifest) => Some(manifest.file.clone()),
            Err(_) => read_manifest(path).ok().map(|manifest| manifest.file),
        };
        remove_leftovers(path, current.as_deref());
        manifest.map(drop)
    }

    fn write_files(&self, path: &Path) -> Result<Manifest, VectorError> {
        if let Some((name, &value)) = self.metadata.metrics.iter().find(|(_, value)| !value.is_finite()) {
            return Err(VectorError::Metric { name: name.clone(), value });
        }
        let tables = [(ENTITIES, &self.entities), (RELATIONS, &self.relations)];
        let records: BTreeMap<String, TableRecord> =
            tables.iter().map(|(name, table)| ((*name).to_owned(), TableRecord::of(table))).collect();
        let file = path.join(data_name(&records));
        write_file_atomically(&file, |out| safetensors::write(out, &tables))
            .map_err(VectorError::io(&file, "write the file"))?;
        let mut manifest = Manifest {
            format: FORMAT.to_owned(),
            version: EMBEDDING_VERSION,
            written_by: concat!("rana ", env!("CARGO_PKG_VERSION")).to_owned(),
            metadata: self.metadata.clone(),
            bytes: fs::metadata(&file).map_err(VectorError::io(&file, "look at the file"))?.len(),
            file: data_name(&records),
            tables: records,
            checksum: String::new(),
        };
        manifest.checksum = manifest.expected_checksum();
        let target = path.join(MANIFEST);
        write_file_atomically(&target, |out| {
            serde_json::to_writer_pretty(out, &manifest).map_err(Into::into)
        })
        .map_err(VectorError::io(&target, "write the file"))?;
        Ok(manifest)
    }
}

impl EmbeddingMetadata {
    /// Checks that the model can use rows of these dimensions.
    fn check_dimensions(&self, entities: &Table, relations: &Table) -> Result<(), VectorError> {
        let (dim, model) = (entities.dim(), self.model);
        if model.has_halves() && !dim.is_multiple_of(2) {
            return Err(VectorError::OddDimension { model, dim });
        }
        let expected = model.relation_width(dim);
        if relations.dim() != expected {
            return Err(VectorError::RelationDimension { model, dim, expected, found: relations.dim() });
        }
        Ok(())
    }
}

/// Whether `path` has a manifest of an embedding set, valid or not.
fn is_embedding_set(path: &Path) -> bool {
    fs::read_to_string(path.join(MANIFEST)).is_ok_and(|text| text.contains(FORMAT))
}

/// Only an empty directory or an embedding set may be written to. This protects the user's own files.
fn refuse_foreign_directory(path: &Path) -> Result<(), VectorError> {
    if is_embedding_set(path) {
        return Ok(());
    }
    for name in names_in(path).map_err(VectorError::io(path, "list the directory"))? {
        let is_checkpoint =
            || name == EmbeddingSet::CHECKPOINT && Checkpoint::is_checkpoint(&path.join(&name));
        if name != LOCK && !is_ours(&name) && !is_checkpoint() {
            return Err(VectorError::Occupied { path: path.to_owned() });
        }
    }
    Ok(())
}

/// Removes vectors and temporary files that no manifest names. Failures are ignored.
fn remove_leftovers(path: &Path, current: Option<&str>) {
    for name in names_in(path).unwrap_or_default() {
        if is_ours(&name) && Some(&*name) != current {
            let _ = fs::remove_file(path.join(name));
        }
    }
}

/// Whether this program writes files of this name beside the manifest.
fn is_ours(name: &str) -> bool {
    let is_data = |name: &str| name.starts_with(DATA_PREFIX) && name.ends_with(DATA_ENDING);
    let is_unfinished = |name| name == MANIFEST || name == EmbeddingSet::CHECKPOINT || is_data(name);
    is_data(name) || unfinished(name).is_some_and(is_unfinished)
}

fn names_in(path: &Path) -> std::io::Result<Vec<String>> {
    fs::read_dir(path)?.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect()
}
