//! [`EncoderGradients`]: the gradients of the weights and rows of the encoder.

use rana_embed::matmul::{Matrix, add_product};
use rayon::prelude::*;

use super::encoder::{Projected, Projection};
use super::inputs::Inputs;
use super::neighbour_attention::AttendScratch;
use crate::real::{Real, add_scaled};
use crate::training::Block;
use crate::training::row_gradients::RowGradients;

/// The gradients that the encoder adds to.
pub(super) struct EncoderGradients<T> {
    pub(super) weights: Vec<T>,
    /// Of the [`Projection`].
    pub(super) projected: Vec<Projected<T>>,
    /// Of relation rows; empty unless they learn.
    pub(super) relations: Vec<T>,
    /// Of entity rows, if the encoder's learn.
    pub(super) entities: Option<RowGradients<T>>,
    pub(super) scratch: AttendScratch<T>,
}

impl<T: Real> EncoderGradients<T> {
    pub(super) fn new(inputs: Inputs<'_, T>, projection: &Projection<T>, entities: bool) -> Self {
        let relations = if inputs.config.train_relations { inputs.relations.len() } else { 0 };
        Self {
            weights: vec![T::ZERO; inputs.layout.weights()],
            projected: projection.0.iter().map(Projected::zeros).collect(),
            relations: vec![T::ZERO; relations],
            entities: entities.then(|| RowGradients::new(inputs.dim())),
            scratch: AttendScratch::new(inputs),
        }
    }

    /// Adds the gradients of others, which come after these, each number in their order.
    pub(super) fn add(&mut self, others: &[Self]) {
        add_each(&mut self.weights, others, |other| &other.weights);
        for (end, to) in self.projected.iter_mut().enumerate() {
            add_each(&mut to.attention, others, |other| &other.projected[end].attention);
            add_each(&mut to.aggregate, others, |other| &other.projected[end].aggregate);
        }
        add_each(&mut self.relations, others, |other| &other.relations);
        if let Some(to) = &mut self.entities {
            others.iter().filter_map(|other| other.entities.as_ref()).for_each(|from| to.append(from));
        }
    }

    /// Turns the gradient of the projection into those of its weights and of relation rows.
    pub(super) fn finish(&mut self, inputs: Inputs<'_, T>) {
        let dim = inputs.dim();
        let relations = inputs.relations.len() / dim;
        let rows = Matrix::new(inputs.relations, relations, dim);
        for (blocks, projected) in inputs.layout.ends.iter().zip(&self.projected) {
            let of_weights = |block: Option<&Block>, gradient: &[T]| {
                let Some(block) = block else { return Vec::new() };
                let mut weights = vec![T::ZERO; block.rows * dim];
                add_product(&mut weights, Matrix::new(gradient, relations, block.rows).transposed(), rows);
                weights
            };
            let of = blocks.of_relations();
            let gradients = [&projected.attention, &projected.aggregate];
            let (attention, aggregate) =
                rayon::join(|| of_weights(of[0], gradients[0]), || of_weights(of[1], gradients[1]));
            for ((block, gradient), of_weights) in of.into_iter().zip(gradients).zip([attention, aggregate]) {
                let Some(block) = block else { continue };
                add_scaled(block.of_mut(&mut self.weights), T::ONE, &of_weights);
                if !self.relations.is_empty() {
                    let weights = Matrix::new(block.of(inputs.weights), block.rows, dim);
                    add_product(&mut self.relations, Matrix::new(gradient, relations, block.rows), weights);
                }
            }
        }
    }
}

/// Adds a vector of each of some gradients; threads share its numbers, not the gradients, so that every sum has
/// its order.
fn add_each<T: Real>(
    to: &mut [T],
    all: &[EncoderGradients<T>],
    of: impl Fn(&EncoderGradients<T>) -> &[T] + Sync,
) {
    const RUN: usize = 8192;
    to.par_chunks_mut(RUN).enumerate().for_each(|(run, to)| {
        for gradients in all {
            add_scaled(to, T::ONE, &of(gradients)[run * RUN..][..to.len()]);
        }
    });
}
