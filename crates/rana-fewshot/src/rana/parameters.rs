//! [`RanaParameters`]: everything that meta-training learns.

use std::sync::Arc;

use rana_embed::{EmbeddingSet, Table};
use rana_graph::Graph;
use rand::RngExt;
use xxhash_rust::xxh3::Xxh3;

use super::config::{RanaConfig, RelInit};
use super::learned_rows::LearnedRows;
use super::weights::Layout;
use crate::seed::{Purpose, rng};

/// Everything that meta-training learns.
#[derive(Clone, Debug)]
pub struct RanaParameters {
    /// The network's weights, as the [`Layout`] says.
    pub weights: Vec<f32>,
    /// One row per background relation and inverse, in the order of directed ids.
    pub relations: Vec<f32>,
    /// The entity rows.
    pub rows: LearnedRows,
}

/// The vectors that meta-training starts from.
#[derive(Clone, Debug)]
pub struct StartVectors {
    /// One row per entity.
    pub entities: Arc<Table>,
    /// One row per background relation and inverse, in the order of directed ids.
    pub relations: Vec<f32>,
}

/// Vectors that RANA cannot start from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "entity vectors have {entities} numbers and relation vectors {relations}, but RANA adds them up and needs \
     as many. Pre-train with a translational model: `rana embed --model transe`"
)]
pub struct DimensionMismatch {
    /// Numbers per entity.
    pub entities: usize,
    /// Numbers per relation.
    pub relations: usize,
}

impl StartVectors {
    /// Pre-trained vectors. An inverse relation without a row of its own translates backwards.
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

impl RanaParameters {
    /// What training starts from.
    #[must_use]
    pub fn initial(config: &RanaConfig, layout: &Layout, start: &StartVectors) -> Self {
        let mut weights = layout.initial(config.init, config.seed);
        if config.rel_init == RelInit::Zero {
            layout.relation_blocks().for_each(|block| block.of_mut(&mut weights).fill(0.0));
        }
        Self {
            weights,
            relations: start.relations.clone(),
            rows: LearnedRows::new(Arc::clone(&start.entities)),
        }
    }
}
