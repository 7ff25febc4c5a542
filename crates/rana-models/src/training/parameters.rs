//! [`Parameters`]: everything that a training learns, and [`StartVectors`], what it starts from.

use std::sync::Arc;

use rana_embed::Table;

use super::learned_rows::LearnedRows;
use super::start_vectors::StartVectors;
use super::weight_blocks::WeightBlocks;

/// The parameters of a model: named blocks of weights, and tables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ParameterLayout {
    /// The dense weights.
    pub blocks: WeightBlocks,
    /// Numbers that the model updates itself and that have no gradient, such as the running means of a batch norm.
    pub buffers: WeightBlocks,
    /// Whether entity rows learn.
    pub learns_entities: bool,
    /// Whether relation rows learn.
    pub learns_relations: bool,
    /// Vectors behind the start vector in the row of each entity; they start at zero.
    pub extra_vectors: usize,
}

impl ParameterLayout {
    /// The entity rows that a training starts from.
    #[must_use]
    pub fn entity_rows(&self, start: &StartVectors) -> Arc<Table> {
        if self.extra_vectors == 0 {
            return Arc::clone(&start.entities);
        }
        let (count, dim) = (start.entities.rows(), start.dim());
        let width = dim * (1 + self.extra_vectors);
        let mut rows = vec![0.0; count * width];
        for (row, vector) in rows.chunks_exact_mut(width).zip(start.entities.values().chunks_exact(dim)) {
            row[..dim].copy_from_slice(vector);
        }
        // As many values as rows and columns ask for.
        Arc::new(Table::new(count, width, rows).unwrap_or_else(|_| unreachable!()))
    }
}

/// Everything that a training learns.
#[derive(Clone, Debug)]
pub struct Parameters {
    /// The names and shapes of the parameters.
    pub layout: Arc<ParameterLayout>,
    /// The dense weights, in the order of the model's blocks.
    pub weights: Vec<f32>,
    /// The buffers, in the order of their blocks.
    pub buffers: Vec<f32>,
    /// One row per background relation and inverse, in the order of directed ids.
    pub relations: Vec<f32>,
    /// The entity rows.
    pub rows: LearnedRows,
}

impl Parameters {
    /// Weights over the vectors that a training starts from.
    #[must_use]
    pub fn new(layout: &Arc<ParameterLayout>, weights: Vec<f32>, start: &StartVectors) -> Self {
        Self {
            layout: Arc::clone(layout),
            weights,
            buffers: vec![0.0; layout.buffers.len()],
            relations: start.relations.clone(),
            rows: LearnedRows::new(layout.entity_rows(start)),
        }
    }

    /// How many numbers learn, as far as is known: all weights, the relation table if it learns, and entity rows that
    /// have learned.
    #[must_use]
    pub fn learned_count(&self) -> usize {
        let relations = if self.layout.learns_relations { self.relations.len() } else { 0 };
        self.weights.len() + relations + self.rows.learned_values().len()
    }
}
