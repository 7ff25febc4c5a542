//! The rows of a file of pairs: head and tail, or head, relation and tail.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use rana::graph::format::Role;

use crate::error::CliError;

/// One row of a file of pairs, as it is written there.
pub(super) struct PairRow {
    /// The line, counted from one.
    pub(super) line: u64,
    pub(super) head: String,
    /// The relation, if the file has a column for it.
    pub(super) relation: Option<String>,
    pub(super) tail: String,
}

/// Where each part of a row is.
#[derive(Clone, Copy)]
struct Layout {
    head: usize,
    relation: Option<usize>,
    tail: usize,
    width: usize,
}

impl Layout {
    /// The order head, tail or head, relation, tail.
    fn usual(width: usize) -> Option<Self> {
        match width {
            2 => Some(Self { head: 0, relation: None, tail: 1, width }),
            3 => Some(Self { head: 0, relation: Some(1), tail: 2, width }),
            _ => None,
        }
    }

    /// The order that a header says; none if the row is no header.
    fn of_header(fields: &[&str]) -> Option<Self> {
        let names: Vec<&str> = fields.iter().map(|field| field.trim()).collect();
        let (head, tail) = (Role::Head.column(&names)?, Role::Tail.column(&names)?);
        Some(Self { head, relation: Role::Relation.column(&names), tail, width: fields.len() })
    }
}

/// Opens a file, or standard input for `-`.
pub(super) fn open_input(file: &Path) -> io::Result<Box<dyn BufRead>> {
    Ok(match file == Path::new("-") {
        true => Box::new(io::stdin().lock()),
        false => Box::new(BufReader::new(File::open(file)?)),
    })
}

/// Reads a file of pairs, or standard input for `-`: separated by tabs, or, if its first line has none, by commas or
/// semicolons. A header may name the columns.
pub(super) fn read_pairs(file: &Path) -> Result<Vec<PairRow>, CliError> {
    let mut text = String::new();
    let read = open_input(file).and_then(|mut input| input.read_to_string(&mut text));
    read.map_err(|source| CliError::io(file, "read the file", source))?;
    rows(text.trim_start_matches('\u{feff}')).map_err(|(line, message)| CliError::Line {
        file: file.display().to_string(),
        line,
        source: Box::new(CliError::Usage(message)),
    })
}

/// Counts lines. The reader of CSV counts an empty line, or the end of the line before, to the record that follows.
struct Lines<'t> {
    text: &'t str,
    seen: usize,
    line: u64,
}

impl Lines<'_> {
    /// The line of the first sign of a record, which starts at or after the last one asked for.
    fn at(&mut self, position: Option<&csv::Position>) -> u64 {
        let bytes = self.text.as_bytes();
        let mut start = position.map_or(0, |position| position.byte() as usize).clamp(self.seen, bytes.len());
        start += bytes[start..].iter().take_while(|&&byte| byte == b'\n' || byte == b'\r').count();
        self.line += bytes[self.seen..start].iter().filter(|&&byte| byte == b'\n').count() as u64;
        self.seen = start;
        self.line
    }
}

/// The rows of a text; or the line that is wrong, and why.
fn rows(text: &str) -> Result<Vec<PairRow>, (u64, String)> {
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let delimiter = ['\t', ',', ';'].into_iter().find(|&of| first.contains(of)).unwrap_or('\t');
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(delimiter as u8)
        .quoting(delimiter != '\t')
        .has_headers(false)
        .flexible(true)
        .from_reader(text.as_bytes());
    let mut lines = Lines { text, seen: 0, line: 1 };
    let mut layout = None;
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|error| (lines.at(error.position()), error.to_string()))?;
        let line = lines.at(record.position());
        let fields: Vec<&str> = record.iter().map(|field| field.trim_end_matches('\r')).collect();
        if fields.iter().all(|field| field.trim().is_empty()) {
            continue;
        }
        let of_columns = || {
            let found = match fields.len() {
                1 => "1 field".to_owned(),
                count => format!("{count} fields"),
            };
            (line, format!("expected head and tail, or head, relation and tail, found {found}"))
        };
        let Layout { head, relation, tail, width } = match layout {
            Some(layout) => layout,
            None => {
                if let Some(header) = Layout::of_header(&fields) {
                    layout = Some(header);
                    continue;
                }
                *layout.insert(Layout::usual(fields.len()).ok_or_else(of_columns)?)
            }
        };
        if fields.len() != width {
            return Err(of_columns());
        }
        let field = |at: usize| fields[at].to_owned();
        rows.push(PairRow { line, head: field(head), relation: relation.map(field), tail: field(tail) });
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<(u64, String, Option<String>, String)> {
        let rows = rows(text).unwrap();
        rows.into_iter().map(|row| (row.line, row.head, row.relation, row.tail)).collect()
    }

    #[test]
    fn tabs_commas_headers_and_quotes() {
        let pair = |line, head: &str, tail: &str| (line, head.to_owned(), None, tail.to_owned());
        assert_eq!(
            read("Rome\tItaly\r\n\nBonn, old\tGermany\n"),
            [pair(1, "Rome", "Italy"), pair(3, "Bonn, old", "Germany")]
        );
        assert_eq!(
            read("\"Bonn, old\",Germany\nRome,Italy"),
            [pair(1, "Bonn, old", "Germany"), pair(2, "Rome", "Italy")]
        );
        assert_eq!(read("tail;head\nItaly;Rome\n"), [pair(2, "Rome", "Italy")]);
        let triple = (1, "Rome".to_owned(), Some("capitalOf".to_owned()), "Italy".to_owned());
        assert_eq!(read("Rome\tcapitalOf\tItaly"), [triple]);
        // A quote means nothing between tabs.
        assert_eq!(read("the \"Eternal\tItaly\n"), [pair(1, "the \"Eternal", "Italy")]);
        assert!(read("").is_empty());
    }

    #[test]
    fn a_row_that_has_other_columns_is_named() {
        let wrong = |text: &str| rows(text).err().unwrap();
        assert_eq!(wrong("a\tb\nc\n").0, 2);
        assert_eq!(wrong("a\n").1, "expected head and tail, or head, relation and tail, found 1 field");
        assert_eq!(wrong("a\tb\tc\td\n").0, 1);
    }
}
