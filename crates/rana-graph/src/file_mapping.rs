//! The only `unsafe` of this crate: mapping a file into memory.

use std::fs::File;
use std::io;
use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

use memmap2::Mmap;

/// A read-only file mapped into memory, shared by all arrays that look into it.
#[derive(Clone, Debug)]
pub(crate) struct Mapping(Option<Arc<Mmap>>);

impl Mapping {
    /// Maps the file at `path`. An empty file needs no mapping.
    #[allow(unsafe_code)]
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        if file.metadata()?.len() == 0 {
            return Ok(Self(None));
        }
        // SAFETY: a mapping is sound as long as the file is not changed. The documentation of
        // `Array::map_file` requires this of its callers. Array files of a store are written once,
        // in a fresh directory, and never opened for writing again: replacing a store writes new
        // files and unlinks the old ones, which leaves existing mappings intact.
        let mapping = unsafe { Mmap::map(&file)? };
        Ok(Self(Some(Arc::new(mapping))))
    }
}

impl Deref for Mapping {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.0.as_deref().map_or(&[], |mapping| &mapping[..])
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

    #[test]
    fn an_empty_file_maps_to_an_empty_slice() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("array");
        std::fs::write(&path, []).unwrap();
        assert!(Mapping::open(&path).unwrap().is_empty());
    }
}
