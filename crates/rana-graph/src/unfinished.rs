//! [`Unfinished`]: files and directories that are not in their place yet, and are removed if they never will be.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// All of them in this process.
static PATHS: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// How often a directory is removed that other threads still write into.
const TRIES: usize = 10;

/// A file or directory that is removed when this is dropped, or when the program is ended by a signal and calls
/// [`remove_unfinished`].
#[derive(Debug)]
pub(crate) struct Unfinished(PathBuf);

impl Unfinished {
    /// To be called before the path is created.
    pub(crate) fn at(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        PATHS.lock().unwrap_or_else(PoisonError::into_inner).insert(path.clone());
        Self(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// What is there stays.
    pub(crate) fn keep(self) {
        // Dropping removes only what is registered.
        PATHS.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.0);
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        let is_registered = PATHS.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.0);
        if is_registered {
            remove(&self.0);
        }
    }
}

/// Removes what this process has begun to write and not put in its place. Nothing can be begun afterwards: the program is
/// expected to end.
pub fn remove_unfinished() {
    let paths = PATHS.lock().unwrap_or_else(PoisonError::into_inner);
    paths.iter().for_each(|path| remove(path));
    std::mem::forget(paths);
}

fn remove(path: &Path) {
    for _ in 0..TRIES {
        let removed = match fs::symlink_metadata(path) {
            Ok(metadata) if metadata.is_dir() => fs::remove_dir_all(path),
            Ok(_) => fs::remove_file(path),
            Err(error) => Err(error),
        };
        match removed {
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {}
            _ => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_kept_is_removed() {
        let dir = tempfile::tempdir().unwrap();
        let [file, tree, kept, moved] = ["file", "tree", "kept", "moved"].map(|name| dir.path().join(name));
        let all = [&file, &tree, &kept, &moved].map(Unfinished::at);
        for path in [&file, &kept, &moved] {
            fs::write(path, "half").unwrap();
        }
        fs::create_dir_all(tree.join("below")).unwrap();
        fs::write(tree.join("below/file"), "half").unwrap();
        fs::rename(&moved, dir.path().join("placed")).unwrap();
        let [file_, tree_, kept_, moved_] = all;
        assert_eq!(kept_.path(), kept);
        kept_.keep();
        drop((file_, tree_, moved_));
        let left: BTreeSet<_> = fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(left, ["kept".into(), "placed".into()].into());
        assert!(!PATHS.lock().unwrap().iter().any(|path| path.starts_with(dir.path())));
    }
}
