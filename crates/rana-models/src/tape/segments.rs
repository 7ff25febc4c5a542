//! [`Segments`]: groups of rows that follow each other, such as the neighbours of an entity or the shots of a task.

use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use super::tape::{Tape, Var};
use crate::real::{Real, add_scaled};

/// Groups of rows that follow each other; a group may be empty.
#[derive(Clone, Debug)]
pub(crate) struct Segments {
    /// Where each starts, and where the last ends.
    starts: Arc<Vec<usize>>,
}

impl Segments {
    /// Groups of these sizes.
    pub(crate) fn of_lengths(lengths: impl IntoIterator<Item = usize>) -> Self {
        let mut starts = vec![0];
        let mut end = 0;
        for length in lengths {
            end += length;
            starts.push(end);
        }
        Self { starts: Arc::new(starts) }
    }

    /// As many groups of the same size.
    pub(crate) fn equal(count: usize, length: usize) -> Self {
        Self::of_lengths(std::iter::repeat_n(length, count))
    }

    /// How many groups there are.
    pub(crate) fn count(&self) -> usize {
        self.starts.len() - 1
    }

    /// How many rows all groups have.
    pub(crate) fn rows(&self) -> usize {
        self.starts[self.count()]
    }

    /// Which rows a group has.
    pub(crate) fn range(&self, group: usize) -> Range<usize> {
        self.starts[group]..self.starts[group + 1]
    }

    /// How many rows each group has.
    pub(crate) fn lengths(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.count()).map(|group| self.range(group).len())
    }

    /// The group of each row. Gathering by it repeats what groups have for each of their rows.
    pub(crate) fn owners(&self) -> Vec<u32> {
        let groups = (0..self.count() as u32).zip(self.lengths());
        groups.flat_map(|(group, length)| std::iter::repeat_n(group, length)).collect()
    }

    /// The rows of each group.
    pub(super) fn split_mut<'v, T>(&self, mut values: &'v mut [T], columns: usize) -> Vec<&'v mut [T]> {
        self.lengths()
            .map(|length| {
                let (group, rest) = std::mem::take(&mut values).split_at_mut(length * columns);
                values = rest;
                group
            })
            .collect()
    }
}

/// Groups that are worked on at once. Their results do not depend on it.
const CHUNK: usize = 64;

impl<T: Real> Tape<'_, T> {
    fn check(&self, x: Var, segments: &Segments) {
        assert_eq!(self.shape(x).0, segments.rows(), "segments do not fit the rows");
    }

    /// The sum of each group; zero for an empty one.
    pub(crate) fn segment_sum(&mut self, x: Var, segments: &Segments) -> Var {
        self.segment_total(x, segments, |_| T::ONE)
    }

    /// The mean of each group; zero for an empty one.
    pub(crate) fn segment_mean(&mut self, x: Var, segments: &Segments) -> Var {
        self.segment_total(x, segments, |length| T::ONE / T::of(length as f64))
    }

    /// The sum of each group times a factor of its size.
    fn segment_total(&mut self, x: Var, segments: &Segments, factor: fn(usize) -> T) -> Var {
        self.check(x, segments);
        let (columns, values) = (self.shape(x).1, self.values(x));
        let mut sums = vec![T::ZERO; segments.count() * columns];
        sums.par_chunks_mut(columns).enumerate().with_min_len(CHUNK).for_each(|(group, sum)| {
            let range = segments.range(group);
            let factor = factor(range.len());
            let rows = &values[range.start * columns..range.end * columns];
            rows.chunks_exact(columns).for_each(|row| add_scaled(sum, factor, row));
        });
        let segments = segments.clone();
        self.push((segments.count(), columns), sums, &[x], move |pass| {
            let gradient = pass.gradient;
            if let Some(at) = pass.at(x) {
                let groups = segments.split_mut(at, columns).into_par_iter().with_min_len(CHUNK);
                groups.zip(gradient.par_chunks(columns)).for_each(|(at, gradient)| {
                    let factor = factor(at.len() / columns);
                    at.chunks_exact_mut(columns).for_each(|at| add_scaled(at, factor, gradient));
                });
            }
        })
    }

    /// The greatest number of each column in each group; zero for an empty one.
    pub(crate) fn segment_max(&mut self, x: Var, segments: &Segments) -> Var {
        self.check(x, segments);
        let (columns, values) = (self.shape(x).1, self.values(x));
        let mut greatest = vec![T::ZERO; segments.count() * columns];
        // Which row each came from: of equals, the first.
        let mut from = vec![None; greatest.len()];
        for group in 0..segments.count() {
            for row in segments.range(group) {
                for column in 0..columns {
                    let (at, value) = (group * columns + column, values[row * columns + column]);
                    if from[at].is_none() || value > greatest[at] {
                        greatest[at] = value;
                        from[at] = Some(row * columns + column);
                    }
                }
            }
        }
        self.push((segments.count(), columns), greatest, &[x], move |pass| {
            let gradient = pass.gradient;
            if let Some(at) = pass.at(x) {
                let found =
                    from.iter().zip(gradient).filter_map(|(&from, &gradient)| Some((from?, gradient)));
                found.for_each(|(from, gradient)| at[from] += gradient);
            }
        })
    }

    /// The softmax of each column in each group.
    pub(crate) fn segment_softmax(&mut self, x: Var, segments: &Segments) -> Var {
        self.check(x, segments);
        let (rows, columns) = self.shape(x);
        let mut values = self.values(x).to_vec();
        let groups = segments.split_mut(&mut values, columns).into_par_iter().with_min_len(CHUNK);
        groups.for_each(|group| {
            for column in 0..columns {
                softmax(group, column, columns);
            }
        });
        let segments = segments.clone();
        self.push((rows, columns), values, &[x], move |pass| {
            let (gradient, result) = (pass.gradient, pass.result());
            if let Some(at) = pass.at(x) {
                for group in 0..segments.count() {
                    let range = segments.range(group);
                    let range = range.start * columns..range.end * columns;
                    let (at, gradient, result) =
                        (&mut at[range.clone()], &gradient[range.clone()], &result[range]);
                    for column in 0..columns {
                        add_softmax_gradient(at, gradient, result, column, columns);
                    }
                }
            }
        })
    }

    /// The softmax of each row.
    pub(crate) fn softmax(&mut self, x: Var) -> Var {
        let (rows, columns) = self.shape(x);
        let column = self.reshape(x, 1);
        let weights = self.segment_softmax(column, &Segments::equal(rows, columns));
        self.reshape(weights, columns)
    }
}

/// Turns every `step`-th number from `start` on into their softmax.
pub(super) fn softmax<T: Real>(values: &mut [T], start: usize, step: usize) {
    let greater = |a: T, b: T| if b > a { b } else { a };
    let Some(most) = values.iter().skip(start).step_by(step).copied().reduce(greater) else { return };
    let mut sum = T::ZERO;
    for value in values.iter_mut().skip(start).step_by(step) {
        *value = (*value - most).exp();
        sum += *value;
    }
    let scale = T::ONE / sum;
    values.iter_mut().skip(start).step_by(step).for_each(|value| *value *= scale);
}

/// Adds the gradient before a [`softmax`], given that after it and its result.
pub(super) fn add_softmax_gradient<T: Real>(
    to: &mut [T],
    gradient: &[T],
    result: &[T],
    start: usize,
    step: usize,
) {
    let pairs = || gradient.iter().zip(result).skip(start).step_by(step);
    let mean: T = pairs().map(|(&gradient, &result)| gradient * result).sum();
    let to = to.iter_mut().skip(start).step_by(step);
    to.zip(pairs()).for_each(|(to, (&gradient, &result))| *to += result * (gradient - mean));
}
