//! Deterministic updates: first all gradients of a batch, then one update per row.

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use super::epoch::Buffers;
use super::gradient_shard::Shard;
use super::row_access::{AHEAD, Frozen, FrozenTables};
use super::row_gradients::RowGradients;
use super::slice::{Plan, Slice};
use super::table_in_training::Table;
use crate::optimiser::Update;
use crate::prefetch::fetch;

/// Parts of a table per thread. With several, a part with many touched rows delays the others less.
const PARTS_PER_THREAD: usize = 4;

/// Computes the gradients of all slices at the current tables, then updates every row once.
///
/// The gradients of a row are added in the order of the slices, so the result does not depend on the number of
/// threads or the division of the rows. Gives the sum of the losses.
pub(crate) fn step(
    plan: &Plan<'_>,
    slices: &[Slice<'_>],
    Buffers { shards, scratch, .. }: &mut Buffers,
    [entities, relations]: [Table<'_>; 2],
    [entity_update, relation_update]: [Update; 2],
) -> f64 {
    if shards.len() < slices.len() {
        shards.resize_with(slices.len(), Shard::default);
    }
    let shards = &mut shards[..slices.len()];
    let frozen = [&entities, &relations].map(|table| Frozen { values: &*table.values, width: table.width });
    shards.par_iter_mut().zip(slices).for_each(|(shard, slice)| {
        let [entities, relations] = frozen;
        let mut tables = FrozenTables { entities, relations };
        scratch.with(|(listing, scratch)| {
            listing.fill(plan, *slice);
            shard.compute(plan, *slice, listing, scratch, &mut tables);
        });
    });
    let gradients: Vec<[&RowGradients; 2]> =
        shards.iter().map(|shard| [&shard.entities, &shard.relations]).collect();
    let of_table = |table: usize| gradients.iter().map(|both| both[table]).collect::<Vec<_>>();
    rayon::join(
        || update_rows(entities, &of_table(0), entity_update),
        || update_rows(relations, &of_table(1), relation_update),
    );
    shards.iter().map(|shard| shard.loss).sum()
}

/// Consecutive rows of a table, with their state.
struct Part<'t> {
    first: usize,
    values: &'t mut [f32],
    state: &'t mut [f32],
    heads: &'t mut [u32],
}

fn update_rows(table: Table<'_>, gradients: &[&RowGradients], update: Update) {
    let Table { width, state_width, values, state, heads } = table;
    let threads = rayon::current_num_threads();
    let parts = if threads == 1 { 1 } else { threads * PARTS_PER_THREAD };
    let size = heads.len().div_ceil(parts).max(1);
    let mut rest = Part { first: 0, values, state, heads };
    let mut split = Vec::with_capacity(parts);
    while !rest.heads.is_empty() {
        let size = size.min(rest.heads.len());
        let (values, more_values) = rest.values.split_at_mut(size * width);
        let (state, more_state) = rest.state.split_at_mut(size * state_width);
        let (heads, more_heads) = rest.heads.split_at_mut(size);
        split.push(Part { first: rest.first, values, state, heads });
        rest = Part { first: rest.first + size, values: more_values, state: more_state, heads: more_heads };
    }
    split.into_par_iter().for_each(|part| update_part(part, width, state_width, gradients, update));
}

/// One gradient of a row, and the index of the next one in its chain.
#[derive(Clone, Copy)]
struct Link<'g> {
    gradient: &'g [f32],
    next: u32,
}

/// The end of a chain.
const END: u32 = u32::MAX;

fn update_part(
    part: Part<'_>,
    width: usize,
    state_width: usize,
    gradients: &[&RowGradients],
    update: Update,
) {
    let Part { first, values, state, heads } = part;
    let mut links: Vec<Link<'_>> = Vec::new();
    let mut touched = Vec::new();
    let mut own = Vec::new();
    // The links are prepended in reverse order, so the chains are in forward order.
    for shard in gradients.iter().rev() {
        for &at in rows_within(&shard.rows, first, heads.len(), &mut own).iter().rev() {
            let at = at as usize;
            let row = shard.rows[at] as usize - first;
            let head = &mut heads[row];
            if *head == END {
                touched.push(row);
            }
            links.push(Link { gradient: &shard.gradients[at * width..(at + 1) * width], next: *head });
            *head = links.len() as u32 - 1;
        }
    }
    Arch::new().dispatch(UpdateTouched {
        touched: &touched,
        links: &links,
        width,
        state_width,
        values,
        state,
        heads,
        update,
    });
}

/// The indices in `rows` of the rows from `first` to `first + count`.
///
/// This has no branch, because it would often be mispredicted.
fn rows_within<'b>(rows: &[u32], first: usize, count: usize, buffer: &'b mut Vec<u32>) -> &'b [u32] {
    buffer.resize(buffer.len().max(rows.len()), 0);
    let mut found = 0;
    for (at, &row) in rows.iter().enumerate() {
        buffer[found] = at as u32;
        found += usize::from((row as usize).wrapping_sub(first) < count);
    }
    &buffer[..found]
}

/// Adds the gradients of each touched row, updates the row, and clears its chain.
struct UpdateTouched<'a> {
    touched: &'a [usize],
    links: &'a [Link<'a>],
    width: usize,
    state_width: usize,
    values: &'a mut [f32],
    state: &'a mut [f32],
    heads: &'a mut [u32],
    update: Update,
}

impl WithSimd for UpdateTouched<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { touched, links, width, state_width, values, state, heads, update } = self;
        let mut sum = vec![0.0; width];
        for (at, &row) in touched.iter().enumerate() {
            if let Some(&row) = touched.get(at + AHEAD) {
                fetch(&values[row * width..(row + 1) * width]);
                fetch(&state[row * state_width..(row + 1) * state_width]);
                fetch(links[heads[row] as usize].gradient);
            }
            let mut link = links[heads[row] as usize];
            heads[row] = END;
            let mut gradient = link.gradient;
            if link.next != END {
                sum.copy_from_slice(link.gradient);
                while link.next != END {
                    link = links[link.next as usize];
                    for (sum, value) in sum.iter_mut().zip(link.gradient) {
                        *sum += value;
                    }
                }
                gradient = &sum;
            }
            let state = &mut state[row * state_width..(row + 1) * state_width];
            update.apply(&mut values[row * width..(row + 1) * width], state, gradient);
        }
    }
}
