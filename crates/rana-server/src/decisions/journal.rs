//! [`Journal`]: the file that keeps decisions, one JSON object a line, only ever appended to.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::decision::Decision;

/// The file that keeps decisions.
#[derive(Debug)]
pub(super) struct Journal {
    file: File,
    path: PathBuf,
    /// How many bytes are known to be on the disk, whole lines all of them.
    length: u64,
    /// The number of the last decision.
    last: u64,
    /// Why nothing can be written any more.
    broken: Option<String>,
}

/// What a journal held when it was opened.
#[derive(Debug)]
pub(super) struct Opened {
    pub(super) journal: Journal,
    pub(super) decisions: Vec<Decision>,
    /// How many bytes of an unfinished line were cut off its end.
    pub(super) cut: u64,
}

/// Why the file of decisions cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The operating system refused.
    #[error("{}: the decisions cannot be read or written: {source}. Say another file, or mend this one", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Another server uses it.
    #[error("{}: another server keeps its decisions here. Stop it, or say another file", path.display())]
    Locked {
        /// The file.
        path: PathBuf,
    },
    /// A line in the middle makes no sense.
    #[error(
        "{}, line {line}: {message}. Expected one decision, as the lines around it have; mend the line or move the file \
         away",
        path.display()
    )]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        message: String,
    },
}

impl Journal {
    /// Opens or makes the file, for nobody else meanwhile, and cuts off a line that was not finished.
    ///
    /// # Errors
    /// If another process has it, a line before the end makes no sense, or the system refuses.
    pub(super) fn open(path: &Path) -> Result<Opened, JournalError> {
        let io = |source| JournalError::Io { path: path.to_owned(), source };
        let mut file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path).map_err(io)?;
        file.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => JournalError::Locked { path: path.to_owned() },
            TryLockError::Error(source) => io(source),
        })?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(io)?;
        let Lines { decisions, length, is_ended } = read(path, &bytes)?;
        file.set_len(length).map_err(io)?;
        file.seek(SeekFrom::Start(length)).map_err(io)?;
        let mut journal = Self {
            file,
            path: path.to_owned(),
            length,
            last: decisions.last().map_or(0, |decision| decision.number),
            broken: None,
        };
        if !is_ended {
            journal.file.write_all(b"\n").map_err(io)?;
            journal.length += 1;
        }
        journal.file.sync_all().map_err(io)?;
        // A new file is only kept once its directory is.
        sync_directory(path).map_err(io)?;
        let cut = bytes.len() as u64 - length;
        Ok(Opened { journal, decisions, cut })
    }

    /// The number of the next decision.
    pub(super) fn next_number(&self) -> u64 {
        self.last + 1
    }

    /// Writes decisions and waits until the disk has them.
    ///
    /// # Errors
    /// If the disk refuses; then none of them counts.
    pub(super) fn append(&mut self, decisions: &[Decision]) -> Result<(), String> {
        if let Some(broken) = &self.broken {
            return Err(broken.clone());
        }
        let mut lines = Vec::new();
        for decision in decisions {
            serde_json::to_writer(&mut lines, decision).map_err(|error| error.to_string())?;
            lines.push(b'\n');
        }
        let say = |error: io::Error| format!("{}: {error}", self.path.display());
        if let Err(error) = self.file.write_all(&lines) {
            let said = say(error);
            // What half arrived must not stand before what comes next.
            let restored = self
                .file
                .set_len(self.length)
                .and_then(|()| self.file.seek(SeekFrom::Start(self.length)))
                .and_then(|_| self.file.sync_data());
            if restored.is_err() {
                self.broken = Some(said.clone());
            }
            return Err(said);
        }
        if let Err(error) = self.file.sync_data() {
            // Nobody knows what the disk has now, and a second sync may say that all is well.
            let said = format!("{}; start the server again", say(error));
            self.broken = Some(said.clone());
            return Err(said);
        }
        self.length += lines.len() as u64;
        self.last = decisions.last().map_or(self.last, |decision| decision.number);
        Ok(())
    }
}

struct Lines {
    decisions: Vec<Decision>,
    /// Up to where lines make sense.
    length: u64,
    /// Whether the last of them ends with a line break.
    is_ended: bool,
}

/// Reads lines up to the first that makes no sense, which must be the end: what a killed writer leaves.
fn read(path: &Path, bytes: &[u8]) -> Result<Lines, JournalError> {
    let mut lines = Lines { decisions: Vec::new(), length: 0, is_ended: true };
    let mut rest = bytes.split_inclusive(|byte| *byte == b'\n').enumerate();
    for (number, line) in rest.by_ref() {
        let last = lines.decisions.last().map_or(0, |decision| decision.number);
        let message = match serde_json::from_slice::<Decision>(line) {
            Ok(decision) if decision.number > last => {
                lines.decisions.push(decision);
                lines.length += line.len() as u64;
                lines.is_ended = line.ends_with(b"\n");
                continue;
            }
            Ok(decision) => format!("decision {} stands behind decision {last}", decision.number),
            Err(error) => error.to_string(),
        };
        // A killed writer leaves a line without an end, a lost disk zeros. Anything else is not ours to cut off.
        let was_cut = !line.ends_with(b"\n") || line.contains(&0);
        let is_sound = |line: &[u8]| serde_json::from_slice::<Decision>(line).is_ok();
        if !was_cut || is_sound(line) || rest.any(|(_, line)| is_sound(line)) {
            return Err(JournalError::Malformed { path: path.to_owned(), line: number + 1, message });
        }
        break;
    }
    Ok(lines)
}

fn sync_directory(path: &Path) -> io::Result<()> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // Windows cannot open directories as files and needs no such sync.
    if cfg!(unix) { File::open(parent)?.sync_all() } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::super::decision::{Draft, Verdict};
    use super::*;
    use proptest::prelude::*;

    fn decisions(range: std::ops::Range<u64>) -> Vec<Decision> {
        let decision = |number: u64| {
            let draft = Draft {
                relation: "treats\n\"".to_owned(),
                head: format!("é{number}"),
                tail: "pain".to_owned(),
                verdict: if number.is_multiple_of(3) { Verdict::Rejected } else { Verdict::Accepted },
                score: Some(number as f64 / 7.0),
                confidence: None,
            };
            Decision::new(number, draft, "2026-11-16T12:00:00Z".to_owned())
        };
        range.map(decision).collect()
    }

    fn written(path: &Path, count: u64) -> Vec<u8> {
        let mut journal = Journal::open(path).unwrap().journal;
        journal.append(&decisions(1..count + 1)).unwrap();
        std::fs::read(path).unwrap()
    }

    #[test]
    fn is_read_back_as_it_was_written() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("decisions.jsonl");
        written(&path, 5);
        let Opened { mut journal, decisions: found, cut } = Journal::open(&path).unwrap();
        assert_eq!((found, cut, journal.next_number()), (decisions(1..6), 0, 6));
        journal.append(&decisions(6..8)).unwrap();
        drop(journal);
        assert_eq!(Journal::open(&path).unwrap().decisions, decisions(1..8));
    }

    #[test]
    fn one_server_at_a_time() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("decisions.jsonl");
        let first = Journal::open(&path).unwrap();
        let error = Journal::open(&path).unwrap_err();
        assert!(error.to_string().contains("another server keeps its decisions here"), "{error}");
        drop(first);
        assert!(Journal::open(&path).is_ok());
    }

    #[test]
    fn damage_before_the_end_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("decisions.jsonl");
        let bytes = written(&path, 3);
        let mut damaged = bytes.clone();
        damaged[0] = b'x';
        std::fs::write(&path, &damaged).unwrap();
        let error = Journal::open(&path).unwrap_err();
        assert!(error.to_string().contains("line 1: "), "{error}");
        assert_eq!(std::fs::read(&path).unwrap(), damaged, "left as it is");
        std::fs::write(&path, [&bytes[..], &bytes[..]].concat()).unwrap();
        let error = Journal::open(&path).unwrap_err();
        assert!(error.to_string().contains("line 4: decision 1 stands behind decision 3"), "{error}");
        let error = Journal::open(dir.path()).unwrap_err();
        assert!(error.to_string().contains("the decisions cannot be read or written"), "{error}");
    }

    #[test]
    fn a_line_without_its_end_counts_if_it_is_whole() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("decisions.jsonl");
        let bytes = written(&path, 3);
        std::fs::write(&path, &bytes[..bytes.len() - 1]).unwrap();
        let Opened { mut journal, decisions: found, cut } = Journal::open(&path).unwrap();
        assert_eq!((found.len(), cut), (3, 0));
        journal.append(&decisions(4..5)).unwrap();
        drop(journal);
        assert_eq!(Journal::open(&path).unwrap().decisions, decisions(1..5));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn wherever_a_writer_was_killed(cut in 0_usize..700, garbage in prop::collection::vec(0_u8..=1, 0..40)) {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("decisions.jsonl");
            let bytes = written(&path, 6);
            let cut = cut.min(bytes.len());
            // A disk may also have made room for bytes that never came.
            std::fs::write(&path, [&bytes[..cut], &garbage[..]].concat()).unwrap();
            let whole = bytes[..cut].iter().filter(|byte| **byte == b'\n').count() as u64;
            let Opened { mut journal, decisions: found, .. } = Journal::open(&path).unwrap();
            let count = found.len() as u64;
            // The last line may be whole but for its end.
            prop_assert!(count == whole || (count == whole + 1 && garbage.is_empty()), "{count} of {whole}");
            prop_assert_eq!(&found, &decisions(1..count + 1));
            journal.append(&decisions(count + 1..count + 3)).unwrap();
            drop(journal);
            prop_assert_eq!(Journal::open(&path).unwrap().decisions, decisions(1..count + 3));
        }
    }
}
