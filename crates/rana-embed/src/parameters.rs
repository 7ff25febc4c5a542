//! [`Parameters`]: the rows of a model under training.

use rand::RngExt;
use rayon::prelude::*;

use crate::embed_config::EmbedConfig;
use crate::huge_pages::zeros;
use crate::model::{ModelKind, Norm};
use crate::seed::{Purpose, rng};
use crate::vectors::Vectors;

/// The rows of a model: one per entity, and one per relation or per directed relation.
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
    /// Entity rows, contiguous.
    pub entities: Vec<f32>,
    /// Relation rows, contiguous: by directed id with inverses, by number without.
    pub relations: Vec<f32>,
}

/// Rows that are filled from one random stream.
const INIT_BLOCK: usize = 256;

impl Parameters {
    /// Random rows, determined by the seed.
    ///
    /// Rows start uniform in ±`init`. The default is `(γ + 2) / dim` for distances, as in the code of RotatE, and
    /// Xavier's bound for inner products. The angles of RotatE start anywhere.
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

    /// The rows as a borrowed view, for scoring.
    #[must_use]
    pub fn vectors(&self) -> Vectors<'_> {
        let Self { model, norm, dim, inverses, .. } = *self;
        Vectors { model, norm, dim, inverses, entities: &self.entities, relations: &self.relations }
    }

    /// The number of entities.
    #[must_use]
    pub fn entity_count(&self) -> usize {
        self.vectors().entity_count()
    }

    /// The number of relations, without inverses.
    #[must_use]
    pub fn relation_count(&self) -> usize {
        self.vectors().relation_count()
    }

    /// Numbers per relation row.
    #[must_use]
    pub fn relation_width(&self) -> usize {
        self.model.relation_width(self.dim)
    }
}
