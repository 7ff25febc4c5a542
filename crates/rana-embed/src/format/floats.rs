//! [`floats`]: the numbers in the bytes of a file.

use std::path::Path;

use crate::vector_error::VectorError;

/// Converts little-endian floats of 32 or 64 bits to 32-bit floats. Checks their number, if `count` is given.
pub(super) fn floats(
    path: &Path,
    bytes: &[u8],
    size: usize,
    count: Option<usize>,
) -> Result<Vec<f32>, VectorError> {
    let expected = count.and_then(|count| count.checked_mul(size));
    if expected != Some(bytes.len()) {
        let expected = expected.map_or(u64::MAX, |bytes| bytes as u64);
        return Err(VectorError::Size { file: path.to_owned(), expected, found: bytes.len() as u64 });
    }
    Ok(match size {
        8 => bytes.chunks_exact(8).map(|value| bytemuck::pod_read_unaligned::<f64>(value) as f32).collect(),
        _ => bytes.chunks_exact(4).map(bytemuck::pod_read_unaligned).collect(),
    })
}
