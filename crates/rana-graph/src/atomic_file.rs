//! Files that are replaced atomically: completely or not at all.

use std::fs::{self, File};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::unfinished::Unfinished;

const BUFFER: usize = 256 * 1024;
/// Separates the name of a file from the id of the process that is writing it and a random number.
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
    sweep(path);
    write_and_rename(path, &Unfinished::at(beside(path)?), write)
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
    temporary: &Unfinished,
    write: impl FnOnce(&mut BufWriter<File>) -> Result<(), E>,
) -> Result<(), E> {
    let mut out = BufWriter::with_capacity(BUFFER, File::create_new(temporary.path())?);
    write(&mut out)?;
    out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
    fs::rename(temporary.path(), path)?;
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

/// Removes temporary files of the same target that killed processes have left.
fn sweep(path: &Path) {
    let Some(target) = path.file_name().and_then(|name| name.to_str()) else { return };
    let Ok(entries) = fs::read_dir(parent(path)) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(name) = name.to_str().filter(|name| unfinished(name) == Some(target)) else { continue };
        let process =
            name.rsplit_once(UNFINISHED).map_or("", |(_, end)| end.split('-').next().unwrap_or(end));
        if process.parse().is_ok_and(|process: u32| !is_running(process)) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Whether a process may still be running; where that cannot be told, it may.
fn is_running(process: u32) -> bool {
    let processes = Path::new("/proc");
    !processes.join("self").exists() || processes.join(process.to_string()).exists()
}

/// A temporary name in the same directory as `path`. It cannot be guessed, so that no link can be waiting there.
pub(crate) fn beside(path: &Path) -> io::Result<PathBuf> {
    let name = path
        .file_name()
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "the path does not end in a name"))?;
    let mut unfinished = std::ffi::OsString::from(".");
    unfinished.push(name);
    // The keys of a new hasher are random.
    let random = RandomState::new().hash_one(path);
    unfinished.push(format!("{UNFINISHED}{}-{random:016x}", std::process::id()));
    Ok(path.with_file_name(unfinished))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_killed_writers_left_is_swept() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("answers.tsv");
        // No process has the largest number.
        let stale = dir.path().join(format!(".answers.tsv{UNFINISHED}{}-0011223344556677", u32::MAX));
        let other = dir.path().join(format!(".other.tsv{UNFINISHED}{}", u32::MAX));
        let own = dir.path().join(format!(".answers.tsv{UNFINISHED}{}-0", std::process::id()));
        for file in [&stale, &other, &own] {
            fs::write(file, "half").unwrap();
        }
        write_file_atomically(&path, |out| writeln!(out, "whole")).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "whole\n");
        assert!(other.exists() && own.exists());
        assert_eq!(stale.exists(), !Path::new("/proc/self").exists());
    }

    /// A link at the temporary name of this process is not followed.
    #[cfg(unix)]
    #[test]
    fn planted_links_are_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let victim = dir.path().join("victim");
        fs::write(&victim, "precious").unwrap();
        let path = dir.path().join("answers.tsv");
        let guessed = dir.path().join(format!(".answers.tsv{UNFINISHED}{}", std::process::id()));
        std::os::unix::fs::symlink(&victim, guessed).unwrap();
        write_file_atomically(&path, |out| writeln!(out, "answer")).unwrap();
        assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
        let chosen = beside(&path).unwrap();
        std::os::unix::fs::symlink(&victim, &chosen).unwrap();
        assert!(write_and_rename::<io::Error>(&path, &Unfinished::at(&chosen), |_| Ok(())).is_err());
        assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
    }
}
