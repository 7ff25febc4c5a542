//! [`StartVectors`]: the vectors that a training starts from.

use std::sync::Arc;

use rana_embed::{EmbeddingSet, Table};
use rana_graph::Graph;
use rand::RngExt;
use xxhash_rust::xxh3::Xxh3;

use crate::seed::{Purpose, rng};

/// The vectors that a training starts from.
#[derive(Clone, Debug)]
pub struct StartVectors {
    /// One row per entity.
    pub entities: Arc<Table>,
    /// One row per background relation and inverse, in the order of directed ids.
    pub relations: Vec<f32>,
}

/// Vectors that no model can start from, because it adds those of entities and relations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "entity vectors have {entities} numbers and relation vectors {relations}, but they are added up and must have \
     the same number. Use the vectors of a translational model"
)]
pub struct DimensionMismatch {
    /// Numbers per entity.
    pub entities: usize,
    /// Numbers per relation.
    pub relations: usize,
}

impl StartVectors {
    /// Pre-trained vectors. An inverse relation without its own row is the negative of the relation.
    ///
    /// # Errors
    /// If relation vectors are not as wide as those of entities.
    pub fn pretrained(graph: &Graph, set: &EmbeddingSet) -> Result<Self, DimensionMismatch> {
        let dim = set.entities.dim();
        if set.relations.dim() != dim {
            return Err(DimensionMismatch { entities: dim, relations: set.relations.dim() });
        }
        let vectors = set.vectors();
        let mut relations = Vec::with_capacity(2 * graph.relation_count() * dim);
        for relation in graph.relations() {
            for directed in [relation, relation.inverse()] {
                let row = vectors.relation(directed);
                let turns = directed.is_inverse() && !vectors.inverses;
                relations.extend(row.iter().map(|&value| if turns { -value } else { value }));
            }
        }
        Ok(Self { entities: Arc::new(set.entities.clone()), relations })
    }

    /// Random vectors, for data modes that do without pre-training (Glorot and Bengio, 2010).
    #[must_use]
    pub fn random(graph: &Graph, dim: usize, seed: u64) -> Self {
        let table = |rows: usize, place: u64| {
            let bound = (6.0 / (rows + dim) as f64).sqrt() as f32;
            let mut rng = rng(seed, Purpose::Rows, [place, 0]);
            (0..rows * dim).map(|_| rng.random_range(-bound..bound)).collect::<Vec<f32>>()
        };
        let rows = graph.entity_count();
        // As many values as rows and columns ask for.
        let entities = Table::new(rows, dim, table(rows, 0)).unwrap_or_else(|_| unreachable!());
        Self { entities: Arc::new(entities), relations: table(2 * graph.relation_count(), 1) }
    }

    /// The mean distance between the vectors of two entities, of a sample of pairs; at least a little.
    #[must_use]
    pub fn mean_distance(&self) -> f32 {
        const PAIRS: usize = 2000;
        let rows = self.entities.rows();
        if rows == 0 {
            return 1.0;
        }
        let mut rng = rng(0, Purpose::Rows, [u64::MAX, 0]);
        let mut row = || self.entities.row(rng.random_range(0..rows));
        let distance = |(from, to): (&[f32], &[f32])| {
            let squares = from.iter().zip(to).map(|(from, to)| (from - to) * (from - to));
            f64::from(squares.sum::<f32>()).sqrt()
        };
        let sum: f64 = (0..PAIRS).map(|_| distance((row(), row()))).sum();
        ((sum / PAIRS as f64) as f32).max(f32::MIN_POSITIVE)
    }

    /// A checksum of all vectors.
    #[must_use]
    pub fn checksum(&self) -> u64 {
        let mut hasher = Xxh3::new();
        hasher.update(bytemuck::cast_slice(self.entities.values()));
        hasher.update(bytemuck::cast_slice(&self.relations));
        hasher.digest()
    }

    /// Numbers per row.
    #[must_use]
    pub fn dim(&self) -> usize {
        self.entities.dim()
    }
}
