//! [`TornEnd`]: the incomplete end of a journal, saved in a file beside it.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::error::JournalError;
use super::sync_directory::sync_directory;

/// The incomplete end of a journal, saved in a file beside it. A crash leaves such an end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TornEnd {
    journal: PathBuf,
    path: PathBuf,
    length: u64,
}

impl TornEnd {
    /// Copies the end of a journal into a new file beside it and waits until it is on disk.
    ///
    /// # Errors
    /// If the system fails.
    pub(super) fn save(journal: &Path, file: &File, end: &[u8]) -> Result<Self, JournalError> {
        let (path, mut copy) = new_file(journal)?;
        let mut write = || {
            // The copy has the same permissions as the journal.
            copy.set_permissions(file.metadata()?.permissions())?;
            copy.write_all(end)?;
            copy.sync_all()?;
            sync_directory(&path)
        };
        match write() {
            Ok(()) => Ok(Self { journal: journal.to_owned(), path, length: end.len() as u64 }),
            Err(source) => {
                // The journal still has everything, so remove the incomplete copy.
                let _ = fs::remove_file(&path);
                Err(JournalError::Torn { journal: journal.to_owned(), path, source })
            }
        }
    }

    /// The file with the end.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its length in bytes.
    #[must_use]
    pub fn length(&self) -> u64 {
        self.length
    }
}

impl fmt::Display for TornEnd {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { journal, path, length } = self;
        write!(
            out,
            "{}: the last decision is incomplete, as after a crash; its {length} bytes were moved to {}",
            journal.display(),
            path.display()
        )
    }
}

/// Creates the first of the files `JOURNAL.torn-1`, `JOURNAL.torn-2`, … that does not exist.
fn new_file(journal: &Path) -> Result<(PathBuf, File), JournalError> {
    let mut number = 1_u64;
    loop {
        let mut path = journal.as_os_str().to_owned();
        path.push(format!(".torn-{number}"));
        let path = PathBuf::from(path);
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(file) => return Ok((path, file)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            Err(source) => return Err(JournalError::Torn { journal: journal.to_owned(), path, source }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_file_is_overwritten() {
        let dir = tempfile::tempdir().unwrap();
        let journal = dir.path().join("decisions.jsonl");
        let file = File::create_new(&journal).unwrap();
        let aside = |number: usize| dir.path().join(format!("decisions.jsonl.torn-{number}"));
        fs::write(aside(1), "another's").unwrap();
        fs::create_dir(aside(2)).unwrap();
        for number in [3, 4] {
            let torn = TornEnd::save(&journal, &file, b"{\"num").unwrap();
            assert_eq!((torn.path(), torn.length()), (&*aside(number), 5));
            assert_eq!(fs::read(aside(number)).unwrap(), b"{\"num");
        }
        assert_eq!(fs::read(aside(1)).unwrap(), b"another's");
    }

    #[test]
    #[cfg(unix)]
    fn other_users_may_not_read_it() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let journal = dir.path().join("decisions.jsonl");
        let file = File::create_new(&journal).unwrap();
        file.set_permissions(fs::Permissions::from_mode(0o600)).unwrap();
        let torn = TornEnd::save(&journal, &file, b"{").unwrap();
        assert_eq!(fs::metadata(torn.path()).unwrap().permissions().mode() & 0o777, 0o600);
    }
}
