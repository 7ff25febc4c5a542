//! NumPy's `.npy`: a Python dictionary as header, then the values.
//!
//! This reader only accepts two-dimensional floats, because nothing else is a table. For all other arrays its
//! messages say what to do.

use std::io::{self, Write};
use std::path::Path;

use super::floats::floats;
use crate::table::Table;
use crate::vector_error::VectorError;

const MAGIC: &[u8] = b"\x93NUMPY";
/// Headers are padded so that the values start at a multiple of this.
const ALIGNMENT: usize = 64;

pub(super) fn read(path: &Path, bytes: &[u8]) -> Result<Table, VectorError> {
    let cut_short = |expected: usize| VectorError::Size {
        file: path.to_owned(),
        expected: expected as u64,
        found: bytes.len() as u64,
    };
    let malformed = |problem: &str| {
        VectorError::malformed(
            path,
            format!("not a valid .npy file: {problem}. Save it again with `numpy.save`"),
        )
    };
    let Some(after_magic) = bytes.strip_prefix(MAGIC) else {
        return Err(malformed("it does not begin with the magic bytes"));
    };
    // Two bytes of version, then the length of the header, in two bytes or from version 2 in four.
    let (length, start) = match after_magic {
        [1, _, low, high, ..] => (usize::from(u16::from_le_bytes([*low, *high])), MAGIC.len() + 4),
        [2 | 3, _, a, b, c, d, ..] => (u32::from_le_bytes([*a, *b, *c, *d]) as usize, MAGIC.len() + 6),
        [0 | 4.., ..] => return Err(malformed("its version is not 1, 2 or 3")),
        _ => return Err(cut_short(MAGIC.len() + 6)),
    };
    let end = start.saturating_add(length);
    let header = bytes.get(start..end).ok_or_else(|| cut_short(end))?;
    let header = std::str::from_utf8(header).map_err(|_| malformed("its header is not text"))?;
    let header = Header::parse(header).ok_or_else(|| malformed("its header cannot be understood"))?;
    let size = match header.descr {
        "<f4" => 4,
        "<f8" => 8,
        other => return Err(VectorError::Dtype { file: path.to_owned(), found: format!("`{other}`") }),
    };
    let [rows, dim] = header.shape[..] else {
        let problem = format!(
            "an array of {} dimensions, expected 2 (rows and columns). Reshape it",
            header.shape.len()
        );
        return Err(VectorError::malformed(path, problem));
    };
    if header.fortran_order && rows > 1 && dim > 1 {
        let problem = "columns come before rows (Fortran order). Save `numpy.ascontiguousarray(x)`";
        return Err(VectorError::malformed(path, problem));
    }
    let count = rows.checked_mul(dim);
    let expected = count.and_then(|count| count.checked_mul(size)).and_then(|values| values.checked_add(end));
    if expected != Some(bytes.len()) {
        return Err(cut_short(expected.unwrap_or(usize::MAX)));
    }
    Table::new(rows, dim, floats(path, &bytes[end..], size, count)?)
}

/// The fields of the header.
struct Header<'h> {
    descr: &'h str,
    fortran_order: bool,
    shape: Vec<usize>,
}

impl<'h> Header<'h> {
    /// Reads `{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }` with keys in any order.
    fn parse(text: &'h str) -> Option<Self> {
        let mut rest = text.trim().strip_prefix('{')?.strip_suffix('}')?.trim();
        let (mut descr, mut fortran_order, mut shape) = (None, None, None);
        while !rest.is_empty() {
            let (key, after) = quoted(rest)?;
            rest = after.trim_start().strip_prefix(':')?.trim_start();
            rest = match key {
                "descr" => {
                    let (value, after) = quoted(rest)?;
                    descr = Some(value);
                    after
                }
                "fortran_order" => {
                    let (value, word) =
                        if rest.starts_with("True") { (true, "True") } else { (false, "False") };
                    fortran_order = Some(value);
                    rest.strip_prefix(word)?
                }
                "shape" => {
                    let (inside, after) = rest.strip_prefix('(')?.split_once(')')?;
                    let numbers = inside.split(',').map(str::trim).filter(|number| !number.is_empty());
                    shape = Some(numbers.map(|number| number.parse().ok()).collect::<Option<_>>()?);
                    after
                }
                _ => return None,
            };
            rest = rest.trim_start();
            rest = rest.strip_prefix(',').unwrap_or(rest).trim_start();
        }
        Some(Self { descr: descr?, fortran_order: fortran_order?, shape: shape? })
    }
}

/// A string in single or double quotes, and the text after it.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let quote = text.chars().next().filter(|quote| matches!(quote, '\'' | '"'))?;
    text[1..].split_once(quote)
}

pub(super) fn write(out: &mut impl Write, table: &Table) -> io::Result<()> {
    let mut header =
        format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}, {}), }}", table.rows(), table.dim());
    // Version 1 has room for headers of up to 64 KiB, and this one is much shorter.
    let start = MAGIC.len() + 4;
    let padded = (start + header.len() + 1).next_multiple_of(ALIGNMENT) - start;
    header.extend(std::iter::repeat_n(' ', padded - header.len() - 1));
    header.push('\n');
    out.write_all(MAGIC)?;
    out.write_all(&[1, 0])?;
    out.write_all(&(header.len() as u16).to_le_bytes())?;
    out.write_all(header.as_bytes())?;
    out.write_all(bytemuck::cast_slice(table.values()))
}
