//! [`Discovery`]: the best new facts of all relations in one list.
//!
//! Each relation that is done is a part: a file beside the result, written at once and then never changed. After an
//! interruption, the relations that have a part are not looked at again. At the end the best of all parts are merged.

use std::fs;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use rana_graph::{EntityId, Observer, Pair, RelationId, Unit, write_file_atomically};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::discoverer::{DiscoverLimits, Discovered, Discoverer, falling};
use super::discovery_error::DiscoveryError;

/// What identifies the parts of a directory.
const IDENTITY: &str = "discovery.json";
/// Relations that are looked at together; a stop waits for them.
const TOGETHER: usize = 16;

/// What is collected.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Discovery {
    /// How much is looked for in each relation.
    pub limits: DiscoverLimits,
    /// The most facts of the list; as many as there are if not given.
    pub top: Option<usize>,
    /// Only these relations; all if empty.
    pub relations: Vec<RelationId>,
    /// Only the relations of a part: which one, from 0, and of how many.
    pub shard: Option<(usize, usize)>,
}

/// A new fact of the list.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedDiscovery {
    /// The relation.
    pub relation: RelationId,
    /// Head and tail.
    pub pair: Pair,
    /// The share of known facts among the pairs that the best rule leads to.
    pub confidence: f32,
    /// The best rule in words.
    pub reason: String,
}

/// What was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DiscoveryReport {
    /// How many relations were looked at, now or before an interruption.
    pub relations: usize,
    /// How many of them were looked at before.
    pub resumed: usize,
    /// How many new facts were found in all of them.
    pub found: usize,
}

/// A line of a part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Line {
    head: u32,
    tail: u32,
    confidence: f32,
    next: [f32; 2],
    reason: String,
}

/// What parts are of.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Identity {
    format: String,
    version: u32,
    graph: String,
    per_relation: usize,
    min_confidence: f32,
    work: usize,
}

impl Discovery {
    /// Collects the best new facts. With a directory for parts, an interrupted collection is resumed there; the directory
    /// is removed by the caller when the result is safe.
    ///
    /// # Errors
    /// If the parts are of something else, `observer` asks to stop, or the disk refuses.
    pub fn run(
        &self,
        discoverer: &Discoverer,
        parts: Option<&Path>,
        observer: &dyn Observer,
    ) -> Result<(Vec<NamedDiscovery>, DiscoveryReport), DiscoveryError> {
        let relations = self.chosen(discoverer);
        if let Some(parts) = parts {
            self.claim(discoverer, parts)?;
        }
        let mut report = DiscoveryReport { relations: relations.len(), ..DiscoveryReport::default() };
        let mut best = Best { top: self.top, all: Vec::new() };
        observer.begin("looking for new facts", Some(relations.len() as u64), Unit::Steps);
        let miner = discoverer.miner();
        for together in relations.chunks(TOGETHER) {
            let of = |&relation: &RelationId| -> Result<(RelationId, Vec<Line>, bool), DiscoveryError> {
                let part = parts.map(|parts| parts.join(format!("{}.jsonl", relation.number())));
                if let Some(part) = &part
                    && let Some(lines) = read_part(part)?
                {
                    return Ok((relation, lines, true));
                }
                let found = discoverer.discover_with(&miner, relation, &self.limits);
                let line = |of: &Discovered| Line {
                    head: of.pair.head.0,
                    tail: of.pair.tail.0,
                    confidence: of.confidence,
                    next: of.next,
                    reason: of.rule.text(discoverer.graph()),
                };
                let lines: Vec<Line> = found.iter().map(line).collect();
                if let Some(part) = &part {
                    write_part(part, &lines)?;
                }
                Ok((relation, lines, false))
            };
            let done = together.par_iter().map(of).collect::<Result<Vec<_>, DiscoveryError>>()?;
            for (relation, lines, was_done) in done {
                report.resumed += usize::from(was_done);
                report.found += lines.len();
                best.add(relation, lines);
            }
            observer.advance(together.len() as u64);
            if observer.should_stop() {
                return Err(DiscoveryError::Stopped);
            }
        }
        observer.end();
        Ok((best.finish(), report))
    }

    /// The relations that are looked at. Those of all shards together are all.
    fn chosen(&self, discoverer: &Discoverer) -> Vec<RelationId> {
        let all = discoverer.relations();
        let (number, of) = self.shard.unwrap_or((0, 1));
        let wanted = all.into_iter().filter(|of| self.relations.is_empty() || self.relations.contains(of));
        wanted.skip(number).step_by(of.max(1)).collect()
    }

    /// Makes a directory for parts, or checks that there are parts of the same.
    fn claim(&self, discoverer: &Discoverer, parts: &Path) -> Result<(), DiscoveryError> {
        let DiscoverLimits { top, min_confidence, work } = self.limits;
        let own = Identity {
            format: "rana-discovery".to_owned(),
            version: 1,
            graph: format!("{:016x}", discoverer.graph().fingerprint()),
            per_relation: top,
            min_confidence,
            work,
        };
        let file = parts.join(IDENTITY);
        match fs::read(&file) {
            Ok(text) => match serde_json::from_slice::<Identity>(&text) {
                Ok(earlier) if earlier == own => Ok(()),
                _ => Err(DiscoveryError::Other { path: parts.to_owned() }),
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let failed = |action, source| DiscoveryError::Io { path: file.clone(), action, source };
                fs::create_dir_all(parts).map_err(|source| failed("create the directory", source))?;
                let text = serde_json::to_vec_pretty(&own).map_err(io::Error::from);
                text.and_then(|text| write_file_atomically(&file, |out| out.write_all(&text)))
                    .map_err(|source| failed("write the file", source))
            }
            Err(source) => Err(DiscoveryError::Io { path: file, action: "read the file", source }),
        }
    }
}

/// The best facts so far.
struct Best {
    top: Option<usize>,
    all: Vec<(RelationId, Line)>,
}

impl Best {
    fn add(&mut self, relation: RelationId, lines: Vec<Line>) {
        self.all.extend(lines.into_iter().map(|line| (relation, line)));
        // No more wait in memory than twice those that are wanted and what one relation adds.
        if let Some(top) = self.top.filter(|&top| self.all.len() > 2 * top) {
            self.sort();
            self.all.truncate(top);
        }
    }

    fn sort(&mut self) {
        self.all.sort_unstable_by(|(relation, one), (other_relation, other)| {
            let strength = |of: &Line| [of.confidence, of.next[0], of.next[1]];
            let order = falling(strength(one), strength(other));
            order.then((relation, one.head, one.tail).cmp(&(other_relation, other.head, other.tail)))
        });
    }

    fn finish(mut self) -> Vec<NamedDiscovery> {
        self.sort();
        self.all.truncate(self.top.unwrap_or(usize::MAX));
        let named = |(relation, line): (RelationId, Line)| NamedDiscovery {
            relation,
            pair: Pair { head: EntityId(line.head), tail: EntityId(line.tail) },
            confidence: line.confidence,
            reason: line.reason,
        };
        self.all.into_iter().map(named).collect()
    }
}

/// A part that was written before, if there is one.
fn read_part(path: &Path) -> Result<Option<Vec<Line>>, DiscoveryError> {
    let io = |source| DiscoveryError::Io { path: path.to_owned(), action: "read the part", source };
    let file = match fs::File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(io(source)),
    };
    let mut lines = Vec::new();
    for line in BufReader::new(file).lines() {
        let malformed = |error: serde_json::Error| DiscoveryError::Malformed {
            path: PathBuf::from(path),
            message: error.to_string(),
        };
        lines.push(serde_json::from_str(&line.map_err(io)?).map_err(malformed)?);
    }
    Ok(Some(lines))
}

fn write_part(path: &Path, lines: &[Line]) -> Result<(), DiscoveryError> {
    write_file_atomically(path, |out| {
        for line in lines {
            serde_json::to_writer(&mut *out, line).map_err(io::Error::from)?;
            out.write_all(b"\n")?;
        }
        Ok(())
    })
    .map_err(|source: io::Error| DiscoveryError::Io {
        path: path.to_owned(),
        action: "write the part",
        source,
    })
}
