//! Parquet: facts in three named columns, strings or integers when read and strings when written.

use std::fs::File;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use bytes::Bytes;
use parquet::basic::{Compression, ZstdLevel};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, ByteArrayType, DataType};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{ChunkReader, FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::ColumnDescriptor;

use super::export::names;
use super::export_error::ExportError;
use super::{Columns, ColumnsProblem, FormatError, OpenSource, Place, Sink, Statement};
use crate::fact::Fact;
use crate::graph::Graph;

/// Rows read from a column at a time.
const BATCH: usize = 16 * 1024;

pub(super) fn read(
    source: &mut OpenSource<'_>,
    columns: &Columns,
    sink: &mut dyn Sink,
) -> Result<(), FormatError> {
    let name = source.name.clone();
    // A Parquet file has its index at the end. A plain file can be read in any order; the content of a
    // pipe or a decompressor has to be held in memory.
    match &source.plain_file {
        Some(path) => {
            let file = File::open(path).map_err(FormatError::io(&name, "open the file"))?;
            read_chunks(&name, file, columns, sink)
        }
        None => read_chunks(&name, Bytes::from(source.read_all()?), columns, sink),
    }
}

fn read_chunks<R: ChunkReader + 'static>(
    name: &str,
    chunks: R,
    columns: &Columns,
    sink: &mut dyn Sink,
) -> Result<(), FormatError> {
    let reader = guarded(name, || SerializedFileReader::new(chunks))?;
    let schema = reader.metadata().file_metadata().schema_descr();
    let titles: Vec<String> = schema.columns().iter().map(|column| column.path().string()).collect();
    let positions = columns.resolve_header(name, &titles)?;
    let mut row = 0u64;
    for group in 0..reader.num_row_groups() {
        let group = guarded(name, || reader.get_row_group(group))?;
        let rows = usize::try_from(group.metadata().num_rows())
            .map_err(|_| damaged(name, "a negative number of rows"))?;
        let mut parts = Vec::with_capacity(3);
        for position in positions {
            let column = schema.column(position);
            let depth = column.max_def_level();
            if schema.column(position).max_rep_level() > 0 {
                return Err(FormatError::Columns {
                    file: name.to_owned(),
                    problem: ColumnsProblem::Values {
                        name: titles[position].clone(),
                        holds: "lists".to_owned(),
                    },
                });
            }
            let reader = guarded(name, || group.get_column_reader(position))?;
            parts.push(ColumnNames::new(
                name,
                &titles[position],
                reader,
                depth,
                is_unsigned(name, &column)?,
            )?);
        }
        let mut left = rows;
        while left > 0 {
            let wanted = left.min(BATCH);
            for part in &mut parts {
                part.fill(name, wanted)?;
            }
            for at in 0..wanted {
                row += 1;
                hand_over(
                    name,
                    row,
                    &positions,
                    &titles,
                    [&parts[0], &parts[1], &parts[2]].map(|p| p.name(at)),
                    sink,
                )?;
            }
            left -= wanted;
        }
    }
    if row == 0 {
        return Err(FormatError::Empty {
            file: name.to_owned(),
            expected: "rows of head, relation and tail",
        });
    }
    Ok(())
}

fn hand_over(
    file: &str,
    row: u64,
    positions: &[usize; 3],
    titles: &[String],
    parts: [Option<&[u8]>; 3],
    sink: &mut dyn Sink,
) -> Result<(), FormatError> {
    let mut names = [""; 3];
    for (at, part) in parts.iter().enumerate() {
        let problem = match part.map(std::str::from_utf8) {
            Some(Ok("")) => "is empty, expected a name",
            Some(Ok(text)) => {
                names[at] = text;
                continue;
            }
            Some(Err(_)) => "is not UTF-8",
            None => "is null, expected a name",
        };
        let place = Place { file: file.to_owned(), line: Some(row), column: Some(positions[at] as u64 + 1) };
        return sink.malformed(FormatError::malformed(
            place,
            format!("row {row}: column `{}` {problem}", titles[positions[at]]),
        ));
    }
    sink.statement(Statement::Fact { head: names[0], relation: names[1], tail: names[2] }, Some(row))
}

/// One batch of a column, as names.
struct ColumnNames {
    reader: ColumnReader,
    /// The definition level of a value that is not null; zero if the column cannot have nulls.
    depth: i16,
    unsigned: bool,
    levels: Vec<i16>,
    names: Vec<Option<Vec<u8>>>,
}

/// Whether an integer column is unsigned. Dates, times and decimals are an error, because the integers
/// they are stored as would be meaningless as names.
fn is_unsigned(file: &str, column: &ColumnDescriptor) -> Result<bool, FormatError> {
    use parquet::basic::ConvertedType as Converted;
    match column.converted_type() {
        Converted::UINT_8 | Converted::UINT_16 | Converted::UINT_32 | Converted::UINT_64 => Ok(true),
        Converted::NONE
        | Converted::UTF8
        | Converted::ENUM
        | Converted::JSON
        | Converted::INT_8
        | Converted::INT_16
        | Converted::INT_32
        | Converted::INT_64 => Ok(false),
        other => Err(FormatError::Columns {
            file: file.to_owned(),
            problem: ColumnsProblem::Values {
                name: column.path().string(),
                holds: format!("{other} values"),
            },
        }),
    }
}

impl ColumnNames {
    fn new(
        file: &str,
        title: &str,
        reader: ColumnReader,
        depth: i16,
        unsigned: bool,
    ) -> Result<Self, FormatError> {
        let supported = matches!(
            reader,
            ColumnReader::ByteArrayColumnReader(_)
                | ColumnReader::Int32ColumnReader(_)
                | ColumnReader::Int64ColumnReader(_)
        );
        if !supported {
            return Err(FormatError::Columns {
                file: file.to_owned(),
                problem: ColumnsProblem::Values {
                    name: title.to_owned(),
                    holds: "values of another type".to_owned(),
                },
            });
        }
        Ok(Self { reader, depth, unsigned, levels: Vec::new(), names: Vec::new() })
    }

    fn name(&self, at: usize) -> Option<&[u8]> {
        self.names[at].as_deref()
    }

    /// Reads the next `wanted` rows.
    fn fill(&mut self, file: &str, wanted: usize) -> Result<(), FormatError> {
        let Self { reader, depth, unsigned, levels, names } = self;
        names.clear();
        guarded(file, || match reader {
            ColumnReader::ByteArrayColumnReader(reader) => {
                fill_from(reader, wanted, *depth, levels, names, |value| value.data().to_vec())
            }
            ColumnReader::Int32ColumnReader(reader) => {
                fill_from(reader, wanted, *depth, levels, names, |value| {
                    if *unsigned { value.cast_unsigned().to_string() } else { value.to_string() }.into_bytes()
                })
            }

            ColumnReader::Int64ColumnReader(reader) => {
                fill_from(reader, wanted, *depth, levels, names, |value| {
                    if *unsigned { value.cast_unsigned().to_string() } else { value.to_string() }.into_bytes()
                })
            }

            // `new` accepts no other reader.
            _ => Ok(()),
        })?;
        if names.len() != wanted {
            return Err(damaged(file, "a column ends before the others"));
        }
        Ok(())
    }
}

fn fill_from<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    wanted: usize,
    depth: i16,
    levels: &mut Vec<i16>,
    names: &mut Vec<Option<Vec<u8>>>,
    name: impl Fn(&T::T) -> Vec<u8>,
) -> Result<(), ParquetError> {
    while names.len() < wanted {
        let mut values: Vec<T::T> = Vec::new();
        levels.clear();
        let (records, _, _) = reader.read_records(
            wanted - names.len(),
            (depth > 0).then_some(&mut *levels),
            None,
            &mut values,
        )?;
        if records == 0 {
            break;
        }
        let mut values = values.iter().map(&name);
        if depth > 0 {
            names.extend(levels.iter().map(|&level| if level == depth { values.next() } else { None }));
        } else {
            names.extend(values.map(Some));
        }
    }
    Ok(())
}

/// Runs a step of the Parquet library, whose decoders may panic on damaged pages, and turns its errors and
/// panics into a [`FormatError`].
fn guarded<T>(file: &str, step: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, FormatError> {
    match catch_unwind(AssertUnwindSafe(step)) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(damaged(file, &error.to_string())),
        Err(_) => Err(damaged(file, "its pages cannot be decoded")),
    }
}

fn damaged(file: &str, problem: &str) -> FormatError {
    FormatError::malformed(Place::file(file), format!("the Parquet data is cut short or damaged ({problem})"))
}

/// Writes facts as three columns of strings.
pub(super) fn write(graph: &Graph, facts: &[Fact], out: impl Write + Send) -> Result<(), ExportError> {
    const ROWS_PER_GROUP: usize = 1 << 20;
    let schema = parse_message_type(
        "message facts { required binary head (UTF8); required binary relation (UTF8); required binary tail (UTF8); }",
    )?;
    let properties =
        WriterProperties::builder().set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?)).build();
    let mut writer = SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties))?;
    for chunk in facts.chunks(ROWS_PER_GROUP) {
        let mut group = writer.next_row_group()?;
        let mut part = 0;
        while let Some(mut column) = group.next_column()? {
            let values: Vec<ByteArray> =
                chunk.iter().map(|fact| ByteArray::from(names(graph, *fact)[part])).collect();
            column.typed::<ByteArrayType>().write_batch(&values, None, None)?;
            column.close()?;
            part += 1;
        }
        group.close()?;
    }
    writer.close()?;
    Ok(())
}
