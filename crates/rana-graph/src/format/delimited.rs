//! Delimited text: TSV, CSV and the like, in any column order.

use csv::ByteRecord;

use super::columns::is_header;
use super::limits::{Limited, Rows};
use super::open_source::read_error;
use super::{Columns, FormatError, OpenSource, Place, Sink, Statement};

/// Whether the first line names the columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Header {
    /// It does if it has a known title for head, relation and tail.
    #[default]
    Auto,
    /// It does.
    Yes,
    /// It is a fact like the others.
    No,
}

/// How to read delimited text (the columns also serve Parquet).
#[derive(Clone, Debug, Default)]
pub struct DelimitedOptions {
    /// The byte between columns; detected from the first lines if not set.
    pub delimiter: Option<u8>,
    /// Whether the first line names the columns.
    pub header: Header,
    /// Which columns hold heads, relations and tails.
    pub columns: Columns,
}

/// Delimiters tried, in order of preference.
const DELIMITERS: [u8; 5] = *b"\t,;| ";
/// How many lines are looked at to find the delimiter.
const SAMPLE_LINES: usize = 100;
/// A first row with more columns is no header: a row of 15 MiB can have millions, and a title for each takes much memory.
const MOST_TITLES: usize = 1 << 16;

pub(super) fn read(
    source: &mut OpenSource<'_>,
    options: &DelimitedOptions,
    sink: &mut dyn Sink,
) -> Result<(), FormatError> {
    let name = source.name.clone();
    let compression = source.compression;
    refuse_utf16(&name, &source.sample)?;
    let sample = Sample::new(source);
    let delimiter = match options.delimiter {
        Some(delimiter) => delimiter,
        // A `.tsv` file is separated by tabs, unless it has none.
        None if source.plain_name().ends_with(".tsv") && source.sample.contains(&b'\t') => b'\t',
        None => sample.find_delimiter(&name)?,
    };
    let width = sample.usual_width(delimiter);
    let rows = Rows::new(delimiter, is_quoted(delimiter));
    let mut reader = reader(delimiter).from_reader(Limited::new(&mut source.content, rows));
    let mut record = ByteRecord::new();
    let mut layout: Option<Layout> = None;
    loop {
        match reader.read_byte_record(&mut record) {
            Ok(true) => {}
            Ok(false) => break,
            Err(error) => return Err(csv_error(&name, compression, error)),
        }
        let line = record.position().map_or(0, csv::Position::line);
        let Some(layout) = &layout else {
            let (first, is_header) = Layout::new(&name, options, &record, delimiter, width)?;
            if !is_header {
                take(&name, line, &record, &first, sink)?;
            }
            layout = Some(first);
            continue;
        };
        take(&name, line, &record, layout, sink)?;
    }
    if layout.is_none() {
        return Err(FormatError::Empty { file: name, expected: "one fact per line" });
    }
    Ok(())
}

/// A reader of rows. Quotes are part of the syntax in CSV, and spaces around a name are not part
/// of it; in TSV and space-separated text both are data.
fn reader(delimiter: u8) -> csv::ReaderBuilder {
    let mut builder = csv::ReaderBuilder::new();
    builder.delimiter(delimiter).has_headers(false).flexible(true).buffer_capacity(256 * 1024);
    if is_quoted(delimiter) {
        builder.trim(csv::Trim::Fields);
    } else {
        builder.quoting(false);
    }
    builder
}

fn is_quoted(delimiter: u8) -> bool {
    !matches!(delimiter, b'\t' | b' ')
}

/// The number of columns, and the positions of head, relation and tail.
struct Layout {
    /// Whether quotes are syntax, so that a name may hold line breaks.
    quoted: bool,
    width: usize,
    positions: [usize; 3],
}

impl Layout {
    /// The layout, and whether the first row is a header. A header decides how wide rows are; a
    /// first row without one may be as malformed as any other.
    fn new(
        name: &str,
        options: &DelimitedOptions,
        first: &ByteRecord,
        delimiter: u8,
        usual_width: usize,
    ) -> Result<(Self, bool), FormatError> {
        let titles = if first.len() > MOST_TITLES { 0 } else { first.len() };
        let fields: Vec<String> =
            first.iter().take(titles).map(|field| String::from_utf8_lossy(field).trim().to_owned()).collect();
        let header = match options.header {
            Header::Yes => true,
            Header::No => false,
            Header::Auto => options.columns.need_header() || is_header(&fields),
        };
        let (width, positions) = if header {
            (fields.len(), options.columns.resolve_header(name, &fields)?)
        } else {
            (usual_width, options.columns.resolve_order(name, usual_width)?)
        };
        Ok((Self { quoted: is_quoted(delimiter), width, positions }, header))
    }
}

/// Passes one row, or the error in it, to the sink.
fn take(
    name: &str,
    line: u64,
    record: &ByteRecord,
    layout: &Layout,
    sink: &mut dyn Sink,
) -> Result<(), FormatError> {
    match parts(name, line, record, layout) {
        Ok([head, relation, tail]) => sink.statement(Statement::Fact { head, relation, tail }, Some(line)),
        Err(error) => sink.malformed(error),
    }
}

fn parts<'r>(
    name: &str,
    line: u64,
    record: &'r ByteRecord,
    layout: &Layout,
) -> Result<[&'r str; 3], FormatError> {
    if record.len() != layout.width {
        let column = column_of(record, layout.width.min(record.len().saturating_sub(1)));
        return Err(FormatError::malformed(
            Place::at(name, line, column),
            format!("expected {} columns, found {}", layout.width, record.len()),
        ));
    }
    let mut parts = [""; 3];
    for (part, &position) in parts.iter_mut().zip(&layout.positions) {
        let field = &record[position];
        *part = std::str::from_utf8(field).map_err(|error| {
            let column = column_of(record, position) + error.valid_up_to() as u64;
            FormatError::malformed(
                Place::at(name, line, column),
                format!("invalid UTF-8 in column {}. Convert the file to UTF-8 first", position + 1),
            )
        })?;
        if layout.quoted && part.contains(['\n', '\r']) {
            return Err(FormatError::malformed(
                Place::at(name, line, column_of(record, position)),
                format!(
                    "the quote that opens column {} is closed lines later, if at all. Close it, or double the \
                     quotes inside a name; what it encloses is lost",
                    position + 1
                ),
            ));
        }
        if part.is_empty() {
            return Err(FormatError::malformed(
                Place::at(name, line, column_of(record, position)),
                format!("column {} is empty, expected a name", position + 1),
            ));
        }
    }
    Ok(parts)
}

/// The byte column, counted from one, at which a field begins (quotes not counted).
fn column_of(record: &ByteRecord, field: usize) -> u64 {
    1 + record.iter().take(field).map(|field| field.len() as u64 + 1).sum::<u64>()
}

/// The first rows of a file, by which its layout is detected.
struct Sample<'s> {
    bytes: &'s [u8],
    /// Whether the file is longer, so that the last row may be incomplete.
    is_cut: bool,
}

impl<'s> Sample<'s> {
    fn new(source: &'s OpenSource<'_>) -> Self {
        Self { bytes: &source.sample, is_cut: source.sample_is_cut() }
    }

    /// The number of columns of each of the first rows.
    fn widths(&self, delimiter: u8) -> Vec<usize> {
        let mut widths = Vec::new();
        if is_quoted(delimiter) {
            let mut reader = reader(delimiter).from_reader(self.bytes);
            let mut row = ByteRecord::new();
            while widths.len() <= SAMPLE_LINES && matches!(reader.read_byte_record(&mut row), Ok(true)) {
                widths.push(row.len());
            }
        } else {
            // A row may have millions of spaces, so columns are counted and not kept.
            let lines =
                self.bytes.split(|byte| matches!(byte, b'\n' | b'\r')).filter(|line| !line.is_empty());
            let width = |line: &[u8]| memchr::memchr_iter(delimiter, line).count() + 1;
            widths.extend(lines.take(SAMPLE_LINES + 1).map(width));
        }
        if widths.len() > SAMPLE_LINES || (self.is_cut && widths.len() > 1) {
            widths.pop();
        }
        widths
    }

    /// The most common number of columns.
    fn usual_width(&self, delimiter: u8) -> usize {
        usual_width(&self.widths(delimiter))
    }

    /// The delimiter under which most rows have three columns, or else any same number of them.
    fn find_delimiter(&self, name: &str) -> Result<u8, FormatError> {
        // A sample may be megabytes long, so it is read once for each.
        let widths = DELIMITERS.map(|delimiter| self.widths(delimiter));
        if widths[0].is_empty() {
            return Err(FormatError::Empty { file: name.to_owned(), expected: "one fact per line" });
        }
        let alike = |widths: &Vec<usize>| match usual_width(widths) {
            width if width > 3 => share(widths, width),
            _ => 0.0,
        };
        let with_three = widths.each_ref().map(|widths| share(widths, 3));
        for support in [with_three, widths.each_ref().map(alike)] {
            // Ties go to the preferred delimiter: `max_by` returns the last maximum.
            let best = DELIMITERS.into_iter().zip(support).rev().max_by(|(_, a), (_, b)| a.total_cmp(b));
            if let Some((best, _)) = best.filter(|&(_, support)| support > 0.5) {
                return Ok(best);
            }
        }
        let first = self.bytes.split(|&byte| byte == b'\n').next().unwrap_or_default();
        let first_line = String::from_utf8_lossy(&first[..first.len().min(80)]).trim_end().to_owned();
        Err(FormatError::NoDelimiter { file: name.to_owned(), first_line })
    }
}

/// The most common number of columns.
fn usual_width(widths: &[usize]) -> usize {
    let votes = |width: usize| widths.iter().filter(|&&other| other == width).count();
    // Ties go to the first row: `max_by_key` returns the last maximum, and the rows are reversed.
    widths.iter().rev().copied().max_by_key(|&width| votes(width)).unwrap_or(0)
}

/// The share of rows with this number of columns.
fn share(widths: &[usize], width: usize) -> f64 {
    widths.iter().filter(|&&other| other == width).count() as f64 / widths.len().max(1) as f64
}

fn refuse_utf16(name: &str, sample: &[u8]) -> Result<(), FormatError> {
    if sample.starts_with(&[0xff, 0xfe]) || sample.starts_with(&[0xfe, 0xff]) {
        return Err(FormatError::Unrecognised {
            file: name.to_owned(),
            problem: "the text is UTF-16, expected UTF-8. Convert the file first".to_owned(),
        });
    }
    Ok(())
}

fn csv_error(
    name: &str,
    compression: Option<super::open_source::Compression>,
    error: csv::Error,
) -> FormatError {
    let place = error.position().map_or_else(|| Place::file(name), |at| Place::at(name, at.line(), 1));
    let problem = error.to_string();
    match error.into_kind() {
        csv::ErrorKind::Io(source) => read_error(name, compression, source),
        _ => FormatError::malformed(place, problem),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counting and reading agree on what a row is, and on its columns.
    #[test]
    fn columns_are_counted_as_they_are_read() {
        for text in [
            "a\tb\tc\nd\te\n",
            "a\tb\tc\r\n\r\nd\te\rf",
            "\t\t\n\n\n\t",
            "\"a\tb\"\tc\n\"d\n",
            "a b  c\n d \r\n",
            "",
            "\n\r\n",
        ] {
            let sample = Sample { bytes: text.as_bytes(), is_cut: false };
            for delimiter in *b"\t " {
                let read: Vec<usize> = reader(delimiter)
                    .from_reader(text.as_bytes())
                    .byte_records()
                    .map(|row| row.unwrap().len())
                    .collect();
                assert_eq!(sample.widths(delimiter), read, "{text:?}");
            }
        }
    }

    #[test]
    fn a_first_row_of_very_many_columns_is_no_header() {
        let titled = |columns: usize| {
            let row: Vec<&str> =
                ["head", "relation", "tail"].into_iter().chain(vec!["x"; columns - 3]).collect();
            let (row, options) = (ByteRecord::from(row), DelimitedOptions::default());
            Layout::new("f.csv", &options, &row, b',', columns).is_ok_and(|(_, is_header)| is_header)
        };
        assert!(titled(MOST_TITLES));
        assert!(!titled(MOST_TITLES + 1));
    }
}
