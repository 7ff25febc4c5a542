//! Opens a graph store.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytemuck::Pod;
use rayon::prelude::*;
use xxhash_rust::xxh3::xxh3_64;

use super::{Counts, FORMAT, MANIFEST, Manifest, STORE_VERSION, Store, StoreError, is_data_name};
use crate::array::Array;
use crate::fact::Fact;
use crate::file_mapping::Mapping;
use crate::graph::Graph;
use crate::held_out::HeldOut;
use crate::lists::Lists;
use crate::names::{Names, Texts};
use crate::split::Split;
use crate::tasks::TaskSet;

pub(super) fn open(path: &Path) -> Result<Store, StoreError> {
    let (manifest, files) = open_files(path)?;
    let graph = Graph {
        entities: files.names("entities")?,
        relations: files.names("relations")?,
        background_relations: manifest.counts.relations as usize,
        facts: files.array("facts")?,
        neighbours: files.lists("neighbours")?,
        entity_labels: files.texts("entities.labels")?,
        relation_labels: files.texts("relations.labels")?,
        type_names: files.names("types")?,
        types: files.lists("types.lists")?,
        type_relations: files.array("types.relations")?,
        release_rows: files.array("relations.release_rows")?,
        held_out: [files.array("held_out.valid")?, files.array("held_out.test")?],
        prefixes: Arc::new(manifest.prefixes.clone()),
    };
    let tasks = TaskSet {
        tasks: files.array("tasks")?,
        facts: files.lists("tasks.facts")?,
        candidate_relations: files.array("candidates.relations")?,
        candidates: files.lists("candidates")?,
        filter_keys: files.array("filter.questions")?,
        known_tails: files.lists("filter.tails")?,
    };
    check_ids(&files, &graph, &tasks)?;
    if Counts::of(&graph, &tasks) != manifest.counts {
        return Err(manifest_error(path, "its counts are not those of the arrays"));
    }
    Ok(Store { graph, tasks, manifest: Arc::new(manifest), path: path.to_owned() })
}

/// Reads the manifest and maps the arrays it names.
///
/// If a writer replaces the store between these two steps, the arrays are gone. The new manifest is
/// then read and tried instead, a few times at most.
fn open_files(path: &Path) -> Result<(Manifest, Files), StoreError> {
    const TRIES: usize = 10;
    let mut tries = 0;
    loop {
        tries += 1;
        let manifest = read_manifest(path)?;
        match Files::open(path, &manifest) {
            Ok(files) => return Ok((manifest, files)),
            Err(StoreError::Io { source, .. }) if source.kind() == ErrorKind::NotFound && tries < TRIES => {}
            Err(error) => return Err(error),
        }
    }
}

fn manifest_error(path: &Path, what: impl Into<String>) -> StoreError {
    StoreError::Manifest { file: path.join(MANIFEST), what: what.into() }
}

fn read_manifest(path: &Path) -> Result<Manifest, StoreError> {
    let file = path.join(MANIFEST);
    let text = fs::read(&file).map_err(|error| match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => StoreError::Missing { path: path.to_owned() },
        _ => StoreError::io(&file, "read the manifest")(error),
    })?;
    // The version is read before the rest, because a later version may have other fields.
    let value: serde_json::Value =
        serde_json::from_slice(&text).map_err(|error| manifest_error(path, error.to_string()))?;
    if value.get("format").and_then(|format| format.as_str()) != Some(FORMAT) {
        return Err(StoreError::Missing { path: path.to_owned() });
    }
    match value.get("version").and_then(serde_json::Value::as_u64) {
        Some(version) if version == u64::from(STORE_VERSION) => {}
        Some(found) => return Err(StoreError::Version { file, found, supported: STORE_VERSION }),
        None => return Err(manifest_error(path, "it states no version")),
    }
    let manifest: Manifest =
        serde_json::from_value(value).map_err(|error| manifest_error(path, error.to_string()))?;
    if manifest.checksum != manifest.expected_checksum() {
        return Err(manifest_error(path, "its checksum does not match, it was edited"));
    }
    if !is_data_name(&manifest.data) {
        return Err(manifest_error(path, "its data directory is outside the store"));
    }
    Ok(manifest)
}

/// The mapped array files of a store, sizes and checksums verified.
struct Files {
    directory: PathBuf,
    mappings: std::collections::BTreeMap<String, Mapping>,
}

impl Files {
    fn open(path: &Path, manifest: &Manifest) -> Result<Self, StoreError> {
        let directory = path.join(&manifest.data);
        let mappings = manifest
            .files
            .par_iter()
            .map(|(name, record)| {
                let file = directory.join(name);
                let mapping = Mapping::open(&file).map_err(StoreError::io(&file, "open the file"))?;
                if mapping.len() as u64 != record.bytes {
                    return Err(StoreError::Size {
                        file,
                        expected: record.bytes,
                        found: mapping.len() as u64,
                    });
                }
                if xxh3_64(&mapping) != record.xxh3 {
                    return Err(StoreError::Altered { file });
                }
                Ok((name.clone(), mapping))
            })
            .collect::<Result<_, _>>()?;
        Ok(Self { directory, mappings })
    }

    fn invalid(&self, name: &str, what: &'static str) -> StoreError {
        StoreError::Invalid { file: self.directory.join(name), what }
    }

    fn array<T: Pod>(&self, name: &str) -> Result<Array<T>, StoreError> {
        let mapping =
            self.mappings.get(name).ok_or_else(|| self.invalid(name, "not listed in the manifest"))?;
        Array::from_mapping(mapping.clone()).map_err(|_| self.invalid(name, "no whole number of entries"))
    }

    fn texts(&self, name: &str) -> Result<Texts, StoreError> {
        let values: Array<u8> = self.array(&format!("{name}.text"))?;
        let offsets = self.offsets(&format!("{name}.offsets"), values.len())?;
        let Ok(text) = std::str::from_utf8(&values) else {
            return Err(self.invalid(&format!("{name}.text"), "not UTF-8"));
        };
        if !offsets.par_iter().all(|&offset| text.is_char_boundary(offset as usize)) {
            return Err(self.invalid(&format!("{name}.offsets"), "an offset cuts a character"));
        }
        Ok(Texts(Lists { offsets, values }))
    }

    fn names(&self, name: &str) -> Result<Names, StoreError> {
        let texts = self.texts(name)?;
        let index = format!("{name}.index");
        let slots: Array<u32> = self.array(&index)?;
        let count = texts.len() as u32;
        if !slots.is_empty() && !slots.len().is_power_of_two() {
            return Err(self.invalid(&index, "its size is no power of two"));
        }
        if !slots.par_iter().all(|&slot| slot == u32::MAX || slot < count) {
            return Err(self.invalid(&index, "an entry points past the last name"));
        }
        Ok(Names { texts, slots })
    }

    fn lists<T: Pod>(&self, name: &str) -> Result<Lists<T>, StoreError> {
        let values: Array<T> = self.array(name)?;
        let offsets = self.offsets(&format!("{name}.offsets"), values.len())?;
        Ok(Lists { offsets, values })
    }

    fn offsets(&self, name: &str, end: usize) -> Result<Array<u64>, StoreError> {
        let offsets: Array<u64> = self.array(name)?;
        let bounds = (offsets.first().copied().unwrap_or(0), offsets.last().copied().unwrap_or(0));
        if bounds != (0, end as u64) || !offsets.par_windows(2).all(|pair| pair[0] <= pair[1]) {
            return Err(self.invalid(name, "offsets do not fit the array they point into"));
        }
        Ok(offsets)
    }
}

/// Checks that all ids and lengths are in range, so that accessors need not check them.
fn check_ids(files: &Files, graph: &Graph, tasks: &TaskSet) -> Result<(), StoreError> {
    let entities = graph.entities.len() as u32;
    let directed = 2 * graph.relations.len() as u32;
    let background = 2 * graph.background_relations as u32;
    let types = graph.type_names.len() as u32;
    let check = |name: &str, holds: bool| {
        if holds { Ok(()) } else { Err(files.invalid(name, "an id or a length is out of range")) }
    };
    let one_each = |lists: usize| lists == entities as usize;
    let none_or_one_each = |lists: usize, of: usize| lists == 0 || lists == of;

    check("relations.offsets", graph.background_relations <= graph.relations.len())?;
    let sound = |facts: &[Fact]| {
        facts.par_iter().all(|f| {
            f.head.0 < entities
                && f.tail.0 < entities
                && f.relation.0 < background
                && !f.relation.is_inverse()
        })
    };
    check("facts", sound(&graph.facts))?;
    check("held_out.valid", sound(graph.held_out(HeldOut::Valid)))?;
    check("held_out.test", sound(graph.held_out(HeldOut::Test)))?;
    check("neighbours.offsets", one_each(graph.neighbours.len()))?;
    check(
        "neighbours",
        graph.neighbours.values.par_iter().all(|e| e.entity.0 < entities && e.relation.0 < background),
    )?;
    check("entities.labels.offsets", none_or_one_each(graph.entity_labels.len(), entities as usize))?;
    check("relations.labels.offsets", none_or_one_each(graph.relation_labels.len(), graph.relations.len()))?;
    check("types.lists.offsets", none_or_one_each(graph.types.len(), entities as usize))?;
    check("types.lists", graph.types.values.par_iter().all(|t| t.0 < types))?;
    check("types.relations", graph.type_relations.iter().all(|r| r.0 < background && !r.is_inverse()))?;
    check("relations.release_rows", graph.release_rows.iter().all(|r| r.0 < directed))?;
    check(
        "tasks",
        tasks.tasks.iter().all(|t| t.relation.0 < directed && Split::from_code(t.split).is_some())
            && tasks.facts.len() == tasks.tasks.len(),
    )?;
    check("tasks.facts", tasks.facts.values.par_iter().all(|p| p.head.0 < entities && p.tail.0 < entities))?;
    check(
        "candidates.relations",
        tasks.candidate_relations.iter().all(|r| r.0 < directed)
            && tasks.candidates.len() == tasks.candidate_relations.len(),
    )?;
    check("candidates", tasks.candidates.values.par_iter().all(|e| e.0 < entities))?;
    check(
        "filter.questions",
        tasks.filter_keys.par_iter().all(|key| key.head.0 < entities && key.relation.0 < directed)
            && tasks.known_tails.len() == tasks.filter_keys.len(),
    )?;
    check("filter.tails", tasks.known_tails.values.par_iter().all(|e| e.0 < entities))
}
