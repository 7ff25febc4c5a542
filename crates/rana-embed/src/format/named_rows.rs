//! [`NamedRows`]: rows of a text file that begin with a name.

use std::collections::HashMap;
use std::path::Path;

use super::text::parse_row;
use crate::vector_error::VectorError;

/// Rows with names.
pub(crate) struct NamedRows {
    /// The line of each row, from 1, and its name.
    pub(crate) names: Vec<(usize, String)>,
    /// The values, contiguous.
    pub(crate) values: Vec<f32>,
}

/// Reads rows of the form `name<TAB>numbers` or `name<TAB>id<TAB>numbers`; in the second the numbers have blanks between them, and the
/// id is not used. Gives nothing if the file does not begin with a name.
///
/// # Errors
/// If a row is malformed, or a name comes up twice.
pub(crate) fn read_named_rows(path: &Path) -> Result<Option<NamedRows>, VectorError> {
    let bytes = std::fs::read(path).map_err(VectorError::io(path, "read"))?;
    let Ok(text) = str::from_utf8(&bytes) else { return Ok(None) };
    let first = text.lines().next().and_then(|line| line.split_once('\t'));
    if first.is_none_or(|(name, _)| name.trim().parse::<f32>().is_ok()) {
        return Ok(None);
    }
    let (mut names, mut values, mut dim) = (Vec::new(), Vec::new(), None);
    let mut lines = HashMap::new();
    for (line, text) in text.lines().enumerate() {
        let at = |column: usize, problem: String| VectorError::Text {
            file: path.to_owned(),
            line: line + 1,
            column: column + 1,
            problem,
        };
        let Some((name, mut numbers)) = text.split_once('\t') else {
            return Err(at(0, "no tab between a name and numbers".to_owned()));
        };
        if let Some((_, row)) = numbers.split_once('\t')
            && row.trim().contains(' ')
        {
            numbers = row;
        }
        let start = text.len() - numbers.len();
        let dim = *dim.get_or_insert_with(|| numbers.split_whitespace().count());
        parse_row(numbers, dim, &mut values).map_err(|(column, problem)| at(start + column, problem))?;
        if let Some(first) = lines.insert(name, line + 1) {
            return Err(at(0, format!("`{name}` has a row already, in line {first}")));
        }
        names.push((line + 1, name.to_owned()));
    }
    Ok(Some(NamedRows { names, values }))
}
