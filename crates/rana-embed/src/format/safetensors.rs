//! Safetensors: named tensors after a JSON header.

use std::io::{self, Write};
use std::path::Path;

use rana_graph::Array;
use safetensors::Dtype;
use safetensors::tensor::{Metadata, TensorInfo};

use super::floats;
use crate::table::Table;
use crate::table_error::TableError;

/// The header starts with its own length.
const LENGTH: usize = 8;
/// The values start at a multiple of this, so that they can be mapped and read by vector instructions.
const ALIGNMENT: usize = 64;

/// The tensor called `name`, or the only one there is; shared with `bytes` where these are mapped.
pub(crate) fn read(path: &Path, bytes: &Array<u8>, name: &str) -> Result<Table, TableError> {
    let (start, header) = header(path, bytes)?;
    let info = match (header.info(name), &header.offset_keys()[..]) {
        (Some(info), _) => info,
        (None, [only]) => header.info(only).ok_or_else(|| damaged(path, "its header is inconsistent"))?,
        (None, names) => {
            let found = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            let problem = format!(
                "no tensor `{name}` (found: {found}). Rename the tensor, or give a file with only one"
            );
            return Err(TableError::malformed(path, problem));
        }
    };
    let [rows, dim] = info.shape[..] else {
        let problem = format!(
            "a tensor of {} dimensions where a table of rows and columns is due. Reshape it",
            info.shape.len()
        );
        return Err(TableError::malformed(path, problem));
    };
    let range = start + info.data_offsets.0..start + info.data_offsets.1;
    let values = match info.dtype {
        Dtype::F32 => bytes.view(range),
        Dtype::F64 => Some(floats(path, &bytes[range], 8, rows.checked_mul(dim))?.into()),
        other => return Err(TableError::Dtype { file: path.to_owned(), found: other.to_string() }),
    };
    Table::new(rows, dim, values.ok_or_else(|| damaged(path, "a tensor lies outside the file"))?)
}

/// Where the values start, and the header.
///
/// Not `SafeTensors::read_metadata`, because that adds up sizes from the header unchecked.
fn header(path: &Path, bytes: &[u8]) -> Result<(usize, Metadata), TableError> {
    let cut_short =
        |expected: u64| TableError::Size { file: path.to_owned(), expected, found: bytes.len() as u64 };
    let length: [u8; LENGTH] = bytes
        .get(..LENGTH)
        .and_then(|length| length.try_into().ok())
        .ok_or_else(|| cut_short(LENGTH as u64))?;
    let start = u64::from_le_bytes(length).saturating_add(LENGTH as u64);
    let json = usize::try_from(start).ok().and_then(|start| bytes.get(LENGTH..start));
    let json = json.ok_or_else(|| cut_short(start))?;
    let header: Metadata = serde_json::from_slice(json)
        .map_err(|error| damaged(path, &format!("its header is malformed ({error})")))?;
    let end = start.saturating_add(header.data_len() as u64);
    if end != bytes.len() as u64 {
        return Err(cut_short(end));
    }
    Ok((start as usize, header))
}

fn damaged(path: &Path, what: &str) -> TableError {
    TableError::malformed(path, format!("not a sound safetensors file: {what}. Copy or make the file again"))
}

/// Writes tables one after the other under their names.
pub(crate) fn write(out: &mut impl Write, tables: &[(&str, &Table)]) -> io::Result<()> {
    let mut end = 0;
    let infos = tables.iter().map(|(name, table)| {
        let start = end;
        end += size_of_val(table.values());
        let shape = vec![table.rows(), table.dim()];
        ((*name).to_owned(), TensorInfo { dtype: Dtype::F32, shape, data_offsets: (start, end) })
    });
    let header = Metadata::new(None, infos.collect()).map_err(io::Error::other)?;
    let mut json = serde_json::to_vec(&header)?;
    json.resize((LENGTH + json.len()).next_multiple_of(ALIGNMENT) - LENGTH, b' ');
    out.write_all(&(json.len() as u64).to_le_bytes())?;
    out.write_all(&json)?;
    tables.iter().try_for_each(|(_, table)| out.write_all(bytemuck::cast_slice(table.values())))
}
