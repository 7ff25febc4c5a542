//! [`Inputs`]: all that one step of RANA reads.

use rana_graph::{Edge, EntityId, RelationId};

use super::config::{RanaConfig, TrainEntities};
use super::layout::Layout;
use crate::real::Real;
use crate::training::LearnedRows;

/// Where entity rows are.
pub(crate) trait EntityRows<T>: Sync {
    /// The pre-trained row, also if rows are trained. Pruning uses it.
    fn pretrained(&self, entity: EntityId) -> &[T];
    /// The row that `r` and neighbours see: the pre-trained one, unless one table serves all.
    fn frozen(&self, entity: EntityId) -> &[T];
    /// Those of many neighbours: one call where each row would be one.
    fn append_frozen<'r>(&'r self, edges: &[Edge], to: &mut Vec<&'r [T]>) {
        to.extend(edges.iter().map(|edge| self.frozen(edge.entity)));
    }
    /// The row that is scored. The same as the frozen one unless a copy of it learns.
    fn scoring(&self, entity: EntityId) -> &[T];
}

/// Entity rows in the two roles they have.
pub(crate) struct RowRoles<'a> {
    pub(crate) rows: &'a LearnedRows,
    pub(crate) is_shared: bool,
}

impl EntityRows<f32> for RowRoles<'_> {
    fn pretrained(&self, entity: EntityId) -> &[f32] {
        self.rows.base(entity)
    }

    fn frozen(&self, entity: EntityId) -> &[f32] {
        if self.is_shared { self.rows.row(entity) } else { self.rows.base(entity) }
    }

    fn scoring(&self, entity: EntityId) -> &[f32] {
        self.rows.row(entity)
    }
}

impl<'a> RowRoles<'a> {
    pub(crate) fn new(config: &RanaConfig, rows: &'a LearnedRows) -> Self {
        Self { rows, is_shared: config.train_entities == TrainEntities::Shared }
    }
}

/// Where the encoder's neighbours are.
pub(crate) trait Neighbourhood: Sync {
    /// The neighbours an entity is seen with while a relation is asked for, at most as many as configured.
    fn of(&self, entity: EntityId, asked: Option<RelationId>) -> &[Edge];
}

/// All that one step of RANA reads.
pub(crate) struct Inputs<'a, T> {
    pub(crate) config: &'a RanaConfig,
    pub(crate) layout: &'a Layout,
    pub(crate) weights: &'a [T],
    /// One row per relation and inverse, in the order of directed ids.
    pub(crate) relations: &'a [T],
    pub(crate) rows: &'a dyn EntityRows<T>,
    pub(crate) neighbours: &'a dyn Neighbourhood,
    /// Episodes in a batch of training.
    pub(crate) batch: usize,
    /// The seed of what is dropped.
    pub(crate) seed: u64,
    /// The step whose components are dropped; none outside of training.
    pub(crate) dropout: Option<u64>,
}

// Not derived: that would ask the same of `T`.
impl<T> Clone for Inputs<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Inputs<'_, T> {}

impl<T: Real> Inputs<'_, T> {
    pub(crate) fn dim(&self) -> usize {
        self.layout.dim
    }
}
