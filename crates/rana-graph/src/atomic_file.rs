//! Files that are replaced atomically: completely or not at all.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

const BUFFER: usize = 256 * 1024;
/// Separates the name of a file from the id of the process that is writing it.
const UNFINISHED: &str = ".unfinished-";

/// Writes a file under a temporary name beside its own, syncs it, and renames it into place.
///
/// If `write` or the file system fails, the temporary file is removed and the old file at `path` stays. The
/// target of a symbolic link is replaced, not the link; a pipe or a device is written to directly.
///
/// ```
/// # let dir = tempfile::tempdir()?;
/// use std::io::Write;
/// let path = dir.path().join("answers.tsv");
/// rana_graph::write_file_atomically(&path, |out| writeln!(out, "paris\tcapital_of\tfrance"))?;
/// assert!(path.exists());
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// What `write` or the operating system reports.
pub fn write_file_atomically<E: From<io::Error>>(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> Result<(), E>,
) -> Result<(), E> {
    let path = &fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if path.metadata().is_ok_and(|target| !target.is_file() && !target.is_dir()) {
        let mut out = BufWriter::with_capacity(BUFFER, File::options().write(true).open(path)?);
        write(&mut out)?;
        return Ok(out.flush()?);
    }
    let temporary = beside(path)?;
    let outcome = write_and_rename(path, &temporary, write);
    if outcome.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    outcome
}

/// The name of the file that a temporary file was written for, if `name` is that of a temporary file left
/// by a killed [`write_file_atomically`].
///
/// ```
/// assert_eq!(rana_graph::unfinished(".answers.tsv.unfinished-77"), Some("answers.tsv"));
/// assert_eq!(rana_graph::unfinished("answers.tsv"), None);
/// ```
#[must_use]
pub fn unfinished(name: &str) -> Option<&str> {
    name.strip_prefix('.')?.rsplit_once(UNFINISHED).map(|(name, _)| name)
}

fn write_and_rename<E: From<io::Error>>(
    path: &Path,
    temporary: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> Result<(), E>,
) -> Result<(), E> {
    let mut out = BufWriter::with_capacity(BUFFER, File::create(temporary)?);
    write(&mut out)?;
    out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
    fs::rename(temporary, path)?;
    sync_directory(parent(path))?;
    Ok(())
}

fn parent(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Syncs a directory, so that its entries survive a power failure.
pub(crate) fn sync_directory(path: &Path) -> io::Result<()> {
    // Windows cannot open directories as files and needs no such sync.
    if cfg!(unix) { File::open(path)?.sync_all() } else { Ok(()) }
}

/// A temporary name in the same directory as `path`.
pub(crate) fn beside(path: &Path) -> io::Result<PathBuf> {
    let name = path
        .file_name()
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "the path does not end in a name"))?;
    let mut unfinished = std::ffi::OsString::from(".");
    unfinished.push(name);
    unfinished.push(format!("{UNFINISHED}{}", std::process::id()));
    Ok(path.with_file_name(unfinished))
}
