//! [`Parameters`]: the vectors of a graph and the model they belong to.

use rana_graph::{EntityId, RelationId};
use rand::RngExt;
use rayon::prelude::*;

use crate::config::EmbedConfig;
use crate::huge_pages::zeros;
use crate::model::{ModelKind, Norm};
use crate::seed::{Purpose, rng};
use crate::side::Side;
use crate::similarity::{Blocks, Similarity};

/// One row per entity, one per relation (or per directed relation), and how they are read.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameters {
    /// The score function.
    pub model: ModelKind,
    /// The distance of TransE.
    pub norm: Norm,
    /// Numbers per entity row.
    pub dim: usize,
    /// Whether inverse relations have rows of their own.
    pub inverses: bool,
    /// Entity rows back to back.
    pub entities: Vec<f32>,
    /// Relation rows back to back: by directed id with inverses, by number without.
    pub relations: Vec<f32>,
}

/// Rows that one stream of random numbers fills.
const INIT_BLOCK: usize = 256;

impl Parameters {
    /// Random rows, fixed by the seed.
    ///
    /// Rows start uniform within `init`; by default `(γ + 2) / dim` for distances, as in the code of
    /// RotatE, and Xavier's bound for inner products. The angles of RotatE start anywhere.
    #[must_use]
    pub fn random(config: &EmbedConfig, entities: usize, relations: usize) -> Self {
        let EmbedConfig { model, norm, dim, inverses, seed, .. } = *config;
        let width = model.relation_width(dim);
        let relation_rows = if inverses { 2 * relations } else { relations };
        let bound = |rows: usize| {
            config.init.unwrap_or_else(|| match model.similarity(norm).is_distance() {
                true => (config.loss.scale() + 2.0) / dim as f32,
                false => (6.0 / (rows + dim) as f32).sqrt(),
            })
        };
        let relation_bound = match model {
            ModelKind::RotatE => std::f32::consts::PI,
            _ => bound(relation_rows),
        };
        let fill = |purpose: Purpose, values: usize, width: usize, bound: f32| {
            let mut table = zeros(values * width);
            table.par_chunks_mut((INIT_BLOCK * width).max(1)).enumerate().for_each(|(block, values)| {
                let mut rng = rng(seed, purpose, [block as u64, 0]);
                values.fill_with(|| rng.random_range(-bound..=bound));
            });
            table
        };
        Self {
            model,
            norm,
            dim,
            inverses,
            entities: fill(Purpose::EntityRows, entities, dim, bound(entities)),
            relations: fill(Purpose::RelationRows, relation_rows, width, relation_bound),
        }
    }

    /// How many entities there are.
    #[must_use]
    pub fn entity_count(&self) -> usize {
        self.entities.len() / self.dim
    }

    /// How many relations there are, inverses not counted.
    #[must_use]
    pub fn relation_count(&self) -> usize {
        let rows = self.relations.len() / self.relation_width();
        if self.inverses { rows / 2 } else { rows }
    }

    /// Numbers per relation row.
    #[must_use]
    pub fn relation_width(&self) -> usize {
        self.model.relation_width(self.dim)
    }

    /// What queries are compared to entity rows by.
    #[must_use]
    pub fn similarity(&self) -> Similarity {
        self.model.similarity(self.norm)
    }

    /// The row of an entity.
    #[must_use]
    pub fn entity(&self, entity: EntityId) -> &[f32] {
        &self.entities[entity.index() * self.dim..(entity.index() + 1) * self.dim]
    }

    /// The row of a relation; without inverses, that of its forward direction.
    #[must_use]
    pub fn relation(&self, relation: RelationId) -> &[f32] {
        let (row, _) = route(self.inverses, relation);
        &self.relations[row * self.relation_width()..(row + 1) * self.relation_width()]
    }

    /// Writes the query for `(anchor, relation, ?)`; an inverse relation asks for a head.
    ///
    /// # Panics
    /// If an id is out of range or the query is not [`dim`](Self::dim) wide.
    pub fn query(&self, anchor: EntityId, relation: RelationId, query: &mut [f32]) {
        let (_, side) = route(self.inverses, relation);
        self.model.queries(self.dim, side, self.entity(anchor), self.relation(relation), query);
    }

    /// The score of a fact, asked for from its head; an inverse relation asks from its tail.
    ///
    /// # Panics
    /// If an id is out of range.
    #[must_use]
    pub fn score(&self, head: EntityId, relation: RelationId, tail: EntityId) -> f32 {
        let mut query = vec![0.0; self.dim];
        self.query(head, relation, &mut query);
        let mut score = [0.0];
        self.similarity().scores(Blocks::pairs(1, self.dim), &query, self.entity(tail), &mut score);
        score[0]
    }
}

/// The row of a directed relation, and the side its query asks for.
///
/// With inverses every direction has its own row and asks for a tail; without, the inverse
/// direction asks for the head through the forward row.
pub(crate) fn route(inverses: bool, relation: RelationId) -> (usize, Side) {
    match (inverses, relation.is_inverse()) {
        (true, _) => (relation.index(), Side::Tail),
        (false, false) => (relation.number(), Side::Tail),
        (false, true) => (relation.number(), Side::Head),
    }
}
