//! [`GraphSource`]: what a graph can be made of.

use std::path::PathBuf;

use arrow_array::RecordBatchReader;
use arrow_array::ffi_stream::RecordBatchStreamReader;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};
use rana::graph::format::{Columns, Role, Source};
use rana::graph::{ImportOptions, Imported, Observer, Store, import, import_rows};

use crate::arrow_capsules::{self, METHOD, validated};
use crate::failure::{Failure, Outcome};
use crate::graph::{Graph, GraphData};
use crate::name_column::NameColumn;

/// What a graph can be made of.
pub(crate) enum GraphSource {
    /// A graph in memory.
    Graph(Box<GraphData>),
    /// A store of `rana import`.
    Store(PathBuf),
    /// Files in any format.
    Files(Vec<Source>),
    /// A table of head, relation and tail.
    Stream(RecordBatchStreamReader),
    /// Facts one by one.
    Facts(Vec<[String; 3]>),
}

impl GraphSource {
    /// What an object is: a graph, paths, a table, an rdflib graph, or triples.
    pub(crate) fn of(object: &Bound<'_, PyAny>) -> Outcome<Self> {
        if let Ok(graph) = object.cast::<Graph>() {
            return Ok(Self::Graph(Box::new(graph.get().data()?)));
        }
        if let Some(path) = path(object) {
            return Ok(if Store::is_store(&path) {
                Self::Store(path)
            } else {
                Self::Files(vec![path.into()])
            });
        }
        if object.hasattr(METHOD)? {
            return Ok(Self::Stream(arrow_capsules::import(object)?));
        }
        if is_rdflib(object) {
            return Ok(Self::Files(vec![rdflib_source(object)?]));
        }
        let Ok(items) = object.try_iter() else {
            return Err(Failure::data(format!(
                "cannot make a graph of {}; give a path, a graph, a table with head, relation and tail, or triples",
                object.get_type().name()?
            )));
        };
        let mut facts = Vec::new();
        let mut files = Vec::new();
        for (at, item) in items.enumerate() {
            let item = item?;
            match path(&item) {
                Some(path) if facts.is_empty() => files.push(Source::from(path)),
                _ if files.is_empty() => facts.push(triple(&item, at)?),
                _ => return Err(Failure::data("paths and triples cannot be mixed")),
            }
        }
        if files.is_empty() && facts.is_empty() {
            return Err(Failure::data("there are no facts and no files"));
        }
        Ok(if files.is_empty() { Self::Facts(facts) } else { Self::Files(files) })
    }

    /// The graph.
    pub(crate) fn read(self, options: &ImportOptions, observer: &dyn Observer) -> Outcome<GraphData> {
        Ok(match self {
            Self::Graph(graph) => *graph,
            Self::Store(path) => Store::open(path)?.into(),
            Self::Files(files) => import(&files, options, observer)?.into(),
            Self::Stream(stream) => read_stream(stream, options, observer)?.into(),
            Self::Facts(facts) => import_rows::<Failure>(
                "triples",
                "rows",
                Some(facts.len() as u64),
                options,
                observer,
                |rows| {
                    let mut facts = facts.iter();
                    Ok(facts.try_for_each(|[head, relation, tail]| rows.add(head, relation, tail))?)
                },
            )?
            .into(),
        })
    }
}

/// The path that a text or an `os.PathLike` is.
pub(crate) fn path(object: &Bound<'_, PyAny>) -> Option<PathBuf> {
    let is_path = object.is_instance_of::<PyString>() || object.hasattr("__fspath__").unwrap_or(false);
    if is_path { object.extract().ok() } else { None }
}

/// Whether an object is a graph of rdflib, which need not be installed.
pub(crate) fn is_rdflib(object: &Bound<'_, PyAny>) -> bool {
    object.hasattr("serialize").unwrap_or(false) && object.hasattr("namespace_manager").unwrap_or(false)
}

/// The triples of an rdflib graph, or the quads of a dataset.
pub(crate) fn rdflib_source(graph: &Bound<'_, PyAny>) -> Outcome<Source> {
    let has_quads = graph.hasattr("quads")?;
    let (format, name) = if has_quads { ("nquads", "rdflib.nq") } else { ("nt11", "rdflib.nt") };
    let arguments = pyo3::types::PyDict::new(graph.py());
    arguments.set_item("format", format)?;
    arguments.set_item("encoding", "utf-8")?;
    let bytes: Vec<u8> = graph.call_method("serialize", (), Some(&arguments))?.extract()?;
    Ok(Source::Memory { name: name.to_owned(), bytes: bytes.into() })
}

/// A triple of texts or numbers.
fn triple(item: &Bound<'_, PyAny>, at: usize) -> Outcome<[String; 3]> {
    let wrong = || Failure::data(format!("row {}: expected a triple of head, relation and tail", at + 1));
    let parts: Vec<Bound<'_, PyAny>> = match item.cast::<PyTuple>() {
        Ok(tuple) => tuple.iter().collect(),
        Err(_) if item.is_instance_of::<PyString>() => return Err(wrong()),
        Err(_) => item.extract().map_err(|_| wrong())?,
    };
    let [head, relation, tail] = <[_; 3]>::try_from(parts).map_err(|_| wrong())?;
    let name = |role: Role, part: &Bound<'_, PyAny>| -> Outcome<String> {
        if let Ok(text) = part.cast::<PyString>() {
            return Ok(text.to_str()?.to_owned());
        }
        if let Ok(number) = part.extract::<i64>() {
            return Ok(number.to_string());
        }
        let kind = part.get_type().name()?.to_string();
        let row = at + 1;
        Err(Failure::data(format!(
            "row {row}: the {} is of type {kind}, expected a string or an integer",
            role.name()
        )))
    };
    Ok([name(Role::Head, &head)?, name(Role::Relation, &relation)?, name(Role::Tail, &tail)?])
}

/// Where messages say that a row of a table is.
const TABLE: &str = "the table";

fn read_stream(
    stream: RecordBatchStreamReader,
    options: &ImportOptions,
    observer: &dyn Observer,
) -> Outcome<Imported> {
    let schema = stream.schema();
    let titles: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
    let columns: &Columns = &options.delimited.columns;
    let positions = columns.resolve_header(TABLE, &titles)?;
    import_rows::<Failure>(TABLE, "arrow", None, options, observer, |rows| {
        let mut buffers = [const { String::new() }; 3];
        for batch in stream {
            let batch = validated(batch)?;
            let [head, relation, tail] = positions.map(|at| NameColumn::new(&titles[at], batch.column(at)));
            let parts = [head?, relation?, tail?];
            for row in 0..batch.num_rows() {
                let [first, second, third] = &mut buffers;
                let names =
                    [parts[0].name(row, first), parts[1].name(row, second), parts[2].name(row, third)];
                match names {
                    [Some(head), Some(relation), Some(tail)] => rows.add(head, relation, tail)?,
                    _ => {
                        let null = names.iter().position(Option::is_none).unwrap_or(0);
                        rows.add_malformed(Role::ALL[null], "is null, expected a name")?;
                    }
                }
            }
        }
        Ok(())
    })
}

impl From<Imported> for GraphData {
    fn from(imported: Imported) -> Self {
        let Imported { graph, tasks, inputs, .. } = imported;
        Self { graph, tasks, inputs, store: None }
    }
}

impl From<Store> for GraphData {
    fn from(store: Store) -> Self {
        let (graph, tasks, inputs) =
            (store.graph.clone(), store.tasks.clone(), store.manifest.inputs.clone());
        Self { graph, tasks, inputs, store: Some(store) }
    }
}
