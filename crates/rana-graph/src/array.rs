//! [`Array`]: a slice of plain values that is either owned or mapped from a store.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

use bytemuck::Pod;

use crate::mapping::Mapping;

/// A read-only array of plain values, in memory or memory-mapped; it dereferences to a slice.
pub struct Array<T>(Inner<T>);

enum Inner<T> {
    Owned(Vec<T>),
    Mapped(Mapping, PhantomData<T>),
}

impl<T: Pod> Array<T> {
    /// Views a mapping as an array, or gives back its length where that is no whole number of
    /// values. Mappings start on a page boundary, so alignment always holds.
    pub(crate) fn from_mapping(mapping: Mapping) -> Result<Self, usize> {
        if mapping.is_empty() {
            return Ok(Self::default());
        }
        match bytemuck::try_cast_slice::<u8, T>(&mapping) {
            Ok(_) => Ok(Self(Inner::Mapped(mapping, PhantomData))),
            Err(_) => Err(mapping.len()),
        }
    }
}

impl<T: Pod> Deref for Array<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match &self.0 {
            Inner::Owned(values) => values,
            Inner::Mapped(mapping, _) => bytemuck::cast_slice(mapping),
        }
    }
}

impl<T> From<Vec<T>> for Array<T> {
    fn from(values: Vec<T>) -> Self {
        Self(Inner::Owned(values))
    }
}

impl<T> Default for Array<T> {
    fn default() -> Self {
        Self(Inner::Owned(Vec::new()))
    }
}

impl<T: Clone> Clone for Array<T> {
    fn clone(&self) -> Self {
        Self(match &self.0 {
            Inner::Owned(values) => Inner::Owned(values.clone()),
            Inner::Mapped(mapping, _) => Inner::Mapped(mapping.clone(), PhantomData),
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
            Inner::Mapped(mapping, _) => write!(f, "Array(mapped, {} bytes)", mapping.len()),
        }
    }
}
