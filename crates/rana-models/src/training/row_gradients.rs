//! [`RowGradients`]: gradients of a few rows out of a large table.

use rana_graph::EntityId;

use crate::real::{Real, add_scaled};

/// Gradients of entity rows in the order they were found; a row may come up many times.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct RowGradients<T> {
    dim: usize,
    entities: Vec<EntityId>,
    values: Vec<T>,
}

impl<T: Real> RowGradients<T> {
    pub(crate) fn new(dim: usize) -> Self {
        Self { dim, entities: Vec::new(), values: Vec::new() }
    }

    /// Appends `factor · gradient` for a row; `summed` adds up.
    pub(crate) fn push(&mut self, entity: EntityId, factor: T, gradient: &[T]) {
        self.entities.push(entity);
        self.values.extend(gradient.iter().map(|&value| factor * value));
    }

    /// Appends all gradients of another list.
    pub(crate) fn append(&mut self, other: &Self) {
        self.entities.extend_from_slice(&other.entities);
        self.values.extend_from_slice(&other.values);
    }

    /// Every row that came up, in the order of ids, with the sum of all that was found of it: it depends
    /// on nothing but the order in which gradients were pushed.
    pub(crate) fn summed(&self) -> SummedRows<T> {
        let mut order: Vec<(EntityId, u32)> =
            self.entities.iter().enumerate().map(|(at, &entity)| (entity, at as u32)).collect();
        order.sort_unstable();
        let mut sums = SummedRows { dim: self.dim, entities: Vec::new(), values: Vec::new() };
        for (entity, at) in order {
            let gradient = &self.values[at as usize * self.dim..(at as usize + 1) * self.dim];
            if sums.entities.last() == Some(&entity) {
                let start = sums.values.len() - self.dim;
                add_scaled(&mut sums.values[start..], T::ONE, gradient);
            } else {
                sums.entities.push(entity);
                sums.values.extend_from_slice(gradient);
            }
        }
        sums
    }
}

/// One gradient for each of some rows, in the order of ids.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SummedRows<T> {
    dim: usize,
    entities: Vec<EntityId>,
    values: Vec<T>,
}

impl<T> SummedRows<T> {
    /// Each row with its gradient.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (EntityId, &[T])> + '_ {
        (0..self.entities.len())
            .map(|at| (self.entities[at], &self.values[at * self.dim..(at + 1) * self.dim]))
    }
}
