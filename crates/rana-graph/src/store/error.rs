//! [`StoreError`]: why a graph store cannot be opened or written.

use std::io;
use std::path::{Path, PathBuf};

/// What can go wrong between a graph and its directory on disk.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// An operation of the file system failed.
    #[error("{}: could not {action}: {source}{}", path.display(), hint(source))]
    Io {
        /// The file or directory concerned.
        path: PathBuf,
        /// What was attempted.
        action: &'static str,
        /// Why it failed.
        source: io::Error,
    },
    /// There is no store in this directory.
    #[error("{}: not a graph store (no readable `manifest.json`). Import a graph first", path.display())]
    Missing {
        /// The directory.
        path: PathBuf,
    },
    /// The directory holds other files, which must not be overwritten.
    #[error("{}: exists and is not a graph store, so it is left alone. Choose another directory, or empty it first", path.display())]
    Occupied {
        /// The directory.
        path: PathBuf,
    },
    /// Another process is writing the same store.
    #[error("{}: another process is writing this store. Wait for it to end, or choose another directory", path.display())]
    Locked {
        /// The store.
        path: PathBuf,
    },
    /// The store was written in another version of the store format.
    #[error(
        "{}: store format version {found}, this program reads version {supported}. \
         Import the graph again, or use the rana that wrote it",
        file.display()
    )]
    Version {
        /// The manifest.
        file: PathBuf,
        /// The version it states.
        found: u64,
        /// The version this program reads and writes.
        supported: u32,
    },
    /// The manifest cannot be parsed or is inconsistent.
    #[error("{}: the manifest is damaged ({what}). Import the graph again", file.display())]
    Manifest {
        /// The manifest.
        file: PathBuf,
        /// What is wrong with it.
        what: String,
    },
    /// A file is shorter or longer than the manifest says.
    #[error("{}: {found} bytes where the manifest says {expected}: cut short or replaced. Import the graph again", file.display())]
    Size {
        /// The array file.
        file: PathBuf,
        /// Bytes according to the manifest.
        expected: u64,
        /// Bytes found.
        found: u64,
    },
    /// A file does not have the content it was written with.
    #[error("{}: checksum mismatch, the content was altered after writing. Import the graph again", file.display())]
    Altered {
        /// The array file.
        file: PathBuf,
    },
    /// A file has the right checksum but invalid content: it was not written by rana.
    #[error("{}: {what}. Import the graph again", file.display())]
    Invalid {
        /// The array file.
        file: PathBuf,
        /// What is invalid.
        what: &'static str,
    },
}

impl StoreError {
    pub(super) fn io(path: &Path, action: &'static str) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { path, action, source }
    }
}

/// Advice about an error of the operating system; empty if there is none.
pub(crate) fn hint(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            ". Free some space or write elsewhere; what was there before is untouched"
        }
        io::ErrorKind::PermissionDenied => ". Check the permissions, or choose another place",
        _ => "",
    }
}
