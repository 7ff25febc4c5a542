//! A generated graph as files: a release directory, or the background facts alone.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use serde::Serialize;

use super::background::BackgroundCounts;
use super::config::SynthConfig;
use super::error::SynthError;
use super::few_shot_relations::{FewShot, SynthTask};
use super::generator::{BUFFER, Synth};
use crate::atomic_file::beside;
use crate::observer::Observer;
use crate::split::Split;
use crate::unfinished::Unfinished;

/// What was generated.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SynthReport {
    /// Background facts by kind.
    pub background: BackgroundCounts,
    /// Facts of all few-shot relations; none are generated when only the background is written.
    pub few_shot_facts: u64,
}

/// Writes the background facts as lines `head TAB relation TAB tail`.
///
/// # Errors
/// If the writer fails.
pub fn write_tsv(
    mut writer: impl Write,
    config: &SynthConfig,
    observer: &dyn Observer,
) -> Result<SynthReport, SynthError> {
    let (_, background) =
        Synth::new(config).write_background(&mut writer, observer).map_err(SynthError::Write)?;
    Ok(SynthReport { background, few_shot_facts: 0 })
}

/// Writes a release directory in the public format of NELL-One, which must not exist or be empty.
///
/// The files are written and synced in a temporary directory beside it, which is renamed at the end, so
/// that an interrupted call leaves no incomplete release under the name.
///
/// # Errors
/// If the directory is not empty, or cannot be written.
pub fn write_release(
    dir: &Path,
    config: &SynthConfig,
    observer: &dyn Observer,
) -> Result<SynthReport, SynthError> {
    refuse_occupied(dir)?;
    let unfinished = Unfinished::at(beside(dir).map_err(SynthError::io(dir, "find a place beside it"))?);
    let place = unfinished.path();
    fs::create_dir_all(place).map_err(SynthError::io(place, "create the directory"))?;
    let report = Release { dir: place, synth: Synth::new(config) }.write(observer)?;
    put_in_place(place, dir)?;
    Ok(report)
}

fn refuse_occupied(dir: &Path) -> Result<(), SynthError> {
    let occupied = || SynthError::Occupied { path: dir.to_owned() };
    match fs::read_dir(dir) {
        Ok(mut entries) => entries.next().map_or(Ok(()), |_| Err(occupied())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => Err(occupied()),
        Err(error) => Err(SynthError::io(dir, "list the directory")(error)),
    }
}

fn put_in_place(unfinished: &Path, dir: &Path) -> Result<(), SynthError> {
    // Not every system renames onto an empty directory.
    match fs::remove_dir(dir) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(SynthError::io(dir, "replace the empty directory")(error));
        }
        _ => {}
    }
    fs::rename(unfinished, dir).map_err(SynthError::io(dir, "move the finished directory here"))
}

struct Release<'a> {
    dir: &'a Path,
    synth: Synth<'a>,
}

impl Release<'_> {
    fn write(&self, observer: &dyn Observer) -> Result<SynthReport, SynthError> {
        let (known, background) =
            self.file("path_graph", |out| self.synth.write_background(out, observer))?;
        let mut few_shot = self.synth.few_shot(&known);
        let tasks = few_shot.draw();
        for split in Split::ALL {
            self.file(&format!("{split}_tasks.json"), |out| self.write_tasks(out, &tasks, split))?;
        }
        self.file("rel2candidates.json", |out| self.write_candidates(out, &tasks, &mut few_shot))?;
        self.file("e1rel_e2.json", |out| self.write_filter(out, &tasks))?;
        self.file("ent2ids", |out| self.write_entity_ids(out))?;
        self.file("relation2ids", |out| self.write_relation_ids(out))?;
        let few_shot_facts = tasks.iter().map(|task| task.facts.len() as u64).sum();
        Ok(SynthReport { background, few_shot_facts })
    }

    fn file<T>(
        &self,
        name: &str,
        write: impl FnOnce(&mut dyn Write) -> io::Result<T>,
    ) -> Result<T, SynthError> {
        let path = self.dir.join(name);
        let fill = || {
            let mut out = BufWriter::with_capacity(BUFFER, File::create(&path)?);
            let value = write(&mut out)?;
            out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
            Ok(value)
        };
        fill().map_err(SynthError::io(&path, "write the file"))
    }

    fn write_tasks(&self, out: &mut dyn Write, tasks: &[SynthTask], split: Split) -> io::Result<()> {
        let mut object = JsonObject::begin(out)?;
        for task in tasks.iter().filter(|task| task.split == split) {
            let facts = task.facts.iter().map(|&(head, tail)| {
                let (head, tail) = (self.synth.space.name(head), self.synth.space.name(tail));
                format!("[\"{head}\", \"{}\", \"{tail}\"]", task.name)
            });
            object.array(&task.name, facts)?;
        }
        object.end()
    }

    fn write_candidates(
        &self,
        out: &mut dyn Write,
        tasks: &[SynthTask],
        few_shot: &mut FewShot<'_>,
    ) -> io::Result<()> {
        let mut object = JsonObject::begin(out)?;
        for task in tasks {
            object.array(&task.name, self.quoted(few_shot.candidates(task)))?;
        }
        object.end()
    }

    fn write_filter(&self, out: &mut dyn Write, tasks: &[SynthTask]) -> io::Result<()> {
        let mut object = JsonObject::begin(out)?;
        for task in tasks {
            let mut tails: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
            for &(head, tail) in &task.facts {
                tails.entry(head).or_default().push(tail);
            }
            for (head, tails) in tails {
                let key = format!("{}{}", self.synth.space.name(head), task.name);
                object.array(&key, self.quoted(tails))?;
            }
        }
        object.end()
    }

    fn write_entity_ids(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut object = JsonObject::begin(out)?;
        for entity in 0..self.synth.space.entities() {
            object.entry(&self.synth.space.name(entity), &entity)?;
        }
        object.end()
    }

    fn write_relation_ids(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut object = JsonObject::begin(out)?;
        for (number, name) in self.synth.relation_names().enumerate() {
            object.entry(&name, &(2 * number))?;
            object.entry(&format_args!("{name}_inv"), &(2 * number + 1))?;
        }
        object.end()
    }

    fn quoted(&self, entities: Vec<u32>) -> impl Iterator<Item = String> + '_ {
        entities.into_iter().map(|entity| format!("\"{}\"", self.synth.space.name(entity)))
    }
}

/// A JSON object written entry by entry; keys are generated names, which need no escaping.
struct JsonObject<'w> {
    out: &'w mut dyn Write,
    first: bool,
}

impl<'w> JsonObject<'w> {
    fn begin(out: &'w mut dyn Write) -> io::Result<Self> {
        out.write_all(b"{")?;
        Ok(Self { out, first: true })
    }

    fn key(&mut self, key: &dyn Display) -> io::Result<()> {
        let comma = if std::mem::take(&mut self.first) { "" } else { "," };
        write!(self.out, "{comma}\n\"{key}\": ")
    }

    fn entry(&mut self, key: &dyn Display, value: &dyn Display) -> io::Result<()> {
        self.key(key)?;
        write!(self.out, "{value}")
    }

    /// Writes an array of values that are JSON already.
    fn array(&mut self, key: &dyn Display, values: impl Iterator<Item = String>) -> io::Result<()> {
        self.key(key)?;
        let mut separator = "[";
        for value in values {
            write!(self.out, "{separator}{value}")?;
            separator = ", ";
        }
        self.out.write_all(b"]")
    }

    fn end(self) -> io::Result<()> {
        self.out.write_all(b"\n}\n")
    }
}
