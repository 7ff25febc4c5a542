//! [`Neighbourhoods`]: which neighbours an entity is seen with, and their rows on a tape.

use std::borrow::Cow;
use std::collections::HashMap;

use rana_graph::{Edge, EntityId, Graph, RelationId};

use super::network::MatchingSettings;
use crate::real::Real;
use crate::tape::{Gradients, Segments, Tape, Var};
use crate::training::row_gradients::RowGradients;
use crate::training::{Rows, SummedRows};

/// Added to the deviation of a row that is standardised, as in the public code.
const EPSILON: f64 = 1e-3;

/// The background neighbours of entities: the first ones in file order.
#[derive(Clone)]
pub(super) struct Neighbourhoods {
    graph: Graph,
    limit: usize,
    hides_own_edges: bool,
    standardises: bool,
    learns: bool,
}

/// An entity as one relation sees it: edges of that relation may be hidden.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Seen {
    pub(super) entity: EntityId,
    /// The number of the hidden relation.
    pub(super) hidden: Option<usize>,
}

/// The vectors of entities and relations.
#[derive(Clone, Copy)]
pub(super) struct Tables<'w, T> {
    pub(super) rows: &'w dyn Rows<T>,
    /// One row per relation and inverse, in the order of directed ids.
    pub(super) relations: &'w [T],
    pub(super) dim: usize,
}

/// The neighbours of some entities on a tape, one row per edge.
pub(crate) struct Slots {
    /// The vector of each edge's relation.
    pub(crate) relations: Var,
    /// The vector of each edge's entity.
    pub(crate) entities: Var,
    /// Which edges each entity has.
    pub(crate) segments: Segments,
    /// The entities of all edges, each once, and the leaf with their rows.
    neighbours: Vec<EntityId>,
    leaf: Var,
    /// The leaf of all relations.
    relation_leaf: Var,
}

impl Neighbourhoods {
    /// `sees_graph` says whether the background may be looked at.
    pub(super) fn new(graph: &Graph, settings: &MatchingSettings, sees_graph: bool) -> Self {
        Self {
            graph: graph.clone(),
            limit: if sees_graph { settings.neighbours } else { 0 },
            hides_own_edges: settings.hides_own_edges,
            standardises: settings.standardises,
            learns: settings.fine_tunes,
        }
    }

    /// The relation to hide while another one is asked for.
    pub(super) fn hidden(&self, asked: Option<RelationId>) -> Option<usize> {
        let has_edges = |relation: &RelationId| self.hides_own_edges && self.graph.is_background(*relation);
        asked.filter(has_edges).map(RelationId::number)
    }

    fn of(&self, seen: Seen) -> impl Iterator<Item = Edge> + '_ {
        let edges = self.graph.neighbours(seen.entity).iter().copied();
        edges.filter(move |edge| seen.hidden != Some(edge.relation.number())).take(self.limit)
    }

    /// The neighbours of some entities.
    pub(super) fn slots<'w, T: Real>(
        &self,
        tape: &mut Tape<'w, T>,
        tables: Tables<'w, T>,
        seen: &[Seen],
    ) -> Slots {
        let (mut relations, mut entities, mut lengths) = (Vec::new(), Vec::new(), Vec::new());
        let (mut neighbours, mut places) = (Vec::new(), HashMap::new());
        for &seen in seen {
            let before = relations.len();
            for edge in self.of(seen) {
                relations.push(edge.relation.0);
                entities.push(*places.entry(edge.entity).or_insert_with(|| {
                    neighbours.push(edge.entity);
                    neighbours.len() as u32 - 1
                }));
            }
            lengths.push(relations.len() - before);
        }
        let mut values = Vec::with_capacity(neighbours.len() * tables.dim);
        neighbours.iter().for_each(|&entity| values.extend_from_slice(tables.rows.row(entity)));
        let mut table = Cow::Borrowed(tables.relations);
        if self.standardises {
            standardise(&mut values, tables.dim);
            standardise(table.to_mut(), tables.dim);
        }
        let (leaf, relation_leaf) = if self.learns {
            (tape.rows(values, tables.dim), tape.rows(table.into_owned(), tables.dim))
        } else {
            (tape.constant(values, tables.dim), tape.constant(table, tables.dim))
        };
        Slots {
            relations: tape.gather_rows(relation_leaf, relations),
            entities: tape.gather_rows(leaf, entities),
            segments: Segments::of_lengths(lengths),
            neighbours,
            leaf,
            relation_leaf,
        }
    }
}

impl Slots {
    /// The gradients of the rows of neighbours.
    pub(super) fn row_gradients<T: Real>(&self, gradients: &Gradients<T>, dim: usize) -> SummedRows<T> {
        let mut rows = RowGradients::new(dim);
        if let Some(found) = gradients.of(self.leaf) {
            for (&entity, gradient) in self.neighbours.iter().zip(found.chunks_exact(dim)) {
                rows.push(entity, T::ONE, gradient);
            }
        }
        rows.summed()
    }

    /// The gradients of all relation rows; empty if they do not learn.
    pub(super) fn relation_gradients<T: Real>(&self, gradients: &Gradients<T>) -> Vec<T> {
        gradients.of(self.relation_leaf).map(<[T]>::to_vec).unwrap_or_default()
    }
}

/// Each row minus its mean, over its deviation.
fn standardise<T: Real>(rows: &mut [T], dim: usize) {
    for row in rows.chunks_exact_mut(dim) {
        let count = dim as f64;
        let mean = row.iter().map(|value| value.wide()).sum::<f64>() / count;
        let variance = row.iter().map(|value| (value.wide() - mean).powi(2)).sum::<f64>() / count;
        let scale = 1.0 / (variance.sqrt() + EPSILON);
        row.iter_mut().for_each(|value| *value = T::of((value.wide() - mean) * scale));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rana_graph::{Duplicates, GraphBuilder};

    #[test]
    fn edges_of_the_asked_relation_are_hidden_and_the_first_others_are_seen() {
        let mut builder = GraphBuilder::new(Duplicates::Remove);
        for (head, relation, tail) in
            [("a", "r", "b"), ("a", "s", "c"), ("d", "r", "a"), ("a", "s", "d"), ("a", "t", "b")]
        {
            builder.add_named(head, relation, tail);
        }
        builder.add_task_relation("asked").unwrap();
        let graph = builder.finish();
        let settings = MatchingSettings {
            neighbours: 2,
            hides_own_edges: true,
            standardises: false,
            fine_tunes: false,
            margin: 1.0,
            negatives: 1,
            init: crate::training::Init::Torch,
        };
        let all = Neighbourhoods::new(&graph, &settings, true);
        let of = |all: &Neighbourhoods, asked: &str| {
            let (entity, hidden) = (graph.entity("a").unwrap(), all.hidden(graph.relation(asked)));
            let edges = all.of(Seen { entity, hidden });
            edges.map(|edge| graph.entity_name(edge.entity).to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(of(&all, "asked"), ["b", "c"]);
        assert_eq!(of(&all, "r"), ["c", "d"]);
        let shows = MatchingSettings { hides_own_edges: false, ..settings };
        assert_eq!(of(&Neighbourhoods::new(&graph, &shows, true), "r"), ["b", "c"]);
        assert!(of(&Neighbourhoods::new(&graph, &settings, false), "asked").is_empty());
    }

    #[test]
    fn a_standardised_row_has_mean_zero_and_deviation_one() {
        let mut rows = vec![1.0, 2.0, 3.0, 6.0, 5.0, 5.0, 5.0, 5.0];
        standardise(&mut rows, 4);
        let (mean, square) = (rows[..4].iter().sum::<f64>(), rows[..4].iter().map(|x| x * x).sum::<f64>());
        assert!(mean.abs() < 1e-12 && (square - 4.0).abs() < 0.01, "{rows:?}");
        assert_eq!(rows[4..], [0.0; 4]);
    }
}
