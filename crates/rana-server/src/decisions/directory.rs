//! [`sync_directory`]: a new file is only kept once its directory is.

use std::fs::File;
use std::io;
use std::path::Path;

/// Waits until the disk has the name of a file.
pub(super) fn sync_directory(path: &Path) -> io::Result<()> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // Windows cannot open directories as files and needs no such sync.
    if cfg!(unix) { File::open(parent)?.sync_all() } else { Ok(()) }
}
