//! [`Graph`]: a knowledge graph.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::{ArrayRef, Int64Array, StringArray};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use rana::graph::format::{Column, Columns, Format, Source};
use rana::graph::{Fact, ImportOptions, Input, Literals, Store, TaskSet};

use crate::failure::{Failure, Outcome};
use crate::graph_source::{GraphSource, is_rdflib, path, rdflib_source};
use crate::html;
use crate::progress::Shown;
use crate::table::Table;
use crate::work::{Way, run};

/// A knowledge graph: facts of head, relation and tail, by names.
#[pyclass(frozen, module = "rana")]
pub(crate) struct Graph {
    data: Mutex<Option<GraphData>>,
}

/// What a graph is. A clone shares everything.
#[derive(Clone)]
pub(crate) struct GraphData {
    pub(crate) graph: rana::graph::Graph,
    pub(crate) tasks: TaskSet,
    /// What it was made from.
    pub(crate) inputs: Vec<Input>,
    /// The store that it was opened from, if it was.
    pub(crate) store: Option<Store>,
}

impl Graph {
    pub(crate) fn new(data: GraphData) -> Self {
        Self { data: Mutex::new(Some(data)) }
    }

    /// What it is.
    pub(crate) fn data(&self) -> Outcome<GraphData> {
        let data = self.data.lock().unwrap_or_else(PoisonError::into_inner).clone();
        data.ok_or_else(|| Failure::new("ClosedError", "the graph is closed"))
    }

    fn opened(&self, py: Python<'_>) -> PyResult<GraphData> {
        self.data().map_err(|failure| failure.into_exception(py))
    }
}

/// The columns that a caller names, in the order head, relation, tail.
fn columns(names: Option<[String; 3]>) -> Columns {
    match names {
        Some(names) => {
            let [head, relation, tail] = names.map(|name| Some(Column::Name(name)));
            Columns { head, relation, tail }
        }
        None => Columns::default(),
    }
}

fn read(
    py: Python<'_>,
    source: GraphSource,
    options: ImportOptions,
    progress: Option<Py<PyAny>>,
) -> PyResult<Graph> {
    let way = Way { threads: None, shown: Shown::new(progress) };
    run(py, way, move |watch| source.read(&options, watch)).map(Graph::new)
}

#[pymethods]
impl Graph {
    /// Reads files: delimited text, RDF or Parquet, told from content and name, also compressed.
    #[staticmethod]
    #[pyo3(signature = (
        *paths: "str | os.PathLike[str]",
        format: "str | None" = None,
        columns: "tuple[str, str, str] | None" = None,
        type_relations: "typing.Sequence[str]" = vec![],
        label_relations: "typing.Sequence[str]" = vec![],
        language: "str | None" = None,
        keep_literals: "bool" = false,
        lenient: "bool" = false,
        max_decompressed: "int | None" = None,
        progress: "bool | typing.Callable[[Progress], object] | None" = None,
    ) -> "Graph")]
    #[allow(clippy::too_many_arguments)]
    fn from_files(
        py: Python<'_>,
        paths: &Bound<'_, PyTuple>,
        format: Option<String>,
        columns: Option<[String; 3]>,
        type_relations: Vec<String>,
        label_relations: Vec<String>,
        language: Option<String>,
        keep_literals: bool,
        lenient: bool,
        max_decompressed: Option<u64>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let files = paths.iter().map(|item| {
            let found = path(&item).ok_or_else(|| Failure::data(format!("{item} is no path")));
            found.map(Source::from).map_err(|failure| failure.into_exception(py))
        });
        let files = files.collect::<PyResult<Vec<Source>>>()?;
        if files.is_empty() {
            return Err(Failure::data("there are no files").into_exception(py));
        }
        let format = format.map(|name| name.parse::<Format>()).transpose();
        let format = format.map_err(|error| Failure::data(error).into_exception(py))?;
        let mut options = ImportOptions {
            format,
            type_relations,
            label_relations,
            language,
            lenient,
            max_decompressed,
            literals: if keep_literals { Literals::Keep } else { Literals::Drop },
            ..ImportOptions::default()
        };
        options.delimited.columns = self::columns(columns);
        read(py, GraphSource::Files(files), options, progress)
    }

    /// Reads RDF: paths of files, or a graph or dataset of rdflib.
    #[staticmethod]
    #[pyo3(signature = (
        source: "str | os.PathLike[str] | typing.Any",
        *,
        type_relations: "typing.Sequence[str]" = vec![],
        label_relations: "typing.Sequence[str]" = vec![],
        language: "str | None" = None,
        keep_literals: "bool" = false,
        progress: "bool | typing.Callable[[Progress], object] | None" = None,
    ) -> "Graph")]
    fn from_rdf(
        py: Python<'_>,
        source: &Bound<'_, PyAny>,
        type_relations: Vec<String>,
        label_relations: Vec<String>,
        language: Option<String>,
        keep_literals: bool,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let found = match path(source) {
            Some(path) => Ok(path.into()),
            None if is_rdflib(source) => rdflib_source(source),
            None => Err(Failure::data("expected a path, or a graph of rdflib")),
        };
        let found = found.map_err(|failure| failure.into_exception(py))?;
        let options = ImportOptions {
            type_relations,
            label_relations,
            language,
            literals: if keep_literals { Literals::Keep } else { Literals::Drop },
            ..ImportOptions::default()
        };
        read(py, GraphSource::Files(vec![found]), options, progress)
    }

    /// Takes triples: anything with `__arrow_c_stream__` (polars, pandas 3, pyarrow, DuckDB), or tuples of head, relation and
    /// tail. `columns` names the columns of a table where its header does not say them. Names are strings or integers.
    #[staticmethod]
    #[pyo3(signature = (
        triples: "typing.Any",
        *,
        columns: "tuple[str, str, str] | None" = None,
        type_relations: "typing.Sequence[str]" = vec![],
        label_relations: "typing.Sequence[str]" = vec![],
        lenient: "bool" = false,
        progress: "bool | typing.Callable[[Progress], object] | None" = None,
    ) -> "Graph")]
    fn from_triples(
        py: Python<'_>,
        triples: &Bound<'_, PyAny>,
        columns: Option<[String; 3]>,
        type_relations: Vec<String>,
        label_relations: Vec<String>,
        lenient: bool,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let source = GraphSource::of(triples).and_then(|source| match source {
            GraphSource::Stream(_) | GraphSource::Facts(_) => Ok(source),
            _ => Err(Failure::data("expected a table or triples; files are read by `Graph.from_files`")),
        });
        let source = source.map_err(|failure| failure.into_exception(py))?;
        let mut options =
            ImportOptions { type_relations, label_relations, lenient, ..ImportOptions::default() };
        options.delimited.columns = self::columns(columns);
        read(py, source, options, progress)
    }

    /// The small graph that comes with rana: the UMLS semantic network, 135 entities, 46 relations, 6,529 facts.
    #[staticmethod]
    #[pyo3(signature = () -> "Graph")]
    fn umls(py: Python<'_>) -> PyResult<Self> {
        read(py, GraphSource::Files(vec![rana::umls()]), ImportOptions::default(), None)
    }

    /// Opens a store of `rana import` or of `Graph.save`. It is mapped into memory, not read.
    #[staticmethod]
    #[pyo3(signature = (path: "str | os.PathLike[str]") -> "Graph")]
    fn open(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        read(py, GraphSource::Store(path), ImportOptions::default(), None)
    }

    /// Writes the graph as a store, in place of the store that may be there.
    #[pyo3(signature = (path: "str | os.PathLike[str]") -> "None")]
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let GraphData { graph, tasks, inputs, .. } = self.opened(py)?;
        let way = Way { threads: None, shown: Shown::new(None) };
        run(py, way, move |_| Ok(Store::write(path, &graph, &tasks, inputs).map(|_| ())?))
    }

    /// How many entities it has.
    #[getter]
    fn entity_count(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.opened(py)?.graph.entity_count())
    }

    /// How many relations it has.
    #[getter]
    fn relation_count(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.opened(py)?.graph.relation_count())
    }

    /// How many facts it has.
    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.opened(py)?.graph.facts().len())
    }

    /// The relations: name, label, and how many facts each has.
    #[pyo3(signature = () -> "Table")]
    fn relations(&self, py: Python<'_>) -> PyResult<Table> {
        let graph = self.opened(py)?.graph;
        let mut facts = vec![0i64; graph.named_relation_count()];
        graph.facts().iter().for_each(|fact| facts[fact.relation.number()] += 1);
        let name: StringArray = graph.relations().map(|of| Some(graph.relation_name(of))).collect();
        let label: StringArray = graph.relations().map(|of| graph.relation_label(of)).collect();
        let facts: Int64Array = graph.relations().map(|of| Some(facts[of.number()])).collect();
        table(py, vec![("relation", Arc::new(name)), ("label", Arc::new(label)), ("facts", Arc::new(facts))])
    }

    /// The entities in the order of the rows of vectors: name and label.
    #[pyo3(signature = () -> "Table")]
    fn entities(&self, py: Python<'_>) -> PyResult<Table> {
        let graph = self.opened(py)?.graph;
        let name: StringArray = graph.entities().map(|of| Some(graph.entity_name(of))).collect();
        let label: StringArray = graph.entities().map(|of| graph.entity_label(of)).collect();
        table(py, vec![("entity", Arc::new(name)), ("label", Arc::new(label))])
    }

    /// The facts: head, relation, tail; those of one relation if it is named.
    #[pyo3(signature = (relation: "str | None" = None) -> "Table")]
    fn facts(&self, py: Python<'_>, relation: Option<&str>) -> PyResult<Table> {
        let graph = self.opened(py)?.graph;
        let wanted = relation.map(|name| rana::predictor::relation(&graph, name)).transpose();
        let wanted = wanted.map_err(|error| Failure::from(error).into_exception(py))?;
        let facts: Vec<&Fact> =
            graph.facts().iter().filter(|fact| wanted.is_none_or(|of| fact.relation == of)).collect();
        let head: StringArray = facts.iter().map(|fact| Some(graph.entity_name(fact.head))).collect();
        let relation: StringArray =
            facts.iter().map(|fact| Some(graph.relation_name(fact.relation))).collect();
        let tail: StringArray = facts.iter().map(|fact| Some(graph.entity_name(fact.tail))).collect();
        table(py, vec![("head", Arc::new(head)), ("relation", Arc::new(relation)), ("tail", Arc::new(tail))])
    }

    /// Gives the graph back; whatever is asked of it later raises `ClosedError`.
    fn close(&self) {
        self.data.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    #[pyo3(signature = () -> "Graph")]
    fn __enter__(of: Py<Self>) -> Py<Self> {
        of
    }

    #[pyo3(signature = (*_exception: "object") -> "None")]
    fn __exit__(&self, _exception: &Bound<'_, PyTuple>) {
        self.close();
    }

    fn __repr__(&self) -> String {
        match self.data() {
            Ok(GraphData { graph, .. }) => format!(
                "Graph of {} facts of {} relations between {} entities",
                graph.facts().len(),
                graph.relation_count(),
                graph.entity_count()
            ),
            Err(_) => "Graph, closed".to_owned(),
        }
    }

    fn _repr_html_(&self) -> String {
        let Ok(GraphData { graph, .. }) = self.data() else { return html::escaped(&self.__repr__()) };
        let facts = graph.facts_by_relation();
        let mut counts: Vec<(usize, String)> =
            graph.relations().map(|of| (facts.get(of.number()).len(), graph.relation_title(of))).collect();
        counts.sort_by(|one, other| other.cmp(one));
        let rows = counts.into_iter().take(10).map(|(count, title)| vec![title, count.to_string()]);
        html::table(&["relation", "facts"], rows, &self.__repr__())
    }
}

fn table(py: Python<'_>, columns: Vec<(&str, ArrayRef)>) -> PyResult<Table> {
    Table::new(columns).map_err(|error| Failure::from(error).into_exception(py))
}
