//! Attention within groups: the queries of a group attend to the keys of the same group (Vaswani et al., 2017).
//!
//! Weights and sums are two operations, so that weights can be dropped, or looked at, in between. The weights of a
//! group stand one behind the other, by head, query and key; all together are one column.

use rayon::prelude::*;

use super::segments::{Segments, add_softmax_gradient, softmax};
use super::tape::{Tape, Var};
use crate::real::{Real, add_scaled, dot};

/// Which rows attend to which, and by how many heads, each with its own share of the columns.
#[derive(Clone, Debug)]
pub(crate) struct Heads {
    /// The queries of each group.
    pub(crate) queries: Segments,
    /// The keys of each group.
    pub(crate) keys: Segments,
    /// Heads.
    pub(crate) heads: usize,
}

impl Heads {
    /// Every row attends to all rows of its group.
    pub(crate) fn within(segments: &Segments, heads: usize) -> Self {
        Self { queries: segments.clone(), keys: segments.clone(), heads }
    }

    /// The weights of each group.
    fn weights(&self) -> Segments {
        let lengths = self.queries.lengths().zip(self.keys.lengths());
        Segments::of_lengths(lengths.map(|(queries, keys)| self.heads * queries * keys))
    }

    /// Calls `work` with query, key, first column and place in the weights, for all weights of a group.
    fn each(&self, group: usize, width: usize, mut work: impl FnMut(usize, usize, usize, usize)) {
        let mut place = 0;
        for head in 0..self.heads {
            for query in self.queries.range(group) {
                for key in self.keys.range(group) {
                    work(query, key, head * width, place);
                    place += 1;
                }
            }
        }
    }
}

/// Groups that are worked on at once. Their results do not depend on it.
const CHUNK: usize = 16;

impl<T: Real> Tape<'_, T> {
    /// The softmax over the keys of `scale · query · key`, as a column.
    pub(crate) fn attention_weights(&mut self, queries: Var, keys: Var, heads: &Heads, scale: f64) -> Var {
        let columns = self.shape(queries).1;
        assert_eq!(self.shape(queries).0, heads.queries.rows(), "queries do not fit their groups");
        assert_eq!(self.shape(keys), (heads.keys.rows(), columns), "keys do not fit their groups");
        assert_eq!(columns % heads.heads, 0, "heads do not fit the columns");
        let (width, scale, places) = (columns / heads.heads, T::of(scale), heads.weights());
        let (of_queries, of_keys) = (self.values(queries), self.values(keys));
        let mut weights = vec![T::ZERO; places.rows()];
        let groups = places.split_mut(&mut weights, 1).into_par_iter().enumerate().with_min_len(CHUNK);
        groups.for_each(|(group, weights)| {
            heads.each(group, width, |query, key, column, place| {
                let (query, key) = (query * columns + column, key * columns + column);
                weights[place] = scale * dot(&of_queries[query..query + width], &of_keys[key..key + width]);
            });
            let keys = heads.keys.range(group).len().max(1);
            weights.chunks_exact_mut(keys).for_each(|weights| softmax(weights, 0, 1));
        });
        let heads = heads.clone();
        self.push((weights.len(), 1), weights, &[queries, keys], move |pass| {
            let (gradient, weights) = (pass.gradient, pass.result());
            let (of_queries, of_keys) = (pass.values(queries), pass.values(keys));
            let mut slopes = vec![T::ZERO; weights.len()];
            let groups = places.split_mut(&mut slopes, 1).into_par_iter().enumerate().with_min_len(CHUNK);
            groups.for_each(|(group, slopes)| {
                let keys = heads.keys.range(group).len().max(1);
                let range = places.range(group);
                let given = gradient[range.clone()].chunks_exact(keys).zip(weights[range].chunks_exact(keys));
                for (slopes, (gradient, weights)) in slopes.chunks_exact_mut(keys).zip(given) {
                    add_softmax_gradient(slopes, gradient, weights, 0, 1);
                    slopes.iter_mut().for_each(|slope| *slope *= scale);
                }
            });
            if let Some(at) = pass.at(queries) {
                let groups = heads.queries.split_mut(at, columns).into_par_iter().enumerate();
                groups.with_min_len(CHUNK).for_each(|(group, at)| {
                    let (first, start) = (heads.queries.range(group).start, places.range(group).start);
                    heads.each(group, width, |query, key, column, place| {
                        let (to, from) = ((query - first) * columns + column, key * columns + column);
                        add_scaled(
                            &mut at[to..to + width],
                            slopes[start + place],
                            &of_keys[from..from + width],
                        );
                    });
                });
            }
            if let Some(at) = pass.at(keys) {
                let groups = heads.keys.split_mut(at, columns).into_par_iter().enumerate();
                groups.with_min_len(CHUNK).for_each(|(group, at)| {
                    let (first, start) = (heads.keys.range(group).start, places.range(group).start);
                    heads.each(group, width, |query, key, column, place| {
                        let (to, from) = ((key - first) * columns + column, query * columns + column);
                        add_scaled(
                            &mut at[to..to + width],
                            slopes[start + place],
                            &of_queries[from..from + width],
                        );
                    });
                });
            }
        })
    }

    /// The sum of the values of a group for each of its queries, by [attention weights](Self::attention_weights).
    pub(crate) fn attend(&mut self, weights: Var, values: Var, heads: &Heads) -> Var {
        let (rows, columns) = self.shape(values);
        let places = heads.weights();
        assert_eq!(rows, heads.keys.rows(), "values do not fit their groups");
        assert_eq!(self.shape(weights), (places.rows(), 1), "weights do not fit their groups");
        assert_eq!(columns % heads.heads, 0, "heads do not fit the columns");
        let width = columns / heads.heads;
        let (of_weights, of_values) = (self.values(weights), self.values(values));
        let mut sums = vec![T::ZERO; heads.queries.rows() * columns];
        let groups = heads.queries.split_mut(&mut sums, columns).into_par_iter().enumerate();
        groups.with_min_len(CHUNK).for_each(|(group, sums)| {
            let (first, start) = (heads.queries.range(group).start, places.range(group).start);
            heads.each(group, width, |query, key, column, place| {
                let (to, from) = ((query - first) * columns + column, key * columns + column);
                add_scaled(
                    &mut sums[to..to + width],
                    of_weights[start + place],
                    &of_values[from..from + width],
                );
            });
        });
        let heads = heads.clone();
        self.push((heads.queries.rows(), columns), sums, &[weights, values], move |pass| {
            let (gradient, of_weights, of_values) =
                (pass.gradient, pass.values(weights), pass.values(values));
            if let Some(at) = pass.at(weights) {
                let groups = places.split_mut(at, 1).into_par_iter().enumerate().with_min_len(CHUNK);
                groups.for_each(|(group, at)| {
                    heads.each(group, width, |query, key, column, place| {
                        let (query, key) = (query * columns + column, key * columns + column);
                        at[place] += dot(&gradient[query..query + width], &of_values[key..key + width]);
                    });
                });
            }
            if let Some(at) = pass.at(values) {
                let groups = heads.keys.split_mut(at, columns).into_par_iter().enumerate();
                groups.with_min_len(CHUNK).for_each(|(group, at)| {
                    let (first, start) = (heads.keys.range(group).start, places.range(group).start);
                    heads.each(group, width, |query, key, column, place| {
                        let (to, from) = ((key - first) * columns + column, query * columns + column);
                        let weight = of_weights[start + place];
                        add_scaled(&mut at[to..to + width], weight, &gradient[from..from + width]);
                    });
                });
            }
        })
    }
}
