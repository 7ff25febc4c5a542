//! Writes a graph store.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use xxhash_rust::xxh3::Xxh3;

use super::{
    Counts, DATA_PREFIX, FORMAT, FileRecord, Input, LOCK, MANIFEST, Manifest, STORE_VERSION, Store,
    StoreError, arrays, is_data_name,
};
use crate::atomic_file;
use crate::directory_lock::DirectoryLock;
use crate::graph::Graph;
use crate::tasks::TaskSet;
use crate::unfinished::Unfinished;

pub(super) fn write(
    path: &Path,
    graph: &Graph,
    tasks: &TaskSet,
    inputs: Vec<Input>,
) -> Result<Manifest, StoreError> {
    fs::create_dir_all(path).map_err(StoreError::io(path, "create the directory"))?;
    refuse_foreign_directory(path)?;
    let lock = DirectoryLock::take(&path.join(LOCK)).map_err(StoreError::io(path, "lock the store"))?;
    let _lock = lock.ok_or_else(|| StoreError::Locked { path: path.to_owned() })?;
    let arrays = arrays(graph, tasks);
    let files = records(&arrays);
    let mut manifest = Manifest {
        format: FORMAT.to_owned(),
        version: STORE_VERSION,
        written_by: concat!("rana ", env!("CARGO_PKG_VERSION")).to_owned(),
        counts: Counts::of(graph, tasks),
        inputs,
        prefixes: graph.prefixes().clone(),
        data: data_name(&files),
        files,
        checksum: String::new(),
    };
    manifest.checksum = manifest.expected_checksum();

    let data = path.join(&manifest.data);
    // Only the files of this attempt are removed if it fails; those of the old store stay.
    let unfinished = (!data.exists()).then(|| Unfinished::at(&data));
    write_arrays(&data, &arrays)?;
    // From here on the manifest may name them.
    let is_new = unfinished.map(Unfinished::keep).is_some();
    if let Err(error) = replace_manifest(path, &manifest) {
        if is_new {
            let _ = fs::remove_dir_all(&data);
        }
        return Err(error);
    }
    remove_leftovers(path, &manifest.data);
    Ok(manifest)
}

/// What identifies a graph and its tasks.
pub(super) fn identity(graph: &Graph, tasks: &TaskSet) -> String {
    data_name(&records(&arrays(graph, tasks)))
}

fn records(arrays: &[(&'static str, &[u8])]) -> BTreeMap<String, FileRecord> {
    arrays.par_iter().map(|(name, bytes)| ((*name).to_owned(), FileRecord::of(bytes))).collect()
}

/// The name of the arrays' directory. It is a hash of their content, so writing the same graph twice
/// gives the same directory.
fn data_name(files: &BTreeMap<String, FileRecord>) -> String {
    let mut hasher = Xxh3::new();
    for (name, record) in files {
        hasher.update(name.as_bytes());
        hasher.update(&record.xxh3.to_le_bytes());
        hasher.update(&record.bytes.to_le_bytes());
    }
    format!("{DATA_PREFIX}{:016x}", hasher.digest())
}

/// Fails unless the directory is empty or a store, so that other files are never overwritten.
fn refuse_foreign_directory(path: &Path) -> Result<(), StoreError> {
    if Store::is_store(path) {
        return Ok(());
    }
    let entries = fs::read_dir(path).map_err(StoreError::io(path, "list the directory"))?;
    for entry in entries {
        let name = entry.map_err(StoreError::io(path, "list the directory"))?.file_name();
        let name = name.to_string_lossy();
        if name != LOCK && name != format!("{MANIFEST}.new") && !is_data_name(&name) {
            return Err(StoreError::Occupied { path: path.to_owned() });
        }
    }
    Ok(())
}

fn write_arrays(data: &Path, arrays: &[(&'static str, &[u8])]) -> Result<(), StoreError> {
    // The same files may exist already, all or some of them. They are replaced by rename and never
    // rewritten, so that existing mappings stay valid.
    fs::create_dir_all(data).map_err(StoreError::io(data, "create the directory"))?;
    arrays.par_iter().try_for_each(|(name, bytes)| write_synced(&data.join(name), bytes))?;
    sync_directory(data)
}

fn replace_manifest(path: &Path, manifest: &Manifest) -> Result<(), StoreError> {
    let target = path.join(MANIFEST);
    let mut text = serde_json::to_vec_pretty(manifest)
        .map_err(|error| StoreError::Manifest { file: target.clone(), what: error.to_string() })?;
    text.push(b'\n');
    write_synced(&target, &text)?;
    sync_directory(path)
}

/// Writes a file under a temporary name, syncs it, and renames it.
fn write_synced(target: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let mut temporary = target.as_os_str().to_owned();
    temporary.push(".new");
    let temporary = PathBuf::from(temporary);
    // A killed writer may have left one; whatever is there, nothing is written through it.
    let _ = fs::remove_file(&temporary);
    let temporary = Unfinished::at(temporary);
    let mut file = File::create_new(temporary.path()).map_err(StoreError::io(target, "create the file"))?;
    file.write_all(bytes).map_err(StoreError::io(target, "write the file"))?;
    file.sync_all().map_err(StoreError::io(target, "write the file to disk"))?;
    fs::rename(temporary.path(), target).map_err(StoreError::io(target, "put the file in its place"))
}

fn sync_directory(path: &Path) -> Result<(), StoreError> {
    atomic_file::sync_directory(path).map_err(StoreError::io(path, "write the directory to disk"))
}

/// Removes the arrays of the previous store and those of killed writers; failures are ignored.
fn remove_leftovers(path: &Path, current: &str) {
    let Ok(entries) = fs::read_dir(path) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if is_data_name(&name) && name != current {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}
