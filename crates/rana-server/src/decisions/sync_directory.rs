//! [`sync_directory`]: makes a new file durable. This needs a sync of its directory.

use std::fs::File;
use std::io;
use std::path::Path;

/// Waits until the directory entry of a file is on disk.
pub(super) fn sync_directory(path: &Path) -> io::Result<()> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // Windows cannot open directories as files, and needs no such sync.
    if cfg!(unix) { File::open(parent)?.sync_all() } else { Ok(()) }
}
