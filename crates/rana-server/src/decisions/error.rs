//! [`JournalError`]: why the file of decisions cannot be used.

use std::io;
use std::path::PathBuf;

use super::journal_header::VERSION;

/// Why the file of decisions cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The operating system reported an error.
    #[error("{}: the decisions cannot be read or written: {source}. Choose another file, or repair this one", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Another server uses the file.
    #[error("{}: another server saves its decisions here. Stop it, or choose another file", path.display())]
    Locked {
        /// The file.
        path: PathBuf,
    },
    /// The file is not a journal.
    #[error(
        "{}: this is not a journal of decisions. It was left as it is; choose another file, which need not exist yet",
        path.display()
    )]
    NotAJournal {
        /// The file.
        path: PathBuf,
    },
    /// A newer program wrote it.
    #[error(
        "{}: this journal of decisions has version {version}, but only version {VERSION} can be read here. It was left as \
         it is; use a newer rana, or choose another file",
        path.display()
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// The version it has.
        version: u64,
    },
    /// A line before the end is malformed.
    #[error("{}, line {line}: {message}. The file was left as it is; correct the line, or choose another file", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        message: String,
    },
    /// The incomplete end of the journal could not be saved.
    #[error(
        "{}: the incomplete end of {} cannot be saved here: {source}. The journal was left as it is; make room for the file and \
         let the server write it",
        path.display(),
        journal.display()
    )]
    Torn {
        /// The journal.
        journal: PathBuf,
        /// The file for the end.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}
