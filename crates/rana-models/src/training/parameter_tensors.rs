//! [`parameter_tensors`] and [`read_parameters`]: parameters as the tensors of a file, of a model or of a checkpoint.

use std::path::Path;
use std::sync::Arc;

use rana_embed::format::{Tensor, TensorFile, Values};
use rana_graph::EntityId;

use super::learned_rows::LearnedRows;
use super::parameters::{ParameterLayout, Parameters};
use super::run_error::RunError;
use super::start_vectors::StartVectors;
use super::weight_blocks::WeightBlocks;

/// The prefix of the tensors of buffers.
const BUFFER: &str = "buffer.";

/// The tensors of parameters, their names behind a prefix.
pub(super) fn parameter_tensors<'p>(parameters: &'p Parameters, prefix: &str) -> Vec<Tensor<'p>> {
    let layout = &parameters.layout;
    let all = [("", &layout.blocks, &parameters.weights), (BUFFER, &layout.buffers, &parameters.buffers)];
    let mut tensors: Vec<Tensor<'_>> = Vec::new();
    for (kind, blocks, values) in all {
        tensors.extend(blocks.blocks().iter().map(|block| Tensor {
            name: format!("{prefix}{kind}{}", block.name),
            shape: vec![block.rows, block.columns],
            values: Values::F32(&values[block.range()]),
        }));
    }
    let dim = parameters.rows.dim();
    if parameters.layout.learns_relations {
        tensors.push(Tensor {
            name: format!("{prefix}relations"),
            shape: vec![parameters.relations.len() / dim, dim],
            values: Values::F32(&parameters.relations),
        });
    }
    let rows = &parameters.rows;
    tensors.push(Tensor {
        name: format!("{prefix}rows.entities"),
        shape: vec![rows.learned().len()],
        values: Values::U32(bytemuck::cast_slice(rows.learned())),
    });
    tensors.push(Tensor {
        name: format!("{prefix}rows.values"),
        shape: vec![rows.learned().len(), dim],
        values: Values::F32(rows.learned_values()),
    });
    tensors
}

/// The parameters in a file, the names of their tensors behind a prefix.
///
/// # Errors
/// If a tensor is missing, or has another shape than the configuration and the graph give.
pub(super) fn read_parameters(
    path: &Path,
    file: &TensorFile,
    prefix: &str,
    layout: &Arc<ParameterLayout>,
    start: &StartVectors,
) -> Result<Parameters, RunError> {
    let weights = read_blocks(path, file, &layout.blocks, prefix)?;
    let buffers = read_blocks(path, file, &layout.buffers, &format!("{prefix}{BUFFER}"))?;
    let relations = match layout.learns_relations {
        true => file.f32(&format!("{prefix}relations"))?.to_vec(),
        false => start.relations.clone(),
    };
    let entities = file.u32(&format!("{prefix}rows.entities"))?.iter().copied().map(EntityId).collect();
    let values = file.f32(&format!("{prefix}rows.values"))?.to_vec();
    let rows = LearnedRows::with_copies(layout.entity_rows(start), entities, values);
    match rows {
        Some(rows) if relations.len() == start.relations.len() => {
            Ok(Parameters { layout: Arc::clone(layout), weights, buffers, relations, rows })
        }
        _ => Err(RunError::malformed(path, "its rows are not those of this graph")),
    }
}

/// The values of some blocks, each a tensor of its name behind a prefix.
fn read_blocks(
    path: &Path,
    file: &TensorFile,
    blocks: &WeightBlocks,
    prefix: &str,
) -> Result<Vec<f32>, RunError> {
    let mut all = Vec::with_capacity(blocks.len());
    for block in blocks.blocks() {
        let values = file.f32(&format!("{prefix}{}", block.name))?;
        if values.len() != block.rows * block.columns {
            let message = format!(
                "`{prefix}{}` has {} values where the configuration has {}",
                block.name,
                values.len(),
                block.rows * block.columns
            );
            return Err(RunError::malformed(path, &message));
        }
        all.extend_from_slice(&values);
    }
    Ok(all)
}
