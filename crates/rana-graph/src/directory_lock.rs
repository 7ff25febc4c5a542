//! [`DirectoryLock`]: one writer at a time for a directory.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::Path;

/// The right to write a directory. It ends when this is dropped, or with the process.
#[derive(Debug)]
pub struct DirectoryLock {
    _file: File,
}

impl DirectoryLock {
    /// Takes the lock of a file in the directory, which is made if it is not there. None if another process has it.
    ///
    /// # Errors
    /// If the file cannot be made or locked.
    pub fn take(file: &Path) -> io::Result<Option<Self>> {
        // The content is of no interest. Should the name be a link, the file behind it keeps its own.
        let lock = OpenOptions::new().write(true).create(true).truncate(false).open(file)?;
        match lock.try_lock() {
            Ok(()) => Ok(Some(Self { _file: lock })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_has_it_at_a_time_and_no_content_is_lost() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join(".lock");
        std::fs::write(&file, "something").unwrap();
        let lock = DirectoryLock::take(&file).unwrap();
        assert!(lock.is_some());
        assert!(DirectoryLock::take(&file).unwrap().is_none());
        drop(lock);
        assert!(DirectoryLock::take(&file).unwrap().is_some());
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "something");
    }
}
