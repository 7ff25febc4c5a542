//! The only `unsafe` of this crate: mapping a file into memory. And whether a mapped file has changed since.

use std::fs::{File, Metadata};
use std::io;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::SystemTime;

use memmap2::Mmap;

/// A read-only file mapped into memory, shared by all arrays that look into it.
#[derive(Clone, Debug)]
pub(crate) struct Mapping(Option<Arc<MappedFile>>);

/// A mapped file, and what it was like when it was mapped.
#[derive(Debug)]
struct MappedFile {
    bytes: Mmap,
    path: PathBuf,
    /// Kept open, so that it is this file that is looked at later, and not another one of its name.
    file: File,
    state: FileState,
}

/// What changes when a file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileState {
    len: u64,
    modified: Option<SystemTime>,
}

/// The files that are mapped now.
static MAPPED_FILES: Mutex<Vec<Weak<MappedFile>>> = Mutex::new(Vec::new());

/// A file that this process has mapped and that was changed since, if there is one.
///
/// Files of a store are never changed in place, so what is read from it may be anything. A look costs a system call for
/// each mapped file.
#[must_use]
pub fn changed_file() -> Option<PathBuf> {
    let mapped: Vec<Arc<MappedFile>> = {
        let mut files = MAPPED_FILES.lock().unwrap_or_else(PoisonError::into_inner);
        files.retain(|file| file.strong_count() > 0);
        files.iter().filter_map(Weak::upgrade).collect()
    };
    mapped.iter().find(|mapped| !mapped.is_unchanged()).map(|mapped| mapped.path.clone())
}

impl FileState {
    fn of(metadata: &Metadata) -> Self {
        Self { len: metadata.len(), modified: metadata.modified().ok() }
    }
}

impl MappedFile {
    fn is_unchanged(&self) -> bool {
        self.file.metadata().is_ok_and(|metadata| FileState::of(&metadata) == self.state)
    }
}

impl Mapping {
    /// Maps the file at `path`. An empty file needs no mapping.
    #[allow(unsafe_code)]
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let state = FileState::of(&file.metadata()?);
        if state.len == 0 {
            return Ok(Self(None));
        }
        // SAFETY: a mapping is sound as long as the file is not changed. The documentation of
        // `Array::map_file` requires this of its callers. Array files of a store are written once,
        // in a fresh directory, and never opened for writing again: replacing a store writes new
        // files and unlinks the old ones, which leaves existing mappings intact.
        let bytes = unsafe { Mmap::map(&file)? };
        let mapped = Arc::new(MappedFile { bytes, path: path.to_owned(), file, state });
        MAPPED_FILES.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::downgrade(&mapped));
        Ok(Self(Some(mapped)))
    }
}

impl Deref for Mapping {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.0.as_deref().map_or(&[], |mapped| &mapped.bytes[..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapping_outlives_the_name_of_its_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("array");
        std::fs::write(&path, [7u8; 8192]).unwrap();
        let mapping = Mapping::open(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert!(mapping.iter().all(|&b| b == 7));
        assert_eq!(mapping.len(), 8192);
    }

    /// Whether some changed file lies in a directory: other tests have files of their own.
    fn is_changed_in(dir: &Path) -> bool {
        changed_file().is_some_and(|path| path.starts_with(dir))
    }

    #[test]
    fn a_file_that_is_written_in_place_has_changed_and_a_replaced_one_has_not() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("array");
        std::fs::write(&path, [7u8; 64]).unwrap();
        let mapping = Mapping::open(&path).unwrap();
        assert!(!is_changed_in(dir.path()));
        // As a store is replaced: another file takes the name.
        std::fs::write(dir.path().join("new"), [8u8; 64]).unwrap();
        std::fs::rename(dir.path().join("new"), &path).unwrap();
        assert!(!is_changed_in(dir.path()));
        let other = Mapping::open(&path).unwrap();
        let file = File::options().write(true).open(&path).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
        assert!(is_changed_in(dir.path()));
        drop(other);
        assert!(!is_changed_in(dir.path()));
        assert_eq!(mapping[0], 7);
    }

    #[test]
    fn an_empty_file_maps_to_an_empty_slice() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("array");
        std::fs::write(&path, []).unwrap();
        assert!(Mapping::open(&path).unwrap().is_empty());
    }
}
