//! Updates without waiting: every thread reads and writes the tables as it goes.

use std::sync::Mutex;

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use super::rows::{Rows, Shared};
use super::shard::{Plan, RowGradients, Shard, Slice};
use super::table::Table;
use crate::optimiser::Update;

/// Computes and applies the gradients of each slice, threads not waiting for each other.
///
/// An update that another thread makes to the same row at the same time may be lost, which
/// stochastic descent survives. Gives the sum of the losses.
pub(crate) fn step(
    plan: &Plan<'_>,
    slices: &[Slice<'_>],
    shards: &mut Vec<Shard>,
    tables: [Table<'_>; 2],
    updates: [Update; 2],
) -> f64 {
    // One shard per thread is all that is ever in use at a time.
    let free = Mutex::new(std::mem::take(shards));
    let take = || free.lock().ok().and_then(|mut free| free.pop()).unwrap_or_default();
    let tables = tables.map(SharedTable::new);
    let losses: Vec<f64> = slices
        .par_iter()
        .map(|slice| {
            let mut shard = take();
            shard.compute(plan, *slice, &tables[0].values, &tables[1].values);
            for (table, (gradients, update)) in
                tables.iter().zip([&shard.entities, &shard.relations].into_iter().zip(updates))
            {
                Arch::new().dispatch(UpdateShared { table, gradients, update });
            }
            let loss = shard.loss;
            if let Ok(mut free) = free.lock() {
                free.push(shard);
            }
            loss
        })
        .collect();
    *shards = free.into_inner().unwrap_or_default();
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
