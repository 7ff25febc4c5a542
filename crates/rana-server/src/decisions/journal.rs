//! [`Journal`]: the file of decisions. It has a header, then one JSON object per line, and is only appended to.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::decision::Decision;
use super::error::JournalError;
use super::journal_header::Beginning;
use super::sync_directory::sync_directory;
use super::torn_end::TornEnd;

/// The bytes that are read to check that a file is a journal; other files may be large.
const FIRST_BYTES: u64 = 1 << 20;

/// The file of decisions.
#[derive(Debug)]
pub(super) struct Journal {
    file: File,
    path: PathBuf,
    /// The bytes that are on disk, all of them complete lines.
    length: u64,
    /// The number of the last decision.
    last: u64,
    /// The reason why nothing can be written any more.
    broken: Option<String>,
}

/// The content of a journal when it was opened.
#[derive(Debug)]
pub(super) struct Opened {
    pub(super) journal: Journal,
    pub(super) decisions: Vec<Decision>,
    /// The incomplete end, if there was one.
    pub(super) torn: Option<TornEnd>,
}

impl Journal {
    /// Opens or creates the file with an exclusive lock, and moves an incomplete end into a file beside it.
    ///
    /// # Errors
    /// If another process has locked it, it is not a journal, a line before the end is malformed, or the system
    /// fails.
    pub(super) fn open(path: &Path) -> Result<Opened, JournalError> {
        let io = |source| JournalError::Io { path: path.to_owned(), source };
        let mut file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path).map_err(io)?;
        // Pipes and devices store nothing.
        if !file.metadata().map_err(io)?.is_file() {
            return Err(JournalError::NotAJournal { path: path.to_owned() });
        }
        file.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => JournalError::Locked { path: path.to_owned() },
            TryLockError::Error(source) => io(source),
        })?;
        let mut bytes = Vec::new();
        (&file).take(FIRST_BYTES).read_to_end(&mut bytes).map_err(io)?;
        let beginning = Beginning::of(path, &bytes)?;
        file.read_to_end(&mut bytes).map_err(io)?;
        let Lines { decisions, length, missing } = read(path, &bytes, &beginning)?;
        let end = &bytes[length..];
        let length = length as u64;
        let mut torn = None;
        if !end.is_empty() {
            // The end is saved in both files before it is removed from this one.
            torn = Some(TornEnd::save(path, &file, end)?);
            file.set_len(length).map_err(io)?;
        }
        file.seek(SeekFrom::Start(length)).map_err(io)?;
        file.write_all(missing).map_err(io)?;
        file.sync_all().map_err(io)?;
        sync_directory(path).map_err(io)?;
        let journal = Self {
            file,
            path: path.to_owned(),
            length: length + missing.len() as u64,
            last: decisions.last().map_or(0, |decision| decision.number),
            broken: None,
        };
        Ok(Opened { journal, decisions, torn })
    }

    /// The number of the next decision.
    pub(super) fn next_number(&self) -> u64 {
        self.last + 1
    }

    /// Writes decisions and waits until they are on disk.
    ///
    /// # Errors
    /// If the disk fails; then none of them is saved.
    pub(super) fn append(&mut self, decisions: &[Decision]) -> Result<(), String> {
        if let Some(broken) = &self.broken {
            return Err(broken.clone());
        }
        let mut lines = Vec::new();
        for decision in decisions {
            serde_json::to_writer(&mut lines, decision).map_err(|error| error.to_string())?;
            lines.push(b'\n');
        }
        // Clients see the reason, and need not know where the file is.
        let path = self.path.display().to_string();
        let say = |error: io::Error| {
            tracing::error!(path, %error, "decisions cannot be saved");
            error.to_string()
        };
        if let Err(error) = self.file.write_all(&lines) {
            let said = say(error);
            // Remove what was written partly, so that it does not corrupt the next line.
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
            // The content of the disk is now unknown, and a second sync might wrongly succeed.
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
    /// The end of the valid lines.
    length: usize,
    /// The bytes that the last of them lacks.
    missing: &'static [u8],
}

/// Reads lines up to the first invalid one, which must be the end: a killed writer leaves such an end.
fn read(path: &Path, bytes: &[u8], beginning: &Beginning) -> Result<Lines, JournalError> {
    let (length, missing, first) = match *beginning {
        Beginning::Header { length, missing } => (length, missing, 2),
        Beginning::Decision => (0, &b""[..], 1),
    };
    let mut lines = Lines { decisions: Vec::new(), length, missing };
    let mut rest = bytes[length..].split_inclusive(|byte| *byte == b'\n').zip(first..).peekable();
    while let Some((line, number)) = rest.next() {
        let last = lines.decisions.last().map_or(0, |decision| decision.number);
        let message = match serde_json::from_slice::<Decision>(line) {
            Ok(decision) if decision.number > last => {
                lines.decisions.push(decision);
                lines.length += line.len();
                lines.missing = if line.ends_with(b"\n") { b"" } else { b"\n" };
                continue;
            }
            Ok(decision) => format!("decision {} comes after decision {last}", decision.number),
            Err(error) => format!("{error}; expected a decision, as the lines around it have"),
        };
        // A killed writer leaves an incomplete last line, and a failed disk zeros. Anything else is damage.
        let is_torn = rest.peek().is_none() || line.contains(&0);
        if !is_torn || Decision::is_line(line) || rest.any(|(line, _)| Decision::is_line(line)) {
            return Err(JournalError::Malformed { path: path.to_owned(), line: number, message });
        }
        break;
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::super::decision::{Draft, Verdict};
    use super::super::journal_header::HEADER;
    use super::*;
    use proptest::prelude::*;
    use std::fs;
    use std::time::{Duration, SystemTime};

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
        fs::read(path).unwrap()
    }

    /// A journal as older versions wrote it, without a header.
    fn headerless(range: std::ops::Range<u64>) -> Vec<u8> {
        decisions(range)
            .iter()
            .flat_map(|decision| serde_json::to_vec(decision).unwrap().into_iter().chain([b'\n']))
            .collect()
    }

    /// Opens a file that must be rejected, and checks that it is unchanged.
    fn refused(bytes: &[u8]) -> JournalError {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("decisions.jsonl");
        fs::write(&path, bytes).unwrap();
        let old = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
        File::options().write(true).open(&path).unwrap().set_modified(old).unwrap();
        let error = Journal::open(&path).unwrap_err();
        assert!(fs::read(&path).unwrap() == bytes, "changed, and then: {error}");
        assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), old, "{error}");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "{error}");
        error
    }

    #[test]
    fn is_read_back_as_it_was_written() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("decisions.jsonl");
        let bytes = written(&path, 5);
        assert_eq!(bytes, [HEADER.as_bytes(), &headerless(1..6)].concat());
        let Opened { mut journal, decisions: found, torn } = Journal::open(&path).unwrap();
        assert_eq!((found, torn, journal.next_number()), (decisions(1..6), None, 6));
        journal.append(&decisions(6..8)).unwrap();
        drop(journal);
        assert_eq!(Journal::open(&path).unwrap().decisions, decisions(1..8));
    }

    #[test]
    fn a_header_is_completed_wherever_its_writer_was_killed() {
        for length in 0..=HEADER.len() {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("decisions.jsonl");
            fs::write(&path, &HEADER[..length]).unwrap();
            let Opened { mut journal, decisions: found, torn } = Journal::open(&path).unwrap();
            assert_eq!((found, torn), (Vec::new(), None));
            assert_eq!(fs::read_to_string(&path).unwrap(), HEADER);
            journal.append(&decisions(1..3)).unwrap();
            drop(journal);
            assert_eq!(Journal::open(&path).unwrap().decisions, decisions(1..3));
        }
    }

    #[test]
    fn one_server_at_a_time() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("decisions.jsonl");
        let first = Journal::open(&path).unwrap();
        let error = Journal::open(&path).unwrap_err();
        assert!(error.to_string().contains("another server saves its decisions here"), "{error}");
        drop(first);
        assert!(Journal::open(&path).is_ok());
    }

    #[test]
    fn damage_before_the_end_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let bytes = written(&dir.path().join("decisions.jsonl"), 3);
        let old = headerless(1..4);
        let line = (bytes.len() - HEADER.len()) / 3;
        for (whole, place, number) in [
            (&bytes, 0, 1),
            (&bytes, HEADER.len(), 2),
            (&bytes, HEADER.len() + line + 10, 3),
            (&old, 0, 1),
            (&old, line + 10, 2),
        ] {
            for damage in [b'\x01', b'\0'] {
                let mut damaged = whole.clone();
                damaged[place] = damage;
                let error = refused(&damaged);
                assert!(error.to_string().contains(&format!("line {number}: ")), "{error}");
            }
        }
        let error = refused(&[&bytes, &bytes[HEADER.len()..]].concat());
        assert!(error.to_string().contains("line 5: decision 1 comes after decision 3"), "{error}");
        let error = refused(&[&bytes, &b" "[..], &headerless(1..2)].concat());
        assert!(error.to_string().contains("line 5: decision 1 comes after decision 3"), "{error}");
        let error = refused(&[&bytes, &b"one\ntwo\n"[..]].concat());
        assert!(error.to_string().contains("line 5: "), "{error}");
        let error = Journal::open(dir.path()).unwrap_err();
        assert!(error.to_string().contains("the decisions cannot be read or written"), "{error}");
    }

    #[test]
    #[cfg(unix)]
    fn what_keeps_nothing_is_no_journal() {
        let error = Journal::open(Path::new("/dev/null")).unwrap_err();
        assert!(matches!(error, JournalError::NotAJournal { .. }), "{error}");
    }

    #[test]
    fn a_line_without_its_end_counts_if_it_is_whole() {
        for beginning in [HEADER, ""] {
            for count in [1, 3] {
                let dir = tempfile::tempdir().unwrap();
                let path = dir.path().join("decisions.jsonl");
                let bytes = [beginning.as_bytes(), headerless(1..count + 1).trim_ascii_end()].concat();
                fs::write(&path, bytes).unwrap();
                let Opened { mut journal, decisions: found, torn } = Journal::open(&path).unwrap();
                assert_eq!((found, torn), (decisions(1..count + 1), None));
                journal.append(&decisions(count + 1..count + 2)).unwrap();
                drop(journal);
                assert_eq!(Journal::open(&path).unwrap().decisions, decisions(1..count + 2));
            }
        }
    }

    #[test]
    fn a_last_line_that_is_no_decision_is_moved_aside() {
        for beginning in [HEADER, ""] {
            for end in [
                "{\"number\":3,\"relat",
                "{\"number\":3,\"re\0\0\0",
                "{\"number\":3,\"re\0\0\n\0",
                "nothing\n",
            ] {
                let dir = tempfile::tempdir().unwrap();
                let path = dir.path().join("decisions.jsonl");
                let whole = [beginning.as_bytes(), &headerless(1..3)].concat();
                fs::write(&path, [&whole, end.as_bytes()].concat()).unwrap();
                let Opened { journal, decisions: found, torn } = Journal::open(&path).unwrap();
                assert_eq!((found, journal.next_number()), (decisions(1..3), 3));
                let torn = torn.unwrap();
                assert_eq!(torn.path(), dir.path().join("decisions.jsonl.torn-1"));
                assert_eq!(fs::read_to_string(torn.path()).unwrap(), end);
                assert_eq!(fs::read(&path).unwrap(), whole);
            }
        }
    }

    /// If no file can be created beside a journal, its incomplete end stays where it is.
    #[test]
    #[cfg(target_os = "linux")]
    fn an_end_that_cannot_be_saved_is_not_cut_off() {
        let dir = tempfile::tempdir().unwrap();
        // The longest name that is allowed.
        let path = dir.path().join("d".repeat(255));
        let bytes = [HEADER.as_bytes(), &headerless(1..3), b"{\"number\":3,"].concat();
        fs::write(&path, &bytes).unwrap();
        let error = Journal::open(&path).unwrap_err();
        assert!(matches!(error, JournalError::Torn { .. }), "{error}");
        assert_eq!(fs::read(&path).unwrap(), bytes);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    /// A file of any kind, often close to a journal.
    fn anything() -> impl Strategy<Value = Vec<u8>> {
        let line = headerless(1..2);
        let piece = prop_oneof![
            prop::collection::vec(any::<u8>(), 0..20),
            Just(b"\n".to_vec()),
            Just(vec![0; 5]),
            Just(b"{\"rana-decisions\":2}\n".to_vec()),
            (0..=HEADER.len()).prop_map(|length| HEADER.as_bytes()[..length].to_vec()),
            (0..=line.len()).prop_map(move |length| line[..length].to_vec()),
            (1_u64..4).prop_map(|number| headerless(number..number + 1)),
        ];
        let beginning =
            prop_oneof![Just(Vec::new()), Just(HEADER.as_bytes().to_vec()), Just(headerless(1..2))];
        let rest = prop::collection::vec(piece, 0..5).prop_map(|pieces| pieces.concat());
        (beginning, rest).prop_map(|(beginning, rest)| [beginning, rest].concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn wherever_a_writer_was_killed(cut in 0_usize..700, garbage in prop::collection::vec(0_u8..=1, 0..40)) {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("decisions.jsonl");
            let bytes = written(&path, 6);
            let cut = HEADER.len() + cut.min(bytes.len() - HEADER.len());
            // A disk may also have reserved space for bytes that were never written.
            let left = [&bytes[..cut], &garbage[..]].concat();
            fs::write(&path, &left).unwrap();
            let whole = bytes[HEADER.len()..cut].iter().filter(|byte| **byte == b'\n').count() as u64;
            let Opened { mut journal, decisions: found, torn } = Journal::open(&path).unwrap();
            let count = found.len() as u64;
            // The last line may be complete except for its line break.
            prop_assert!(count == whole || (count == whole + 1 && garbage.is_empty()), "{count} of {whole}");
            prop_assert_eq!(&found, &decisions(1..count + 1));
            if let Some(torn) = torn {
                let parts = [fs::read(&path).unwrap(), fs::read(torn.path()).unwrap()];
                prop_assert_eq!(parts.concat(), left);
            }
            journal.append(&decisions(count + 1..count + 3)).unwrap();
            drop(journal);
            prop_assert_eq!(Journal::open(&path).unwrap().decisions, decisions(1..count + 3));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]
        #[test]
        fn no_file_loses_a_byte(bytes in anything()) {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("decisions.jsonl");
            fs::write(&path, &bytes).unwrap();
            let opened = Journal::open(&path);
            let after = fs::read(&path).unwrap();
            let files = fs::read_dir(dir.path()).unwrap().count();
            let Ok(Opened { torn, .. }) = opened else {
                prop_assert_eq!((after, files), (bytes, 1));
                return Ok(());
            };
            let is_unfinished_header = HEADER.as_bytes().starts_with(&bytes);
            let is_journal = bytes.starts_with(HEADER.as_bytes()) || bytes.starts_with(b"{\"number\":");
            prop_assert!(is_journal || is_unfinished_header);
            let end = torn.as_ref().map_or(Vec::new(), |torn| fs::read(torn.path()).unwrap());
            let kept = &bytes[..bytes.len() - end.len()];
            prop_assert!(after.starts_with(kept) && bytes.ends_with(&end));
            prop_assert_eq!(files, 1 + usize::from(torn.is_some()));
        }

        #[test]
        fn what_is_no_journal_is_never_changed(bytes in prop::collection::vec(any::<u8>(), 1..300)) {
            prop_assume!(!HEADER.as_bytes().starts_with(&bytes));
            let error = refused(&bytes);
            prop_assert!(matches!(error, JournalError::NotAJournal { .. }), "{}", error);
        }
    }
}
