//! Updates without waiting: every thread changes the rows it is lent as it goes.

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use super::Buffers;
use super::buckets::{Dealing, Job};
use super::lease::{Lease, Leases};
use super::rows::{Rows, Tables};
use super::shard::{Among, Plan, RowGradients, Shard};
use super::slices;
use super::table::Table;
use crate::optimiser::Update;
use crate::prefetch::fetch;
use crate::side::Side;

/// What a round did.
pub(crate) struct Round {
    /// Where in the order the next one begins.
    pub(crate) end: usize,
    pub(crate) queries: usize,
    /// The sum of the losses.
    pub(crate) loss: f64,
}

/// Does the jobs of the round that begins at `place` of the order.
///
/// Entity rows are updated where they lie, gradient by gradient. Relations are few and wanted by
/// all: each job changes copies, and afterwards a relation is the mean of its copies, weighted by
/// how often each was updated. Since a job depends on no other job of its round, the result does
/// not depend on the number of threads.
pub(crate) fn step(
    plan: &Plan<'_>,
    dealing: &Dealing,
    epoch: u32,
    place: usize,
    buffers: &Buffers,
    [entities, relations]: [Table<'_>; 2],
    updates: [Update; 2],
) -> Round {
    let (jobs, end) = dealing.round_at(place);
    let leases = Leases::new(entities, &dealing.bucket_of);
    let work = |job: &Job| {
        let lent = leases.lend(job.buckets);
        let mut tables = Lent { entities: lent, relations: Copies::of(&relations), updates };
        let (queries, loss) = do_job(plan, dealing, epoch, job, buffers, &mut tables);
        (tables.relations.changed(), queries, loss)
    };
    let done: Vec<(Changed, usize, f64)> = jobs.par_iter().map(work).collect();
    let (queries, loss) =
        done.iter().fold((0, 0.0), |sum, (_, queries, loss)| (sum.0 + queries, sum.1 + loss));
    merge(relations, done.iter().map(|(changed, ..)| changed));
    Round { end, queries, loss }
}

fn do_job(
    plan: &Plan<'_>,
    dealing: &Dealing,
    epoch: u32,
    job: &Job,
    buffers: &Buffers,
    tables: &mut Lent<'_>,
) -> (usize, f64) {
    let (mut queries, mut loss) = (0, 0.0);
    buffers.spare.with(|(shard, scratch)| {
        for (cell, [head, tail]) in job.cells.iter().zip([job.buckets, [job.buckets[1], job.buckets[0]]]) {
            for mut slice in slices(plan, epoch, cell.start, &dealing.order[cell.clone()]) {
                let bucket = if slice.side == Side::Tail { tail } else { head };
                let members = dealing.members(bucket);
                slice.among = Some(Among { members, bucket_of: &dealing.bucket_of, bucket });
                shard.compute(plan, slice, scratch, tables);
                Arch::new().dispatch(TakeRest { tables, shard });
                queries += slice.facts.len();
                loss += shard.loss;
            }
        }
    });
    (queries, loss)
}

/// A table whose rows can be changed where they lie.
trait RowsMut {
    /// Numbers per row.
    fn width(&self) -> usize;

    /// A row and its state, to be updated once.
    fn row_mut(&mut self, row: usize) -> (&mut [f32], &mut [f32]);
}

impl RowsMut for Lease<'_> {
    #[inline(always)]
    fn width(&self) -> usize {
        Lease::width(self)
    }

    #[inline(always)]
    fn row_mut(&mut self, row: usize) -> (&mut [f32], &mut [f32]) {
        Lease::row_mut(self, row)
    }
}

/// Applies gradients one after the other, each to its row as it is by then; to be called from code
/// that is compiled for vectors.
#[inline(always)]
fn update_in_place(rows: &mut impl RowsMut, gradients: &mut RowGradients, update: Update) {
    for (at, gradient) in gradients.iter(rows.width()) {
        let (row, state) = rows.row_mut(at);
        update.apply(row, state, gradient);
    }
    gradients.forget();
}

/// What a job may change.
struct Lent<'l> {
    entities: Lease<'l>,
    relations: Copies<'l>,
    updates: [Update; 2],
}

impl<'l> Tables for Lent<'l> {
    type Entities = Lease<'l>;
    type Relations = Copies<'l>;

    #[inline(always)]
    fn entities(&self) -> &Lease<'l> {
        &self.entities
    }

    #[inline(always)]
    fn relations(&self) -> &Copies<'l> {
        &self.relations
    }

    /// Updates the rows at once, while they and their gradients are still in the nearest cache.
    #[inline(always)]
    fn take(&mut self, shard: &mut Shard) {
        let [entity_update, relation_update] = self.updates;
        update_in_place(&mut self.entities, &mut shard.entities, entity_update);
        update_in_place(&mut self.relations, &mut shard.relations, relation_update);
    }
}

/// Takes what is left in a shard.
struct TakeRest<'a, 'l> {
    tables: &'a mut Lent<'l>,
    shard: &'a mut Shard,
}

impl WithSimd for TakeRest<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        self.tables.take(self.shard);
    }
}

/// Relation rows, of which a job changes copies.
struct Copies<'t> {
    width: usize,
    state_width: usize,
    values: &'t [f32],
    state: &'t [f32],
    /// Where the copy of a row is, if there is one.
    copy_of: Vec<u32>,
    changed: Changed,
}

/// The copies of the relation rows that a job has changed.
#[derive(Default)]
struct Changed {
    /// Which rows are copied, in the order of the copies.
    rows: Vec<u32>,
    values: Vec<f32>,
    state: Vec<f32>,
    /// How often each copy was updated.
    counts: Vec<u32>,
}

impl<'t> Copies<'t> {
    const NONE: u32 = u32::MAX;

    /// No copies yet.
    fn of(table: &'t Table<'_>) -> Self {
        let Table { width, state_width, ref values, ref state, .. } = *table;
        let copy_of = vec![Self::NONE; values.len().checked_div(width).unwrap_or(0)];
        Self { width, state_width, values, state, copy_of, changed: Changed::default() }
    }

    fn changed(self) -> Changed {
        self.changed
    }

    /// Copies a row.
    #[cold]
    fn copy(&mut self, row: usize) -> usize {
        let Self { width, state_width, changed, .. } = self;
        let copy = changed.rows.len();
        self.copy_of[row] = copy as u32;
        changed.rows.push(row as u32);
        changed.values.extend_from_slice(&self.values[row * *width..(row + 1) * *width]);
        changed.state.extend_from_slice(&self.state[row * *state_width..(row + 1) * *state_width]);
        changed.counts.push(0);
        copy
    }
}

impl Rows for Copies<'_> {
    #[inline(always)]
    fn load(&self, row: usize, to: &mut [f32]) {
        to.copy_from_slice(self.row(row));
    }

    #[inline(always)]
    fn row(&self, row: usize) -> &[f32] {
        let (values, at) = match self.copy_of[row] {
            Self::NONE => (self.values, row),
            copy => (&self.changed.values[..], copy as usize),
        };
        &values[at * self.width..(at + 1) * self.width]
    }

    #[inline(always)]
    fn fetch(&self, row: usize) {
        fetch(self.row(row));
    }
}

impl RowsMut for Copies<'_> {
    #[inline(always)]
    fn width(&self) -> usize {
        self.width
    }

    #[inline(always)]
    fn row_mut(&mut self, row: usize) -> (&mut [f32], &mut [f32]) {
        let copy = match self.copy_of[row] {
            Self::NONE => self.copy(row),
            copy => copy as usize,
        };
        let Self { width, state_width, changed, .. } = self;
        changed.counts[copy] += 1;
        (
            &mut changed.values[copy * *width..(copy + 1) * *width],
            &mut changed.state[copy * *state_width..(copy + 1) * *state_width],
        )
    }
}

/// Makes each row the mean of its copies, weighted by how often each was updated.
fn merge<'c>(table: Table<'_>, all: impl Iterator<Item = &'c Changed> + Clone) {
    let Table { width, state_width, values, state, .. } = table;
    let mut totals = vec![0u32; values.len().checked_div(width).unwrap_or(0)];
    for copies in all.clone() {
        for (&row, count) in copies.rows.iter().zip(&copies.counts) {
            totals[row as usize] += count;
        }
    }
    let mut is_first = vec![true; totals.len()];
    for copies in all {
        for (copy, (&row, &count)) in copies.rows.iter().zip(&copies.counts).enumerate() {
            let row = row as usize;
            let share = count as f32 / totals[row] as f32;
            let is_first = std::mem::replace(&mut is_first[row], false);
            let add = |to: &mut [f32], from: &[f32]| {
                for (to, from) in to.iter_mut().zip(from) {
                    *to = if is_first { share * from } else { *to + share * from };
                }
            };
            add(
                &mut values[row * width..(row + 1) * width],
                &copies.values[copy * width..(copy + 1) * width],
            );
            add(
                &mut state[row * state_width..(row + 1) * state_width],
                &copies.state[copy * state_width..(copy + 1) * state_width],
            );
        }
    }
}
