//! [`TensorFile`]: named tensors after a JSON header, in the safetensors format.

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use rana_graph::{Array, write_file_atomically};
use safetensors::Dtype;
use safetensors::tensor::{Metadata, TensorInfo};
use xxhash_rust::xxh3::Xxh3;

use crate::vector_error::VectorError;

/// The file starts with the length of the header, in this many bytes.
const LENGTH: usize = 8;
/// The values start at a multiple of this, so that they can be memory-mapped and read with vector instructions.
const ALIGNMENT: usize = 64;

/// The position of the values, and the header.
///
/// This does not use `SafeTensors::read_metadata`, because that adds sizes from the header without checks.
pub(super) fn header(path: &Path, bytes: &[u8]) -> Result<(usize, Metadata), VectorError> {
    let cut_short =
        |expected: u64| VectorError::Size { file: path.to_owned(), expected, found: bytes.len() as u64 };
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

pub(super) fn damaged(path: &Path, what: &str) -> VectorError {
    VectorError::malformed(path, format!("not a valid safetensors file: {what}. Copy or make the file again"))
}

/// A tensor to write.
#[derive(Clone, Debug)]
pub struct Tensor<'a> {
    /// Its name.
    pub name: String,
    /// Its size along each dimension.
    pub shape: Vec<usize>,
    /// Its values, with the last dimension contiguous.
    pub values: Values<'a>,
}

/// The values of a tensor.
#[derive(Clone, Copy, Debug)]
pub enum Values<'a> {
    /// Single-precision numbers.
    F32(&'a [f32]),
    /// 32-bit unsigned integers.
    U32(&'a [u32]),
    /// 64-bit unsigned integers.
    U64(&'a [u64]),
}

impl<'a> Values<'a> {
    fn bytes(self) -> &'a [u8] {
        match self {
            Self::F32(values) => bytemuck::cast_slice(values),
            Self::U32(values) => bytemuck::cast_slice(values),
            Self::U64(values) => bytemuck::cast_slice(values),
        }
    }

    fn dtype(self) -> Dtype {
        match self {
            Self::F32(_) => Dtype::F32,
            Self::U32(_) => Dtype::U32,
            Self::U64(_) => Dtype::U64,
        }
    }
}

/// Writes tensors one after the other, after a header with notes.
///
/// # Errors
/// If a shape does not fit its values, or writing fails.
pub fn write_tensors(
    out: &mut impl Write,
    notes: Option<HashMap<String, String>>,
    tensors: &[Tensor<'_>],
) -> io::Result<()> {
    let mut end = 0;
    let infos = tensors.iter().map(|tensor| {
        let start = end;
        end += tensor.values.bytes().len();
        let info = TensorInfo {
            dtype: tensor.values.dtype(),
            shape: tensor.shape.clone(),
            data_offsets: (start, end),
        };
        (tensor.name.clone(), info)
    });
    let header = Metadata::new(notes, infos.collect()).map_err(io::Error::other)?;
    let mut json = serde_json::to_vec(&header)?;
    json.resize((LENGTH + json.len()).next_multiple_of(ALIGNMENT) - LENGTH, b' ');
    out.write_all(&(json.len() as u64).to_le_bytes())?;
    out.write_all(&json)?;
    tensors.iter().try_for_each(|tensor| out.write_all(tensor.values.bytes()))
}

/// A file of tensors with a checksum.
#[derive(Debug)]
pub struct TensorFile {
    path: PathBuf,
    bytes: Array<u8>,
    start: usize,
    header: Metadata,
}

impl TensorFile {
    /// Writes tensors and a note to a file, completely or not at all.
    ///
    /// # Errors
    /// If the disk fails; an existing file then stays unchanged.
    pub fn write(path: &Path, note: (&str, &str), tensors: &[Tensor<'_>]) -> Result<(), VectorError> {
        let mut hasher = Xxh3::new();
        hasher.update(note.1.as_bytes());
        tensors.iter().for_each(|tensor| hasher.update(tensor.values.bytes()));
        // Only one note, because the order of several is random, and the same content must give the same bytes.
        let text = format!("{:016x} {}", hasher.digest(), note.1);
        let notes = HashMap::from([(note.0.to_owned(), text)]);
        write_file_atomically(path, |out| write_tensors(out, Some(notes), tensors))
            .map_err(VectorError::io(path, "write the file"))
    }

    /// Opens such a file, memory-mapped, and verifies its checksum. `note` is the key of its note.
    ///
    /// # Errors
    /// If it cannot be read, or was truncated or altered.
    pub fn open(path: &Path, note: &str) -> Result<(Self, String), VectorError> {
        let bytes = Array::map_file(path).map_err(VectorError::io(path, "open the file"))?;
        let (start, header) = header(path, &bytes)?;
        let notes = header.metadata().clone().unwrap_or_default();
        let Some((checksum, text)) = notes.get(note).and_then(|note| note.split_once(' ')) else {
            return Err(VectorError::malformed(
                path,
                format!("a safetensors file without the note `{note}`. Give a file that rana wrote"),
            ));
        };
        // In the order of the file, in which they were also hashed when written.
        let mut hasher = Xxh3::new();
        hasher.update(text.as_bytes());
        hasher.update(&bytes[start..]);
        if format!("{:016x}", hasher.digest()) != checksum {
            return Err(VectorError::Altered { file: path.to_owned(), what: "checksum mismatch".to_owned() });
        }
        let text = text.to_owned();
        Ok((Self { path: path.to_owned(), bytes, start, header }, text))
    }

    /// The values of a tensor of 32-bit floats.
    ///
    /// # Errors
    /// If there is no tensor of that name, or it has another type.
    pub fn f32(&self, name: &str) -> Result<Array<f32>, VectorError> {
        self.values(name, Dtype::F32)
    }

    /// The values of a tensor of 32-bit integers.
    ///
    /// # Errors
    /// As [`f32`](Self::f32).
    pub fn u32(&self, name: &str) -> Result<Array<u32>, VectorError> {
        self.values(name, Dtype::U32)
    }

    /// The values of a tensor of 64-bit integers.
    ///
    /// # Errors
    /// As [`f32`](Self::f32).
    pub fn u64(&self, name: &str) -> Result<Array<u64>, VectorError> {
        self.values(name, Dtype::U64)
    }

    fn values<T: bytemuck::Pod>(&self, name: &str, dtype: Dtype) -> Result<Array<T>, VectorError> {
        let info = self
            .header
            .info(name)
            .filter(|info| info.dtype == dtype)
            .ok_or_else(|| damaged(&self.path, &format!("there is no tensor `{name}` of {dtype}")))?;
        let range = self.start + info.data_offsets.0..self.start + info.data_offsets.1;
        self.bytes.view(range).ok_or_else(|| damaged(&self.path, "a tensor lies outside the file"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tensor_file_is_read_as_written_or_not_at_all() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.safetensors");
        let tensors = [
            Tensor { name: "b".to_owned(), shape: vec![2, 2], values: Values::F32(&[1.0, 2.0, 3.0, -0.0]) },
            Tensor { name: "a".to_owned(), shape: vec![1], values: Values::U32(&[7]) },
            Tensor { name: "c".to_owned(), shape: vec![0], values: Values::U64(&[]) },
        ];
        TensorFile::write(&path, ("note", "hello"), &tensors).unwrap();
        let (file, note) = TensorFile::open(&path, "note").unwrap();
        assert_eq!(note, "hello");
        assert_eq!(file.f32("b").unwrap()[..], [1.0, 2.0, 3.0, -0.0]);
        assert_eq!(file.u32("a").unwrap()[..], [7]);
        assert!(file.u64("c").unwrap().is_empty());
        assert!(file.u32("b").is_err() && file.f32("d").is_err());
        let bytes = std::fs::read(&path).unwrap();
        let changed = dir.path().join("y.safetensors");
        for at in 0..bytes.len() {
            std::fs::write(&changed, &bytes[..at]).unwrap();
            assert!(TensorFile::open(&changed, "note").is_err(), "cut at {at}");
            let mut altered = bytes.clone();
            altered[at] ^= 0x20;
            std::fs::write(&changed, &altered).unwrap();
            // Spaces and names of tensors may change, but not the values.
            if let Ok((file, note)) = TensorFile::open(&changed, "note") {
                assert_eq!(note, "hello", "{at}");
                assert!(file.f32("b").is_err() || file.f32("b").unwrap()[..] == [1.0, 2.0, 3.0, -0.0]);
            }
        }
    }
}
