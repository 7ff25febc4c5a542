//! [`Array`]: a slice of plain values that is either owned or mapped from a store.

use std::fmt;
use std::io;
use std::marker::PhantomData;
use std::ops::{Deref, Range};
use std::path::Path;
use std::sync::Arc;

use bytemuck::Pod;

use crate::file_mapping::Mapping;

/// A read-only array of plain values, in memory or memory-mapped; it dereferences to a slice.
///
/// A clone shares the memory of the original, so it costs the same however long the array is.
pub struct Array<T>(Inner<T>);

enum Inner<T> {
    /// Shared by all clones; an `Arc<[T]>` would copy the vector it is made from.
    Owned(Arc<Vec<T>>),
    /// A range of bytes of a mapping that holds a whole number of aligned values.
    Mapped(Mapping, Range<usize>, PhantomData<T>),
}

impl<T: Pod> Array<T> {
    /// Views a mapping as an array, or returns its length if that is not a whole number of values.
    /// Mappings start on a page boundary, so they are always aligned.
    pub(crate) fn from_mapping(mapping: Mapping) -> Result<Self, usize> {
        if mapping.is_empty() {
            return Ok(Self::default());
        }
        let whole = 0..mapping.len();
        match bytemuck::try_cast_slice::<u8, T>(&mapping) {
            Ok(_) => Ok(Self(Inner::Mapped(mapping, whole, PhantomData))),
            Err(_) => Err(mapping.len()),
        }
    }
}

impl Array<u8> {
    /// Maps a file into memory without reading it.
    ///
    /// The file must not be written to while the array or a clone of it exists. Renaming another file
    /// to its name, as [`write_file_atomically`](crate::write_file_atomically) does, is allowed.
    ///
    /// # Errors
    /// If the file cannot be opened or mapped.
    pub fn map_file(path: &Path) -> io::Result<Self> {
        let mapping = Mapping::open(path)?;
        let whole = 0..mapping.len();
        Ok(Self(Inner::Mapped(mapping, whole, PhantomData)))
    }

    /// The values in a range of these bytes, if the range is in bounds and holds a whole number of
    /// values.
    ///
    /// Bytes that are mapped and aligned are shared, others are copied.
    #[must_use]
    pub fn view<T: Pod>(&self, range: Range<usize>) -> Option<Array<T>> {
        let bytes = self.get(range.clone())?;
        let size = size_of::<T>().max(1);
        if bytes.len() % size != 0 {
            return None;
        }
        Some(Array(match &self.0 {
            Inner::Mapped(mapping, own, _) if bytemuck::try_cast_slice::<u8, T>(bytes).is_ok() => {
                let range = own.start + range.start..own.start + range.end;
                Inner::Mapped(mapping.clone(), range, PhantomData)
            }
            _ => Inner::Owned(Arc::new(bytes.chunks_exact(size).map(bytemuck::pod_read_unaligned).collect())),
        }))
    }
}

impl<T: Pod> Deref for Array<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match &self.0 {
            Inner::Owned(values) => values,
            Inner::Mapped(mapping, range, _) => bytemuck::cast_slice(&mapping[range.clone()]),
        }
    }
}

impl<T> From<Vec<T>> for Array<T> {
    fn from(values: Vec<T>) -> Self {
        Self(Inner::Owned(Arc::new(values)))
    }
}

impl<T> Default for Array<T> {
    fn default() -> Self {
        Vec::new().into()
    }
}

impl<T> Clone for Array<T> {
    fn clone(&self) -> Self {
        Self(match &self.0 {
            Inner::Owned(values) => Inner::Owned(Arc::clone(values)),
            Inner::Mapped(mapping, range, _) => Inner::Mapped(mapping.clone(), range.clone(), PhantomData),
        })
    }
}

impl<T: Pod + PartialEq> PartialEq for Array<T> {
    fn eq(&self, other: &Self) -> bool {
        self[..] == other[..]
    }
}

impl<T> fmt::Debug for Array<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Inner::Owned(values) => write!(f, "Array(owned, {} values)", values.len()),
            Inner::Mapped(_, range, _) => write!(f, "Array(mapped, {} bytes)", range.len()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_share_their_memory() {
        let owned = Array::from(vec![1u32, 2, 3]);
        assert_eq!(owned.clone().as_ptr(), owned.as_ptr());
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("array");
        std::fs::write(&path, [1, 2, 3]).unwrap();
        let mapped = Array::map_file(&path).unwrap();
        assert_eq!(mapped.clone().as_ptr(), mapped.as_ptr());
    }

    #[test]
    fn views_hold_whole_values_wherever_the_bytes_are() {
        let numbers: Vec<u32> = (0..40).collect();
        let bytes: Vec<u8> = bytemuck::cast_slice(&numbers).to_vec();
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("array");
        std::fs::write(&path, &bytes).unwrap();
        for bytes in [Array::from(bytes), Array::map_file(&path).unwrap()] {
            assert_eq!(bytes.view::<u32>(8..20).unwrap()[..], [2, 3, 4]);
            // Not aligned, so copied.
            assert_eq!(bytes.view::<u32>(1..5).unwrap()[..], [u32::from_le_bytes([0, 0, 0, 1])]);
            let part: Array<u8> = bytes.view(4..16).unwrap();
            assert_eq!(part.view::<u32>(4..12).unwrap()[..], [2, 3]);
            assert!(bytes.view::<u32>(8..19).is_none());
            assert!(bytes.view::<u32>(8..164).is_none());
            assert!(part.view::<u32>(8..16).is_none());
        }
    }
}
