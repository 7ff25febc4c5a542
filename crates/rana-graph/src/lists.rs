//! [`Lists`]: many short lists in one array (compressed sparse rows).

use bytemuck::Pod;

use crate::array::Array;

/// A sequence of lists stored back to back, addressed by position; a clone shares their memory.
#[derive(Debug)]
pub struct Lists<T> {
    /// `len + 1` offsets into `values`; empty means no lists at all.
    pub(crate) offsets: Array<u64>,
    pub(crate) values: Array<T>,
}

// Not derived, because that would require `T: Clone`.
impl<T> Clone for Lists<T> {
    fn clone(&self) -> Self {
        Self { offsets: self.offsets.clone(), values: self.values.clone() }
    }
}

impl<T> Default for Lists<T> {
    fn default() -> Self {
        Self { offsets: Array::default(), values: Array::default() }
    }
}

impl<T: Pod + PartialEq> PartialEq for Lists<T> {
    fn eq(&self, other: &Self) -> bool {
        self.offsets == other.offsets && self.values == other.values
    }
}

impl<T: Pod> Lists<T> {
    /// How many lists there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Whether there is no list.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The list at `index`.
    ///
    /// # Panics
    /// If `index` is not below [`len`](Self::len).
    #[must_use]
    pub fn get(&self, index: usize) -> &[T] {
        &self.values[self.offsets[index] as usize..self.offsets[index + 1] as usize]
    }

    /// All lists in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[T]> + Clone + '_ {
        (0..self.len()).map(|index| self.get(index))
    }

    /// All values of all lists, back to back.
    #[must_use]
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// The same lists with only the values that `map` keeps, in their order.
    #[must_use]
    pub fn filter_map<U: Pod>(&self, mut map: impl FnMut(&T) -> Option<U>) -> Lists<U> {
        let mut offsets = Vec::with_capacity(self.offsets.len());
        let mut values = Vec::with_capacity(self.values.len());
        // An empty sequence of lists has no offset at all.
        offsets.extend(self.offsets.first());
        for list in self.iter() {
            values.extend(list.iter().filter_map(&mut map));
            offsets.push(values.len() as u64);
        }
        Lists { offsets: offsets.into(), values: values.into() }
    }

    /// Sorts `(list, value)` entries into `len` lists; within a list the order of `entries` stays.
    ///
    /// `entries` is walked twice, first to count and then to fill.
    ///
    /// # Panics
    /// If an entry names a list outside `0..len`.
    #[must_use]
    pub fn group<I>(len: usize, entries: I) -> Self
    where
        I: Iterator<Item = (usize, T)> + Clone,
    {
        let mut offsets = vec![0u64; len + 1];
        for (list, _) in entries.clone() {
            offsets[list + 1] += 1;
        }
        for list in 0..len {
            offsets[list + 1] += offsets[list];
        }
        let mut values = vec![T::zeroed(); offsets[len] as usize];
        // Fill with `offsets[list]` as the cursor of each list, then shift back by one list.
        for (list, value) in entries {
            values[offsets[list] as usize] = value;
            offsets[list] += 1;
        }
        offsets.copy_within(0..len, 1);
        offsets[0] = 0;
        Self { offsets: offsets.into(), values: values.into() }
    }
}

impl<T: Pod, L: AsRef<[T]>> FromIterator<L> for Lists<T> {
    fn from_iter<I: IntoIterator<Item = L>>(lists: I) -> Self {
        let mut builder = ListsBuilder::default();
        for list in lists {
            builder.push(list.as_ref());
        }
        builder.finish()
    }
}

/// Builds lists one after the other.
pub(crate) struct ListsBuilder<T> {
    offsets: Vec<u64>,
    values: Vec<T>,
}

impl<T> Default for ListsBuilder<T> {
    fn default() -> Self {
        Self { offsets: vec![0], values: Vec::new() }
    }
}

impl<T: Pod> ListsBuilder<T> {
    pub(crate) fn push(&mut self, list: &[T]) {
        self.values.extend_from_slice(list);
        self.offsets.push(self.values.len() as u64);
    }

    pub(crate) fn finish(self) -> Lists<T> {
        Lists { offsets: self.offsets.into(), values: self.values.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn grouping_keeps_every_entry_in_order(entries in prop::collection::vec((0usize..7, any::<u32>()), 0..100)) {
            let lists = Lists::group(7, entries.iter().copied());
            prop_assert_eq!(lists.len(), 7);
            for list in 0..7 {
                let expected: Vec<u32> = entries.iter().filter(|e| e.0 == list).map(|e| e.1).collect();
                prop_assert_eq!(lists.get(list), &expected[..]);
            }
            prop_assert_eq!(lists.iter().map(<[u32]>::len).sum::<usize>(), entries.len());
            prop_assert_eq!(lists.iter().collect::<Lists<u32>>(), lists.clone());
        }
    }
}
