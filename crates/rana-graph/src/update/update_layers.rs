//! [`UpdateLayers`]: the directory of updates of a graph.
//!
//! ```text
//! UPDATES/
//!   000001.jsonl      one change: a header, then a line for each fact, label and type
//!   000002.jsonl
//! ```

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::graph_update::GraphUpdate;
use super::update_error::UpdateError;
use crate::directory_lock::DirectoryLock;
use crate::graph::Graph;
use crate::write_file_atomically;

const FORMAT: &str = "rana-update";
const VERSION: u32 = 1;
const LOCK: &str = ".lock";

/// The first line of a layer.
#[derive(Debug, Serialize, Deserialize)]
struct Header {
    format: String,
    version: u32,
    /// The fingerprint of the base.
    #[serde(with = "crate::hex")]
    base: u64,
    /// The last of the layers before it that it replaces; 0 if it replaces none.
    replaces: u32,
    /// How many lines follow.
    lines: usize,
    /// The checksum of these lines.
    #[serde(with = "crate::hex")]
    checksum: u64,
}

/// A line of a layer.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    Add([String; 3]),
    Remove([String; 3]),
    Label([String; 2]),
    Type([String; 2]),
    TypeRelation(String),
}

/// The layers over a graph, merged in memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UpdateLayers {
    /// What all of them change in the base.
    pub update: GraphUpdate,
    /// How many there are.
    pub layers: usize,
    /// The number of the last one; 0 if there is none.
    last: u32,
}

impl UpdateLayers {
    /// Reads the layers over a base. A directory that is not there has none.
    ///
    /// # Errors
    /// If a layer is of another graph or version, was altered, or cannot be read.
    pub fn read(directory: &Path, base: &Graph) -> Result<Self, UpdateError> {
        let mut read = Vec::new();
        for (number, path) in numbered(directory)? {
            let (header, update) = read_layer(&path, base.fingerprint())?;
            read.push((number, header.replaces, update));
        }
        let replaced = read.iter().map(|(_, replaces, _)| *replaces).max().unwrap_or(0);
        let mut all = Self { last: read.last().map_or(0, |(number, ..)| *number), ..Self::default() };
        for (_, _, update) in read.iter().filter(|(number, ..)| *number > replaced) {
            all.update.then(update);
            all.layers += 1;
        }
        Ok(all)
    }

    /// The right to write layers, which one process has at a time.
    ///
    /// # Errors
    /// If another process has it, or the directory cannot be made.
    pub fn lock(directory: &Path) -> Result<DirectoryLock, UpdateError> {
        let failed = |action| move |source| UpdateError::Io { path: directory.to_owned(), action, source };
        fs::create_dir_all(directory).map_err(failed("create the directory"))?;
        let lock = DirectoryLock::take(&directory.join(LOCK)).map_err(failed("lock the directory"))?;
        lock.ok_or_else(|| UpdateError::Locked { path: directory.to_owned() })
    }

    /// Writes a change after those that were read. It is there when this returns, or not at all.
    ///
    /// # Errors
    /// If the disk refuses; nothing has changed then.
    pub fn push(&mut self, directory: &Path, base: &Graph, update: &GraphUpdate) -> Result<(), UpdateError> {
        write_layer(&layer(directory, self.last + 1), base.fingerprint(), 0, update)?;
        self.update.then(update);
        self.layers += 1;
        self.last += 1;
        Ok(())
    }

    /// Replaces all layers by one. An interruption leaves either all of them, or the new one in force.
    ///
    /// # Errors
    /// If the disk refuses.
    pub fn merge(&mut self, directory: &Path, base: &Graph) -> Result<(), UpdateError> {
        let earlier = numbered(directory)?;
        let number = self.last + 1;
        write_layer(&layer(directory, number), base.fingerprint(), self.last, &self.update)?;
        for (_, path) in earlier {
            let removed = fs::remove_file(&path);
            removed.map_err(|source| UpdateError::Io { path, action: "remove a merged update", source })?;
        }
        (self.layers, self.last) = (1, number);
        Ok(())
    }
}

fn layer(directory: &Path, number: u32) -> PathBuf {
    directory.join(format!("{number:06}.jsonl"))
}

/// The layers of a directory with their numbers, in order. Other files are left alone.
fn numbered(directory: &Path) -> Result<Vec<(u32, PathBuf)>, UpdateError> {
    let failed =
        |source| UpdateError::Io { path: directory.to_owned(), action: "list the directory", source };
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => return Err(failed(source)),
    };
    let mut found = Vec::new();
    for entry in entries {
        let path = entry.map_err(failed)?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let digits = name.strip_suffix(".jsonl").unwrap_or_default();
        if digits.len() >= 6
            && digits.bytes().all(|byte| byte.is_ascii_digit())
            && let Ok(number) = digits.parse()
        {
            found.push((number, path));
        }
    }
    found.sort_unstable();
    Ok(found)
}

fn read_layer(path: &Path, base: u64) -> Result<(Header, GraphUpdate), UpdateError> {
    let damaged = |message: String| UpdateError::Damaged { path: path.to_owned(), message };
    let text = fs::read(path).map_err(|source| UpdateError::Io {
        path: path.to_owned(),
        action: "read the update",
        source,
    })?;
    let end =
        text.iter().position(|&byte| byte == b'\n').ok_or_else(|| damaged("it has no header".to_owned()))?;
    let (first, rest) = (&text[..end], &text[end + 1..]);
    let header: Header = serde_json::from_slice(first).map_err(|error| damaged(error.to_string()))?;
    if header.format != FORMAT {
        return Err(damaged(format!("expected the format {FORMAT}, found {}", header.format)));
    }
    if header.version != VERSION {
        return Err(UpdateError::Version { path: path.to_owned(), found: header.version, known: VERSION });
    }
    if header.base != base {
        return Err(UpdateError::OtherGraph { path: path.to_owned(), expected: base, found: header.base });
    }
    if xxh3_64(rest) != header.checksum {
        return Err(damaged("its checksum does not fit its content".to_owned()));
    }
    let mut update = GraphUpdate::default();
    for line in rest.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
        match serde_json::from_slice(line).map_err(|error| damaged(error.to_string()))? {
            Line::Add(fact) => update.added.push(fact),
            Line::Remove(fact) => drop(update.removed.insert(fact)),
            Line::Label([name, label]) => drop(update.labels.insert(name, label)),
            Line::Type(of) => drop(update.types.insert(of)),
            Line::TypeRelation(name) => drop(update.type_relations.insert(name)),
        }
    }
    Ok((header, update))
}

fn write_layer(path: &Path, base: u64, replaces: u32, update: &GraphUpdate) -> Result<(), UpdateError> {
    let failed = |source| UpdateError::Io { path: path.to_owned(), action: "write the update", source };
    let GraphUpdate { added, removed, labels, types, type_relations } = update.clone();
    let lines = added.into_iter().map(Line::Add);
    let lines = lines.chain(removed.into_iter().map(Line::Remove));
    let lines = lines.chain(labels.into_iter().map(|(name, label)| Line::Label([name, label])));
    let lines = lines.chain(types.into_iter().map(Line::Type));
    let lines = lines.chain(type_relations.into_iter().map(Line::TypeRelation));
    let (mut text, mut count) = (Vec::new(), 0);
    for line in lines {
        serde_json::to_writer(&mut text, &line).map_err(|error| failed(error.into()))?;
        text.push(b'\n');
        count += 1;
    }
    let header = Header {
        format: FORMAT.to_owned(),
        version: VERSION,
        base,
        replaces,
        lines: count,
        checksum: xxh3_64(&text),
    };
    let header = serde_json::to_vec(&header).map_err(|error| failed(error.into()))?;
    write_file_atomically(path, |out| {
        out.write_all(&header)?;
        out.write_all(b"\n")?;
        out.write_all(&text)
    })
    .map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph_builder::{Duplicates, GraphBuilder};

    fn graph(facts: &[[&str; 3]]) -> Graph {
        let mut builder = GraphBuilder::new(Duplicates::Remove);
        for [head, relation, tail] in facts {
            builder.add_named(head, relation, tail);
        }
        builder.finish()
    }

    fn change(at: usize) -> GraphUpdate {
        let name = |of: &str, number: usize| format!("{of}{number}");
        GraphUpdate {
            added: vec![[name("new", at), "r".to_owned(), name("new", at + 1)]],
            labels: [(name("new", at), "a label\twith a tab".to_owned())].into(),
            types: [[name("new", at), "thing".to_owned()]].into(),
            type_relations: ["is a".to_owned()].into(),
            ..GraphUpdate::default()
        }
    }

    #[test]
    fn layers_are_read_in_order_and_merged_into_one() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("updates");
        let base = graph(&[["a", "r", "b"]]);
        assert_eq!(UpdateLayers::read(&path, &base).unwrap(), UpdateLayers::default());
        let _lock = UpdateLayers::lock(&path).unwrap();
        assert!(matches!(UpdateLayers::lock(&path), Err(UpdateError::Locked { .. })));
        let mut layers = UpdateLayers::read(&path, &base).unwrap();
        for at in 0..12 {
            layers.push(&path, &base, &change(at)).unwrap();
        }
        let removed =
            GraphUpdate { removed: [["a", "r", "b"].map(str::to_owned)].into(), ..GraphUpdate::default() };
        layers.push(&path, &base, &removed).unwrap();
        let before = UpdateLayers::read(&path, &base).unwrap();
        assert_eq!(before, layers);
        assert_eq!((before.layers, before.update.added.len(), before.update.removed.len()), (13, 12, 1));

        // The first layer came back after a merge, as if its removal was interrupted: it is ignored.
        let first = fs::read(layer(&path, 1)).unwrap();
        layers.merge(&path, &base).unwrap();
        fs::write(layer(&path, 1), first).unwrap();
        let after = UpdateLayers::read(&path, &base).unwrap();
        assert_eq!((after.layers, &after.update), (1, &before.update));
        layers.push(&path, &base, &change(50)).unwrap();
        assert_eq!(UpdateLayers::read(&path, &base).unwrap().update.added.len(), 13);

        // Merging is writing one layer of everything.
        let once = dir.path().join("once");
        fs::create_dir_all(&once).unwrap();
        let mut single = UpdateLayers::default();
        single.push(&once, &base, &before.update).unwrap();
        let lines = |path: PathBuf| fs::read_to_string(path).unwrap().split_once('\n').unwrap().1.to_owned();
        assert_eq!(lines(layer(&once, 1)), lines(layer(&path, 14)));
    }

    #[test]
    fn what_is_damaged_or_of_something_else_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let base = graph(&[["a", "r", "b"]]);
        let mut layers = UpdateLayers::default();
        layers.push(dir.path(), &base, &change(1)).unwrap();
        let file = layer(dir.path(), 1);
        let text = fs::read_to_string(&file).unwrap();
        let read = || UpdateLayers::read(dir.path(), &base);
        let other = graph(&[["a", "r", "c"]]);
        assert!(matches!(UpdateLayers::read(dir.path(), &other), Err(UpdateError::OtherGraph { .. })));
        fs::write(&file, text.replace("new1", "new7")).unwrap();
        assert!(read().unwrap_err().to_string().contains("checksum"));
        fs::write(&file, text.replace("\"version\":1", "\"version\":2")).unwrap();
        assert!(matches!(read(), Err(UpdateError::Version { found: 2, .. })));
        fs::write(&file, &text[..20]).unwrap();
        assert!(read().unwrap_err().to_string().contains("no header"));
        fs::write(&file, &text).unwrap();
        assert_eq!(read().unwrap().update, change(1));
        // Files of other names are left alone.
        fs::write(dir.path().join("notes.jsonl"), "?").unwrap();
        assert_eq!(read().unwrap(), layers);
    }
}
