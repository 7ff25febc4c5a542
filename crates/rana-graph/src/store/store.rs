//! [`Store`]: an opened graph store.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::error::StoreError;
use super::manifest::{Input, Manifest};
use super::{read, write};
use crate::graph::Graph;
use crate::held_out::HeldOut;
use crate::tasks::TaskSet;

/// The version of the layout this program writes, and the only one it reads.
pub const STORE_VERSION: u32 = 1;

pub(super) const MANIFEST: &str = "manifest.json";
pub(super) const FORMAT: &str = "rana-graph";
pub(super) const DATA_PREFIX: &str = "data-";
pub(super) const LOCK: &str = ".lock";

/// An opened graph store: the graph, its tasks, and where they came from.
///
/// Clones share the mapped files, so they take constant time and can be handed to other threads.
///
/// ```
/// use rana_graph::{Duplicates, GraphBuilder, Store, TaskSet};
/// # let dir = tempfile::tempdir()?;
/// # let path = dir.path().join("kg");
/// let mut builder = GraphBuilder::new(Duplicates::Remove);
/// builder.add_named("paris", "capital_of", "france");
/// Store::write(&path, &builder.finish(), &TaskSet::default(), Vec::new())?;
/// let store = Store::open(&path)?;
/// assert_eq!(store.graph.facts().len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Store {
    /// The background graph.
    pub graph: Graph,
    /// The few-shot tasks of the graph; empty if it has none.
    pub tasks: TaskSet,
    /// The manifest: counts, inputs and checksums.
    pub manifest: Arc<Manifest>,
    /// The directory it was opened from.
    pub path: PathBuf,
}

impl Store {
    /// Opens the store at `path`, memory-mapped, and verifies every checksum.
    ///
    /// # Errors
    /// If there is no store, it has another version, or any file was cut short or altered.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        read::open(path.as_ref())
    }

    /// Writes a store to `path`, atomically replacing the store that may be there.
    ///
    /// # Errors
    /// If the directory holds other files, another process is writing the store, or writing fails. A
    /// store that was there before is then unchanged.
    pub fn write(
        path: impl AsRef<Path>,
        graph: &Graph,
        tasks: &TaskSet,
        inputs: Vec<Input>,
    ) -> Result<Manifest, StoreError> {
        write::write(path.as_ref(), graph, tasks, inputs)
    }

    /// What identifies a graph and its tasks: [`Manifest::data`] of a store of them.
    #[must_use]
    pub fn identity(graph: &Graph, tasks: &TaskSet) -> String {
        write::identity(graph, tasks)
    }

    /// Whether `path` looks like a graph store: it has a manifest of this format, valid or damaged.
    #[must_use]
    pub fn is_store(path: impl AsRef<Path>) -> bool {
        // Every version writes the format first; the rest may be damaged or have other fields.
        let stated = format!("\"format\":\"{FORMAT}\"");
        std::fs::read(path.as_ref().join(MANIFEST)).is_ok_and(|text| {
            let text = String::from_utf8_lossy(&text);
            let begin: String = text.chars().filter(|c| !c.is_whitespace()).take(stated.len() + 1).collect();
            begin.strip_prefix('{') == Some(&stated)
        })
    }
}

/// Whether a name is that of a directory of arrays: `data-` and sixteen hexadecimal digits.
pub(super) fn is_data_name(name: &str) -> bool {
    let digits = name.strip_prefix(DATA_PREFIX).unwrap_or_default();
    digits.len() == 16 && digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// The arrays of a graph and its tasks as named byte slices: the layout of the store.
pub(super) fn arrays<'a>(graph: &'a Graph, tasks: &'a TaskSet) -> Vec<(&'static str, &'a [u8])> {
    use bytemuck::cast_slice;
    vec![
        ("entities.text", graph.entities.texts.0.values()),
        ("entities.offsets", cast_slice(&graph.entities.texts.0.offsets)),
        ("entities.index", cast_slice(&graph.entities.slots)),
        ("entities.labels.text", graph.entity_labels.0.values()),
        ("entities.labels.offsets", cast_slice(&graph.entity_labels.0.offsets)),
        ("relations.text", graph.relations.texts.0.values()),
        ("relations.offsets", cast_slice(&graph.relations.texts.0.offsets)),
        ("relations.index", cast_slice(&graph.relations.slots)),
        ("relations.labels.text", graph.relation_labels.0.values()),
        ("relations.labels.offsets", cast_slice(&graph.relation_labels.0.offsets)),
        ("types.relations", cast_slice(&graph.type_relations)),
        ("relations.release_rows", cast_slice(&graph.release_rows)),
        ("types.text", graph.type_names.texts.0.values()),
        ("types.offsets", cast_slice(&graph.type_names.texts.0.offsets)),
        ("types.index", cast_slice(&graph.type_names.slots)),
        ("types.lists.offsets", cast_slice(&graph.types.offsets)),
        ("types.lists", cast_slice(&graph.types.values)),
        ("facts", cast_slice(&graph.facts)),
        ("held_out.valid", cast_slice(graph.held_out(HeldOut::Valid))),
        ("held_out.test", cast_slice(graph.held_out(HeldOut::Test))),
        ("neighbours.offsets", cast_slice(&graph.neighbours.offsets)),
        ("neighbours", cast_slice(&graph.neighbours.values)),
        ("tasks", cast_slice(&tasks.tasks)),
        ("tasks.facts.offsets", cast_slice(&tasks.facts.offsets)),
        ("tasks.facts", cast_slice(&tasks.facts.values)),
        ("candidates.relations", cast_slice(&tasks.candidate_relations)),
        ("candidates.offsets", cast_slice(&tasks.candidates.offsets)),
        ("candidates", cast_slice(&tasks.candidates.values)),
        ("filter.questions", cast_slice(&tasks.filter_keys)),
        ("filter.tails.offsets", cast_slice(&tasks.known_tails.offsets)),
        ("filter.tails", cast_slice(&tasks.known_tails.values)),
    ]
}
