//! [`PairBatch`]: the pairs of a step, each once, and [`PairRows`], all that their encoding reads, on a tape.

use std::collections::HashMap;

use rana_graph::{EntityId, Pair};

use super::neighbourhood::{Hidden, Neighbourhood};
use crate::real::Real;
use crate::tape::{Gradients, Segments, Tape, Var};
use crate::training::row_gradients::RowGradients;
use crate::training::{Rows, SummedRows};

/// The vectors of entities and relations.
#[derive(Clone, Copy)]
pub(super) struct Tables<'w, T> {
    pub(super) rows: &'w dyn Rows<T>,
    /// One row per relation and inverse, in the order of directed ids.
    pub(super) relations: &'w [T],
    pub(super) dim: usize,
    /// Whether they learn.
    pub(super) learn: bool,
}

/// Pairs of some tasks, each once. A relation may hide its edges, so a pair of another relation is another one.
#[derive(Default)]
pub(super) struct PairBatch {
    pairs: Vec<(Pair, Hidden)>,
    places: HashMap<(Pair, Hidden), u32>,
}

/// The neighbours of the ends of pairs, one row per edge, by their places among distinct relations and neighbours.
pub(super) struct Slots {
    pub(super) relations: Vec<u32>,
    pub(super) neighbours: Vec<u32>,
    /// Which edges each end has.
    pub(super) segments: Segments,
}

/// All that the encoding of pairs reads, on a tape.
pub(super) struct PairRows {
    /// The rows of the entities of all pairs, each once.
    pub(super) entities: Var,
    /// Which of them is the head of each pair.
    pub(super) heads: Vec<u32>,
    /// Which is the tail.
    pub(super) tails: Vec<u32>,
    /// All relations.
    pub(super) relations: Var,
    /// The rows of all neighbours, each once.
    pub(super) neighbours: Var,
    pub(super) slots: Slots,
    ids: [Vec<EntityId>; 2],
}

/// Entities, each once, in the order they came up.
#[derive(Default)]
struct Distinct {
    entities: Vec<EntityId>,
    places: HashMap<EntityId, u32>,
}

impl Distinct {
    fn place(&mut self, entity: EntityId) -> u32 {
        *self.places.entry(entity).or_insert_with(|| {
            self.entities.push(entity);
            self.entities.len() as u32 - 1
        })
    }

    fn leaf<T: Real>(&self, tape: &mut Tape<'_, T>, tables: Tables<'_, T>) -> Var {
        let mut values = Vec::with_capacity(self.entities.len() * tables.dim);
        self.entities.iter().for_each(|&entity| values.extend_from_slice(tables.rows.row(entity)));
        if tables.learn { tape.rows(values, tables.dim) } else { tape.constant(values, tables.dim) }
    }
}

impl PairBatch {
    /// The place of a pair; a new one if it has none yet.
    pub(super) fn place(&mut self, pair: Pair, hidden: Hidden) -> u32 {
        *self.places.entry((pair, hidden)).or_insert_with(|| {
            self.pairs.push((pair, hidden));
            self.pairs.len() as u32 - 1
        })
    }

    /// All that the encoding of the pairs reads.
    pub(super) fn rows<'w, T: Real>(
        &self,
        tape: &mut Tape<'w, T>,
        tables: Tables<'w, T>,
        neighbourhood: &Neighbourhood,
    ) -> PairRows {
        let (mut entities, mut neighbours) = (Distinct::default(), Distinct::default());
        let (mut of_relations, mut of_neighbours, mut lengths) = (Vec::new(), Vec::new(), Vec::new());
        let (mut heads, mut tails) = (Vec::new(), Vec::new());
        for &(pair, hidden) in &self.pairs {
            heads.push(entities.place(pair.head));
            tails.push(entities.place(pair.tail));
            for end in [pair.head, pair.tail] {
                let before = of_relations.len();
                for edge in neighbourhood.of(end, hidden) {
                    of_relations.push(edge.relation.0);
                    of_neighbours.push(neighbours.place(edge.entity));
                }
                lengths.push(of_relations.len() - before);
            }
        }
        let relations = if tables.learn {
            tape.rows(tables.relations.to_vec(), tables.dim)
        } else {
            tape.constant(tables.relations, tables.dim)
        };
        PairRows {
            entities: entities.leaf(tape, tables),
            heads,
            tails,
            relations,
            neighbours: neighbours.leaf(tape, tables),
            slots: Slots {
                relations: of_relations,
                neighbours: of_neighbours,
                segments: Segments::of_lengths(lengths),
            },
            ids: [entities.entities, neighbours.entities],
        }
    }
}

impl PairRows {
    /// The gradients of the rows of entities; none if they do not learn.
    pub(super) fn row_gradients<T: Real>(&self, gradients: &Gradients<T>, dim: usize) -> SummedRows<T> {
        let mut rows = RowGradients::new(dim);
        for (leaf, ids) in [self.entities, self.neighbours].into_iter().zip(&self.ids) {
            if let Some(found) = gradients.of(leaf) {
                for (&entity, gradient) in ids.iter().zip(found.chunks_exact(dim)) {
                    rows.push(entity, T::ONE, gradient);
                }
            }
        }
        rows.summed()
    }

    /// The gradients of all relation rows; empty if they do not learn.
    pub(super) fn relation_gradients<T: Real>(&self, gradients: &Gradients<T>) -> Vec<T> {
        gradients.of(self.relations).map(<[T]>::to_vec).unwrap_or_default()
    }
}
