//! [`LearnedRows`]: an entity table that learns, kept only where it has.
//!
//! Training touches the rows of tasks and their candidates, often a small part of a large graph. The
//! others are read from the pre-trained table, which may be memory-mapped; a copy exists where a
//! gradient has been.

use std::sync::Arc;

use rana_embed::Table;
use rana_graph::EntityId;

const NONE: u32 = u32::MAX;

/// The rows of entities, in any precision.
pub(crate) trait Rows<T>: Sync {
    /// The row of an entity.
    fn row(&self, entity: EntityId) -> &[T];
}

impl Rows<f32> for LearnedRows {
    fn row(&self, entity: EntityId) -> &[f32] {
        self.row(entity)
    }
}

/// An entity table that learns.
#[derive(Clone, Debug)]
pub struct LearnedRows {
    base: Arc<Table>,
    /// Where the copy of each row is; `NONE` if there is none. Shared by copies of the table until a new row
    /// learns.
    slots: Arc<Vec<u32>>,
    /// Which rows have copies, in the order they came up.
    entities: Vec<EntityId>,
    values: Vec<f32>,
}

impl LearnedRows {
    /// The table as it is before any learning.
    #[must_use]
    pub fn new(base: Arc<Table>) -> Self {
        let slots = Arc::new(vec![NONE; base.rows()]);
        Self { base, slots, entities: Vec::new(), values: Vec::new() }
    }

    /// The table with copies of some rows; `None` if they do not fit it.
    pub(crate) fn with_copies(base: Arc<Table>, entities: Vec<EntityId>, values: Vec<f32>) -> Option<Self> {
        let mut this = Self::new(base);
        if values.len() != entities.len().checked_mul(this.base.dim())? {
            return None;
        }
        let slots = Arc::make_mut(&mut this.slots);
        for (slot, entity) in entities.iter().enumerate() {
            let place = slots.get_mut(entity.index()).filter(|place| **place == NONE)?;
            *place = slot as u32;
        }
        Some(Self { entities, values, ..this })
    }

    /// The table it was before any learning.
    pub(crate) fn base_table(&self) -> &Arc<Table> {
        &self.base
    }

    /// The same over another copy of that table.
    pub(crate) fn over(self, base: Arc<Table>) -> Self {
        Self { base, ..self }
    }

    /// The row as it was before any learning.
    #[must_use]
    pub fn base(&self, entity: EntityId) -> &[f32] {
        self.base.row(entity.index())
    }

    /// The row as it is.
    #[must_use]
    pub fn row(&self, entity: EntityId) -> &[f32] {
        match self.slots[entity.index()] {
            NONE => self.base.row(entity.index()),
            slot => self.copy(slot as usize),
        }
    }

    /// The rows of `count` entities from one on, where they stand one behind the other: in a table without copies.
    pub(crate) fn span(&self, first: EntityId, count: usize) -> Option<&[f32]> {
        if self.entities.is_empty() { self.base.span(first.index(), count) } else { None }
    }

    /// How many rows there are.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.base.rows()
    }

    /// Numbers per row.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.base.dim()
    }

    /// The rows that have learned, in the order they came up.
    #[must_use]
    pub fn learned(&self) -> &[EntityId] {
        &self.entities
    }

    /// Their values, one after the other.
    #[must_use]
    pub fn learned_values(&self) -> &[f32] {
        &self.values
    }

    fn copy(&self, slot: usize) -> &[f32] {
        &self.values[slot * self.dim()..(slot + 1) * self.dim()]
    }

    /// Where the copy of a row is, if there is one.
    pub(crate) fn slot(&self, entity: EntityId) -> Option<usize> {
        match self.slots[entity.index()] {
            NONE => None,
            slot => Some(slot as usize),
        }
    }

    /// Makes sure that a row has a copy; where it is.
    pub(crate) fn touch(&mut self, entity: EntityId) -> usize {
        if self.slots[entity.index()] == NONE {
            Arc::make_mut(&mut self.slots)[entity.index()] = self.entities.len() as u32;
            self.entities.push(entity);
            self.values.extend_from_slice(self.base.row(entity.index()));
        }
        self.slots[entity.index()] as usize
    }

    pub(crate) fn values_mut(&mut self) -> &mut [f32] {
        &mut self.values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_exists_only_where_a_row_has_learned() {
        let base = Arc::new(Table::new(3, 2, vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap());
        let mut rows = LearnedRows::new(Arc::clone(&base));
        let slot = rows.touch(EntityId(2));
        rows.values_mut()[slot * 2] = 9.0;
        assert_eq!(rows.touch(EntityId(2)), slot);
        assert_eq!(rows.row(EntityId(2)), [9.0, 6.0]);
        assert_eq!(rows.base(EntityId(2)), [5.0, 6.0]);
        assert_eq!(rows.row(EntityId(0)), [1.0, 2.0]);
        let again = LearnedRows::with_copies(
            Arc::clone(&base),
            rows.learned().to_vec(),
            rows.learned_values().to_vec(),
        );
        assert_eq!(again.unwrap().row(EntityId(2)), [9.0, 6.0]);
        // Rows that are not there, that come twice, or that are too short.
        for (entities, values) in [(vec![3], vec![0.0; 2]), (vec![1, 1], vec![0.0; 4]), (vec![1], vec![0.0])]
        {
            let entities = entities.into_iter().map(EntityId).collect();
            assert!(LearnedRows::with_copies(Arc::clone(&base), entities, values).is_none());
        }
    }
}
