//! The manifest of a graph store: its version, counts and checksums.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::graph::Graph;
use crate::held_out::HeldOut;
use crate::prefixes::Prefixes;
use crate::split::Split;
use crate::tasks::TaskSet;

/// The self-description of a store: `manifest.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// Always `rana-graph`.
    pub format: String,
    /// The version of the directory layout and of every array in it.
    pub version: u32,
    /// The program that wrote the store.
    pub written_by: String,
    /// How many entities, relations, facts and tasks there are.
    pub counts: Counts,
    /// Where the graph came from.
    pub inputs: Vec<Input>,
    /// The prefixes that the inputs declare for short names.
    #[serde(default, skip_serializing_if = "Prefixes::is_empty")]
    pub prefixes: Prefixes,
    /// The directory, beside the manifest, that holds the arrays.
    pub data: String,
    /// Size and checksum of every array file.
    pub files: BTreeMap<String, FileRecord>,
    /// xxh3 of this manifest with an empty string in this place.
    pub checksum: String,
}

/// How many entities, relations, facts and tasks a store holds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Entities.
    pub entities: u64,
    /// Background relations, inverses not counted.
    pub relations: u64,
    /// Background facts.
    pub triples: u64,
    /// Held-out facts.
    pub held_out: BTreeMap<HeldOut, u64>,
    /// Types.
    pub types: u64,
    /// Tasks by split.
    pub tasks: BTreeMap<Split, TaskCounts>,
}

/// How many tasks a split has, and how many facts they have together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskCounts {
    /// Task relations.
    pub relations: u64,
    /// Facts of these relations.
    pub facts: u64,
}

impl Counts {
    /// Counts what a graph and its tasks hold.
    #[must_use]
    pub fn of(graph: &Graph, tasks: &TaskSet) -> Self {
        let mut by_split: BTreeMap<Split, TaskCounts> =
            Split::ALL.map(|split| (split, TaskCounts::default())).into();
        for task in tasks.iter() {
            let counts = by_split.entry(task.split).or_default();
            counts.relations += 1;
            counts.facts += task.facts.len() as u64;
        }
        Self {
            entities: graph.entity_count() as u64,
            relations: graph.relation_count() as u64,
            triples: graph.facts().len() as u64,
            held_out: HeldOut::ALL.map(|part| (part, graph.held_out(part).len() as u64)).into(),
            types: graph.type_names().len() as u64,
            tasks: by_split,
        }
    }
}

/// One input a store was made from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Input {
    /// The name of the file as given, `-` for standard input.
    pub name: String,
    /// The format it was read in.
    pub format: String,
    /// Its size in bytes, before decompression.
    pub bytes: u64,
    /// The SHA-256 of these bytes, as `sha256sum` prints it.
    pub sha256: String,
}

/// Size and checksum of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileRecord {
    /// Its size.
    pub bytes: u64,
    /// The xxh3 (64 bits) of its content.
    #[serde(with = "crate::hex")]
    pub xxh3: u64,
}

impl FileRecord {
    /// The record of a content.
    #[must_use]
    pub fn of(content: &[u8]) -> Self {
        Self { bytes: content.len() as u64, xxh3: xxh3_64(content) }
    }
}

impl Manifest {
    /// The checksum this manifest should carry.
    pub(super) fn expected_checksum(&self) -> String {
        let blank = Self { checksum: String::new(), ..self.clone() };
        // A struct of strings and numbers always serialises.
        let text = serde_json::to_vec(&blank).unwrap_or_default();
        format!("{:016x}", xxh3_64(&text))
    }
}
