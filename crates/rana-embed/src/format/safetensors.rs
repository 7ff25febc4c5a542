//! Tables as safetensors.

use std::io::{self, Write};
use std::path::Path;

use rana_graph::Array;
use safetensors::Dtype;

use super::floats::floats;
use super::tensor_file::{Tensor, Values, damaged, header, write_tensors};
use crate::table::Table;
use crate::vector_error::VectorError;

/// Reads the tensor called `name`, or the only one. The table shares `bytes` if these are memory-mapped.
pub(crate) fn read(path: &Path, bytes: &Array<u8>, name: &str) -> Result<Table, VectorError> {
    let (start, header) = header(path, bytes)?;
    let info = match (header.info(name), &header.offset_keys()[..]) {
        (Some(info), _) => info,
        (None, [only]) => header.info(only).ok_or_else(|| damaged(path, "its header is inconsistent"))?,
        (None, names) => {
            let found = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            let problem = format!(
                "no tensor `{name}` (found: {found}). Rename the tensor, or give a file with only one"
            );
            return Err(VectorError::malformed(path, problem));
        }
    };
    let [rows, dim] = info.shape[..] else {
        let problem =
            format!("a tensor of {} dimensions, expected 2 (rows and columns). Reshape it", info.shape.len());
        return Err(VectorError::malformed(path, problem));
    };
    let range = start + info.data_offsets.0..start + info.data_offsets.1;
    let values = match info.dtype {
        Dtype::F32 => bytes.view(range),
        Dtype::F64 => Some(floats(path, &bytes[range], 8, rows.checked_mul(dim))?.into()),
        other => return Err(VectorError::Dtype { file: path.to_owned(), found: other.to_string() }),
    };
    Table::new(rows, dim, values.ok_or_else(|| damaged(path, "a tensor lies outside the file"))?)
}

/// Writes tables one after the other under their names.
pub(crate) fn write(out: &mut impl Write, tables: &[(&str, &Table)]) -> io::Result<()> {
    let tensors: Vec<Tensor<'_>> = tables
        .iter()
        .map(|(name, table)| Tensor {
            name: (*name).to_owned(),
            shape: vec![table.rows(), table.dim()],
            values: Values::F32(table.values()),
        })
        .collect();
    write_tensors(out, None, &tensors)
}
