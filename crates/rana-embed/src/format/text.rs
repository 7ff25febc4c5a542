//! Text as in `entity2vec.TransE`: one row per line, white space between values.

use std::io::{self, Write};
use std::path::Path;

use rayon::prelude::*;

use super::named_rows::shortened;
use crate::table::Table;
use crate::vector_error::VectorError;

/// How many lines a thread parses at a time.
const LINES: usize = 1024;

pub(super) fn read(path: &Path, bytes: &[u8]) -> Result<Table, VectorError> {
    let at = |line: usize, column: usize, problem: String| VectorError::Text {
        file: path.to_owned(),
        line: line + 1,
        column: column + 1,
        problem,
    };
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let before = &bytes[..error.valid_up_to()];
        let line_start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        let line = before.iter().filter(|&&byte| byte == b'\n').count();
        at(
            line,
            before.len() - line_start,
            "not UTF-8 text. If the file is compressed, unpack it first".to_owned(),
        )
    })?;
    let lines: Vec<&str> = text.trim_end().lines().collect();
    let Some(dim) = lines.first().map(|line| line.split_whitespace().count()).filter(|&dim| dim > 0) else {
        return Err(at(0, 0, "no values in the first row".to_owned()));
    };
    let blocks: Vec<Result<Vec<f32>, VectorError>> = lines
        .par_chunks(LINES)
        .enumerate()
        .map(|(block, lines)| {
            let mut values = Vec::with_capacity(lines.len() * dim);
            for (number, line) in lines.iter().enumerate() {
                parse_row(line, dim, &mut values)
                    .map_err(|(column, problem)| at(block * LINES + number, column, problem))?;
            }
            Ok(values)
        })
        .collect();
    // Of several errors the first in the file is returned.
    let values = blocks.into_iter().collect::<Result<Vec<_>, _>>()?.concat();
    Table::new(lines.len(), dim, values)
}

/// Adds the values of a line. An error states the column and the problem.
pub(super) fn parse_row(line: &str, dim: usize, values: &mut Vec<f32>) -> Result<(), (usize, String)> {
    let mut found = 0;
    for word in line.split_whitespace() {
        let column = word.as_ptr() as usize - line.as_ptr() as usize;
        if found == dim {
            let count = line.split_whitespace().count();
            return Err((column, format!("{count} values, but the first row has {dim}. {RAGGED}")));
        }
        values.push(word.parse().map_err(|_| (column, format!("`{}` is not a number", shortened(word))))?);
        found += 1;
    }
    if found < dim {
        return Err((
            line.trim_end().len(),
            format!("{found} values, but the first row has {dim}. {RAGGED}"),
        ));
    }
    Ok(())
}

const RAGGED: &str =
    "All rows must have the same number: the file is truncated, or has a header line, which must be removed";

pub(super) fn write(out: &mut impl Write, table: &Table) -> io::Result<()> {
    for row in table.values().chunks_exact(table.dim()) {
        // The shortest text that parses to the same number.
        for (column, value) in row.iter().enumerate() {
            let before = if column == 0 { "" } else { "\t" };
            write!(out, "{before}{value}")?;
        }
        out.write_all(b"\n")?;
    }
    Ok(())
}
