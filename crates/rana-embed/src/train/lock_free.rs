//! Updates without waiting: every thread changes the rows it is lent as it goes.

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use super::Buffers;
use super::buckets::{Dealing, Job};
use super::lease::{Lease, Leases};
use super::rows::{Rows, fetch};
use super::shard::{Among, Plan, RowGradients};
use super::slices;
use super::table::Table;
use crate::optimiser::Update;
use crate::side::Side;
use crate::vectors::route;

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
        let mut copies = Copies::of_job(plan, dealing, job, &relations);
        let mut lease = leases.lend(job.buckets);
        let (queries, loss) = do_job(plan, dealing, epoch, job, buffers, &mut lease, &mut copies, updates);
        (copies, queries, loss)
    };
    let done: Vec<(Copies, usize, f64)> = jobs.par_iter().map(work).collect();
    let (queries, loss) =
        done.iter().fold((0, 0.0), |sum, (_, queries, loss)| (sum.0 + queries, sum.1 + loss));
    merge(relations, done.iter().map(|(copies, ..)| copies));
    Round { end, queries, loss }
}

#[expect(clippy::too_many_arguments, reason = "what a job reads, and what it writes")]
fn do_job(
    plan: &Plan<'_>,
    dealing: &Dealing,
    epoch: u32,
    job: &Job,
    buffers: &Buffers,
    lease: &mut Lease<'_>,
    copies: &mut Copies,
    [entity_update, relation_update]: [Update; 2],
) -> (usize, f64) {
    let (mut queries, mut loss) = (0, 0.0);
    buffers.spare.with(|(shard, scratch)| {
        for (cell, [head, tail]) in job.cells.iter().zip([job.buckets, [job.buckets[1], job.buckets[0]]]) {
            for mut slice in slices(plan, epoch, cell.start, &dealing.order[cell.clone()]) {
                let bucket = if slice.side == Side::Tail { tail } else { head };
                let members = dealing.members(bucket);
                slice.among = Some(Among { members, bucket_of: &dealing.bucket_of, bucket });
                shard.compute(plan, slice, scratch, lease, copies);
                let (gradients, update) = (&shard.entities, entity_update);
                Arch::new().dispatch(UpdateInPlace { rows: lease, gradients, update });
                let (gradients, update) = (&shard.relations, relation_update);
                Arch::new().dispatch(UpdateInPlace { rows: copies, gradients, update });
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

/// Applies gradients one after the other, each to its row as it is by then.
struct UpdateInPlace<'a, R> {
    rows: &'a mut R,
    gradients: &'a RowGradients,
    update: Update,
}

impl<R: RowsMut> WithSimd for UpdateInPlace<'_, R> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { rows, gradients, update } = self;
        for (at, gradient) in gradients.iter(rows.width()) {
            let (row, state) = rows.row_mut(at);
            update.apply(row, state, gradient);
        }
    }
}

/// The copies of relation rows that one job changes.
struct Copies {
    width: usize,
    state_width: usize,
    /// Which rows are copied, in the order of the copies.
    rows: Vec<u32>,
    /// Where the copy of a row is.
    copy_of: Vec<u32>,
    values: Vec<f32>,
    state: Vec<f32>,
    /// How often each copy was updated.
    counts: Vec<u32>,
}

impl Copies {
    const NONE: u32 = u32::MAX;

    /// Copies the rows that the facts of a job ask with.
    fn of_job(plan: &Plan<'_>, dealing: &Dealing, job: &Job, table: &Table<'_>) -> Self {
        let (width, state_width) = (table.width, table.state_width);
        let mut copies = Self {
            width,
            state_width,
            rows: Vec::new(),
            copy_of: vec![Self::NONE; table.values.len().checked_div(width).unwrap_or(0)],
            values: Vec::new(),
            state: Vec::new(),
            counts: Vec::new(),
        };
        for &fact in job.cells.iter().flat_map(|cell| &dealing.order[cell.clone()]) {
            let relation = plan.facts[fact as usize].relation;
            for directed in [relation, relation.inverse()] {
                let (row, _) = route(plan.config.inverses, directed);
                if copies.copy_of[row] == Self::NONE {
                    copies.copy_of[row] = copies.rows.len() as u32;
                    copies.rows.push(row as u32);
                    copies.values.extend_from_slice(&table.values[row * width..(row + 1) * width]);
                    let state = row * state_width..(row + 1) * state_width;
                    copies.state.extend_from_slice(&table.state[state]);
                }
            }
        }
        copies.counts = vec![0; copies.rows.len()];
        copies
    }
}

impl Rows for Copies {
    #[inline(always)]
    fn load(&self, row: usize, to: &mut [f32]) {
        to.copy_from_slice(self.row(row));
    }

    #[inline(always)]
    fn row(&self, row: usize) -> &[f32] {
        let copy = self.copy_of[row] as usize;
        &self.values[copy * self.width..(copy + 1) * self.width]
    }

    #[inline(always)]
    fn fetch(&self, row: usize) {
        fetch(self.row(row));
    }
}

impl RowsMut for Copies {
    #[inline(always)]
    fn width(&self) -> usize {
        self.width
    }

    #[inline(always)]
    fn row_mut(&mut self, row: usize) -> (&mut [f32], &mut [f32]) {
        let copy = self.copy_of[row] as usize;
        self.counts[copy] += 1;
        (
            &mut self.values[copy * self.width..(copy + 1) * self.width],
            &mut self.state[copy * self.state_width..(copy + 1) * self.state_width],
        )
    }
}

/// Makes each row the mean of its copies, weighted by how often each was updated.
fn merge<'c>(table: Table<'_>, all: impl Iterator<Item = &'c Copies> + Clone) {
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
            if count == 0 {
                continue;
            }
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
