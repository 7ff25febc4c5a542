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
/// id is not used. Gives nothing if the file does not begin with a name. A number is a name too where blanks are between the others:
/// tables have the same between all numbers.
///
/// # Errors
/// If a row is malformed or has a number that is not finite, or a name comes up twice.
pub(crate) fn read_named_rows(path: &Path) -> Result<Option<NamedRows>, VectorError> {
    let bytes = std::fs::read(path).map_err(VectorError::io(path, "read"))?;
    let Ok(text) = str::from_utf8(&bytes) else { return Ok(None) };
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let first = text.lines().next().and_then(|line| line.split_once('\t'));
    let is_number = |name: &str| name.trim().parse::<f32>().is_ok();
    if first.is_none_or(|(name, rest)| is_number(name) && !has_blanks_after_tabs(rest)) {
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
        if dim == 0 {
            return Err(at(start, "no numbers after the name".to_owned()));
        }
        let row = values.len();
        parse_row(numbers, dim, &mut values).map_err(|(column, problem)| at(start + column, problem))?;
        if let Some(place) = values[row..].iter().position(|value| !value.is_finite()) {
            let word = numbers.split_whitespace().nth(place).unwrap_or_default();
            let column = start + (word.as_ptr() as usize - numbers.as_ptr() as usize);
            return Err(at(column, format!("`{}` is not a finite number", shortened(word))));
        }
        if let Some(first) = lines.insert(name, line + 1) {
            return Err(at(0, format!("`{}` has a row already, in line {first}", shortened(name))));
        }
        names.push((line + 1, name.to_owned()));
    }
    Ok(Some(NamedRows { names, values }))
}

/// Whether what follows a name is `numbers` or `id<TAB>numbers` with blanks between the numbers.
fn has_blanks_after_tabs(rest: &str) -> bool {
    let mut columns = rest.rsplitn(3, '\t');
    columns.next().is_some_and(|numbers| numbers.trim().contains(' ')) && columns.nth(1).is_none()
}

/// The beginning of a word of a file, for an error: a damaged file has words of any length.
pub(crate) fn shortened(word: &str) -> &str {
    word.char_indices().nth(40).map_or(word, |(end, _)| &word[..end])
}
