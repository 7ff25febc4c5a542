//! Updates without waiting: every thread reads and writes the tables as it goes.

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use super::Buffers;
use super::rows::{Rows, Shared};
use super::shard::{Plan, RowGradients, Scratch, Shard, Slice};
use super::table::Table;
use crate::optimiser::Update;

/// Computes and applies the gradients of each slice, threads not waiting for each other.
///
/// An update that another thread makes to the same row at the same time may be lost, which
/// stochastic descent survives. Gives the sum of the losses.
pub(crate) fn step(
    plan: &Plan<'_>,
    slices: &[Slice<'_>],
    buffers: &Buffers,
    tables: [Table<'_>; 2],
    updates: [Update; 2],
) -> f64 {
    let tables = tables.map(SharedTable::new);
    let one = |shard: &mut Shard, scratch: &mut Scratch, slice: Slice<'_>| {
        shard.compute(plan, slice, scratch, &tables[0].values, &tables[1].values);
        let gradients = [&shard.entities, &shard.relations];
        for ((table, gradients), update) in tables.iter().zip(gradients).zip(updates) {
            Arch::new().dispatch(UpdateShared { table, gradients, update });
        }
        shard.loss
    };
    let losses: Vec<f64> = slices
        .par_iter()
        .map(|&slice| buffers.spare.with(|shard| buffers.scratch.with(|scratch| one(shard, scratch, slice))))
        .collect();
    losses.iter().sum()
}

struct SharedTable<'t> {
    values: Shared<'t>,
    state: Shared<'t>,
    width: usize,
    state_width: usize,
}

impl<'t> SharedTable<'t> {
    fn new(table: Table<'t>) -> Self {
        let Table { width, state_width, values, state, .. } = table;
        let (values, state) = (Shared::new(values, width), Shared::new(state, state_width));
        Self { values, state, width, state_width }
    }
}

/// Applies gradients one after the other, each to its row as it is by then.
struct UpdateShared<'a> {
    table: &'a SharedTable<'a>,
    gradients: &'a RowGradients,
    update: Update,
}

impl WithSimd for UpdateShared<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { table, gradients, update } = self;
        let (mut row, mut state) = (vec![0.0; table.width], vec![0.0; table.state_width]);
        for (&at, gradient) in gradients.rows.iter().zip(gradients.gradients.chunks_exact(table.width)) {
            if at == RowGradients::NONE {
                continue;
            }
            let at = at as usize;
            table.values.load(at, &mut row);
            table.state.load(at, &mut state);
            update.apply(&mut row, &mut state, gradient);
            table.values.store(at, &row);
            table.state.store(at, &state);
        }
    }
}
