//! Delimited text: TSV, CSV and the like, in any column order.

use csv::ByteRecord;

use super::columns::is_header;
use super::source::read_error;
use super::{Columns, FormatError, OpenSource, Place, Sink, Statement};

/// Whether the first line names the columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Header {
    /// It does if it holds a known title for head, relation and tail.
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
    /// The byte between columns; told from the first lines if not given.
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

pub(super) fn read(
    source: &mut OpenSource<'_>,
    options: &DelimitedOptions,
    sink: &mut dyn Sink,
) -> Result<(), FormatError> {
    let name = source.name.clone();
    let compression = source.compression;
    refuse_utf16(&name, &source.sample)?;
    let delimiter = match options.delimiter {
        Some(delimiter) => delimiter,
        // The ending `.tsv` promises tabs; a file without any must be read as something else.
        None if source.plain_name().ends_with(".tsv") && source.sample.contains(&b'\t') => b'\t',
        None => find_delimiter(&name, &source.sample)?,
    };
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(delimiter)
        // Quotes are part of the syntax in CSV; in TSV and space-separated text they are data.
        .quoting(!matches!(delimiter, b'\t' | b' '))
        .has_headers(false)
        .flexible(true)
        .buffer_capacity(256 * 1024)
        .from_reader(&mut source.content);

    let mut record = ByteRecord::new();
    let mut layout: Option<Layout> = None;
    loop {
        match reader.read_byte_record(&mut record) {
            Ok(true) => {}
            Ok(false) => break,
            Err(error) => return Err(csv_error(&name, compression, error)),
        }
        strip_byte_order_mark(&mut record);
        let line = record.position().map_or(0, csv::Position::line);
        let Some(layout) = &layout else {
            let (first, is_header) = Layout::new(&name, options, &record)?;
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

/// How wide rows are and where their parts stand.
struct Layout {
    width: usize,
    positions: [usize; 3],
}

impl Layout {
    /// The layout, and whether the first row is a header.
    fn new(name: &str, options: &DelimitedOptions, first: &ByteRecord) -> Result<(Self, bool), FormatError> {
        let fields: Vec<String> =
            first.iter().map(|field| String::from_utf8_lossy(field).trim().to_owned()).collect();
        let header = match options.header {
            Header::Yes => true,
            Header::No => false,
            Header::Auto => options.columns.need_header() || is_header(&fields),
        };
        let positions = if header {
            options.columns.resolve_header(name, &fields)?
        } else {
            options.columns.resolve_order(name, fields.len())?
        };
        Ok((Self { width: fields.len(), positions }, header))
    }
}

/// Hands one row to the sink, or tells it what is wrong with the row.
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

/// The delimiter under which most of the first lines have three columns, or else any equal number of them.
fn find_delimiter(name: &str, sample: &[u8]) -> Result<u8, FormatError> {
    let mut lines: Vec<&[u8]> = sample.split(|&byte| byte == b'\n').take(SAMPLE_LINES + 1).collect();
    if lines.len() > 1 {
        // Either empty or cut by the end of the sample.
        lines.pop();
    }
    lines.retain(|line| !line.iter().all(u8::is_ascii_whitespace));
    if lines.is_empty() {
        return Err(FormatError::Empty { file: name.to_owned(), expected: "one fact per line" });
    }
    let columns =
        |delimiter: u8| lines.iter().map(move |line| 1 + line.iter().filter(|&&b| b == delimiter).count());
    let with_three = |delimiter: u8| columns(delimiter).filter(|&count| count == 3).count();
    let as_first = |delimiter: u8| {
        let first = columns(delimiter).next().unwrap_or(1);
        columns(delimiter).filter(|&count| count == first && first > 2).count()
    };
    for support in [&with_three as &dyn Fn(u8) -> usize, &as_first] {
        // `max_by_key` takes the last of equals; the preferred ones come first.
        if let Some(&best) = DELIMITERS.iter().rev().max_by_key(|&&delimiter| support(delimiter))
            && 2 * support(best) > lines.len()
        {
            return Ok(best);
        }
    }
    Err(FormatError::Unrecognised {
        file: name.to_owned(),
        problem: format!(
            "no format recognised: not RDF or Parquet, and no delimiter (tab, comma, semicolon, bar, space) gives \
             three columns. Say --format or --delimiter. The first line is `{}`",
            String::from_utf8_lossy(&lines[0][..lines[0].len().min(80)]).trim_end()
        ),
    })
}

fn refuse_utf16(name: &str, sample: &[u8]) -> Result<(), FormatError> {
    if sample.starts_with(&[0xff, 0xfe]) || sample.starts_with(&[0xfe, 0xff]) {
        return Err(FormatError::Unrecognised {
            file: name.to_owned(),
            problem: "the text is UTF-16, expected UTF-8. Convert it with `iconv -f UTF-16 -t UTF-8`"
                .to_owned(),
        });
    }
    Ok(())
}

fn strip_byte_order_mark(record: &mut ByteRecord) {
    const MARK: &[u8] = b"\xef\xbb\xbf";
    let at_start = record.position().is_some_and(|position| position.byte() == 0);
    if at_start && record.get(0).is_some_and(|field| field.starts_with(MARK)) {
        let position = record.position().cloned();
        let fields: Vec<Vec<u8>> = record.iter().map(<[u8]>::to_vec).collect();
        *record =
            fields.iter().enumerate().map(|(at, f)| if at == 0 { &f[MARK.len()..] } else { f }).collect();
        record.set_position(position);
    }
}

fn csv_error(name: &str, compression: Option<super::source::Compression>, error: csv::Error) -> FormatError {
    let place = error.position().map_or_else(|| Place::file(name), |at| Place::at(name, at.line(), 1));
    let problem = error.to_string();
    match error.into_kind() {
        csv::ErrorKind::Io(source) => read_error(name, compression, source),
        _ => FormatError::malformed(place, problem),
    }
}
