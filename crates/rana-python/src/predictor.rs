//! [`Predictor`]: a run that answers.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::{Float32Array, StringArray};
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};
use rana::fewshot::Direction;
use rana::graph::Pair;
use rana::predictor::{CandidateChoice, RelationRequest};
use rana::search::NameIndex;

use crate::arrow_capsules::{self, METHOD, validated};
use crate::embeddings::Embeddings;
use crate::failure::{Failure, Outcome};
use crate::graph::Graph;
use crate::html;
use crate::name_column::NameColumn;
use crate::progress::Shown;
use crate::relation::Relation;
use crate::table::Table;
use crate::work::{Way, run};

/// Completes relations of a graph, by a directory of `rana.learn` or a run of `rana.fit`, `rana train` or `rana fuse`.
///
/// It can be pickled: what is kept is the path, and the run is opened from it. `threads` limits how many threads it computes
/// on, for workers that share a machine. `graph` is where its graph is, if that has moved.
#[pyclass(frozen, module = "rana")]
pub(crate) struct Predictor {
    opened: Mutex<Option<rana::Predictor>>,
    path: PathBuf,
    moved_graph: Option<PathBuf>,
    threads: Option<usize>,
}

impl Predictor {
    pub(crate) fn new(
        opened: rana::Predictor,
        path: PathBuf,
        moved_graph: Option<PathBuf>,
        threads: Option<usize>,
    ) -> Self {
        Self { opened: Mutex::new(Some(opened)), path, moved_graph, threads }
    }

    fn opened(&self, py: Python<'_>) -> PyResult<rana::Predictor> {
        let opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner).clone();
        opened.ok_or_else(|| Failure::new("ClosedError", "the predictor is closed").into_exception(py))
    }

    fn way(&self) -> Way {
        Way { threads: self.threads, shown: Shown::silent() }
    }
}

/// A pair of names, or a table's worth of them.
fn pairs(object: &Bound<'_, PyAny>, what: &str) -> Outcome<Vec<[String; 2]>> {
    if object.hasattr(METHOD)? {
        let columns = names(object, &["head", "tail"])?;
        let [heads, tails] = <[Vec<String>; 2]>::try_from(columns).unwrap_or_default();
        return Ok(heads.into_iter().zip(tails).map(|(head, tail)| [head, tail]).collect());
    }
    let wrong =
        |at: usize| Failure::data(format!("{what}, number {}: expected a pair of head and tail", at + 1));
    let items =
        object.try_iter().map_err(|_| Failure::data(format!("{what}: expected pairs of head and tail")))?;
    let mut found = Vec::new();
    for (at, item) in items.enumerate() {
        let item = item?;
        if item.is_instance_of::<PyString>() {
            return Err(wrong(at));
        }
        found.push(item.extract::<[String; 2]>().map_err(|_| wrong(at))?);
    }
    Ok(found)
}

/// Columns of names of a table: by these titles, or the first ones if there are no others.
pub(crate) fn names(object: &Bound<'_, PyAny>, titles: &[&str]) -> Outcome<Vec<Vec<String>>> {
    use arrow_array::RecordBatchReader;
    let stream = arrow_capsules::import(object)?;
    let schema = stream.schema();
    let positions: Option<Vec<usize>> = titles.iter().map(|title| schema.index_of(title).ok()).collect();
    let positions = match positions {
        Some(positions) => positions,
        None if schema.fields().len() == titles.len() => (0..titles.len()).collect(),
        None => {
            let found: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
            let (wanted, found) = (titles.join("`, `"), found.join("`, `"));
            return Err(Failure::data(format!("expected the columns `{wanted}`; there are `{found}`")));
        }
    };
    let mut columns = vec![Vec::new(); titles.len()];
    let mut buffer = String::new();
    for batch in stream {
        let batch = validated(batch)?;
        for (column, &at) in columns.iter_mut().zip(&positions) {
            let of = NameColumn::new(schema.field(at).name(), batch.column(at))?;
            for row in 0..batch.num_rows() {
                let name = of.name(row, &mut buffer).ok_or_else(|| {
                    let (title, row) = (schema.field(at).name(), row + 1);
                    Failure::data(format!("the column `{title}`, row {row}: is null, expected a name"))
                })?;
                column.push(name.to_owned());
            }
        }
    }
    Ok(columns)
}

/// What the tails of a relation are looked for among, as a caller says it.
enum Candidates {
    Fitting,
    All,
    Listed(Vec<String>),
    Types(Vec<String>),
}

impl Candidates {
    fn of(candidates: Option<&Bound<'_, PyAny>>, types: Vec<String>) -> Outcome<Self> {
        let listed = match candidates {
            None if types.is_empty() => return Ok(Self::Fitting),
            None => return Ok(Self::Types(types)),
            Some(_) if !types.is_empty() => {
                return Err(Failure::data("give either candidates or types"));
            }
            Some(candidates) => candidates,
        };
        match listed.extract::<String>() {
            Ok(word) if word == "all" => Ok(Self::All),
            Ok(word) => Err(Failure::data(format!("candidates are `all` or a list of names, not `{word}`"))),
            Err(_) => Ok(Self::Listed(texts(listed, "candidates")?)),
        }
    }

    fn choice(self, predictor: &rana::Predictor) -> Outcome<CandidateChoice> {
        Ok(match self {
            Self::Fitting => CandidateChoice::Fitting,
            Self::All => CandidateChoice::All,
            Self::Listed(names) => {
                let found: Result<Vec<_>, _> = names.iter().map(|name| predictor.entity(name)).collect();
                CandidateChoice::Listed(found?)
            }
            Self::Types(names) => {
                let of = |name: &String| {
                    predictor.type_called(name).ok_or_else(|| Failure::Unknown {
                        class: "UnknownTypeError",
                        message: format!("there is no type `{name}` in the graph"),
                        name: name.clone(),
                        suggestions: Vec::new(),
                    })
                };
                CandidateChoice::Types(names.iter().map(of).collect::<Outcome<_>>()?)
            }
        })
    }
}

/// Names from a list, or from a table of one column.
pub(crate) fn texts(object: &Bound<'_, PyAny>, what: &str) -> Outcome<Vec<String>> {
    if object.hasattr(METHOD)? {
        return Ok(names(object, &["head"])?.into_iter().flatten().collect());
    }
    let wrong = || Failure::data(format!("{what}: expected a list of names"));
    let items = object.try_iter().map_err(|_| wrong())?;
    items.map(|item| item?.extract().map_err(|_| wrong())).collect()
}

#[pymethods]
impl Predictor {
    #[new]
    #[pyo3(signature = (
        path: "str | os.PathLike[str]",
        graph: "str | os.PathLike[str] | None" = None,
        threads: "int | None" = None,
    ))]
    fn open(py: Python<'_>, path: PathBuf, graph: Option<PathBuf>, threads: Option<usize>) -> PyResult<Self> {
        let (of, with) = (path.clone(), graph.clone());
        let way = Way { threads, shown: Shown::silent() };
        let opened = run(py, way, move |_| Ok(rana::Predictor::open(&of, with.as_deref())?))?;
        Ok(Self::new(opened, path, graph, threads))
    }

    /// Where the run is.
    #[getter]
    fn path(&self) -> String {
        self.path.display().to_string()
    }

    /// The name of the model.
    #[getter]
    fn model(&self, py: Python<'_>) -> PyResult<String> {
        Ok(self.opened(py)?.model_name().to_owned())
    }

    /// Its graph.
    #[getter]
    fn graph(&self, py: Python<'_>) -> PyResult<Graph> {
        Ok(Graph::new(self.opened(py)?.store().clone().into()))
    }

    /// Learns a relation from pairs of head and tail, which are names or labels: a list of tuples, or a table with the columns
    /// `head` and `tail`.
    ///
    /// Without pairs it is learned from the facts that the graph has. A relation that the graph does not have needs
    /// `new=True`. Pairs in `rejected` are said to be wrong. Answers are looked for among `candidates` (names, or "all") or
    /// the entities of `types`; otherwise among those that fit. Facts that the graph has are answered with `include_known=True`.
    #[pyo3(signature = (
        relation: "str",
        pairs: "typing.Any" = None,
        *,
        rejected: "typing.Any" = None,
        new: "bool" = false,
        candidates: "typing.Literal['all'] | typing.Iterable[str] | None" = None,
        types: "typing.Sequence[str]" = vec![],
        include_known: "bool" = false,
    ) -> "Relation")]
    #[allow(clippy::too_many_arguments)]
    fn learn(
        &self,
        py: Python<'_>,
        relation: String,
        pairs: Option<Bound<'_, PyAny>>,
        rejected: Option<Bound<'_, PyAny>>,
        new: bool,
        candidates: Option<Bound<'_, PyAny>>,
        types: Vec<String>,
        include_known: bool,
    ) -> PyResult<Relation> {
        let predictor = self.opened(py)?;
        let read = || -> Outcome<_> {
            let support = pairs.map(|pairs| self::pairs(&pairs, "pairs")).transpose()?;
            let rejected = rejected.map(|pairs| self::pairs(&pairs, "rejected")).transpose()?;
            Ok((support, rejected.unwrap_or_default(), Candidates::of(candidates.as_ref(), types)?))
        };
        let (support, rejected, candidates) = read().map_err(|failure| failure.into_exception(py))?;
        let threads = self.threads;
        run(py, self.way(), move |_| {
            let graph = predictor.graph();
            let known = match new {
                false => Some(predictor.relation(&relation)?),
                true if graph.relation(&graph.full_name(&relation)).is_some() => {
                    let message = format!("the graph has the relation `{relation}` already; leave out `new`");
                    return Err(Failure::new("RelationError", message));
                }
                true => None,
            };
            let named = |[head, tail]: &[String; 2]| -> Outcome<Pair> {
                Ok(Pair { head: predictor.entity(head)?, tail: predictor.entity(tail)? })
            };
            let support = match support {
                Some(pairs) => pairs.iter().map(named).collect::<Outcome<Vec<Pair>>>()?,
                None => known.and_then(|known| predictor.default_support(known)).unwrap_or_default(),
            };
            let rejected = rejected.iter().map(named).collect::<Outcome<Vec<Pair>>>()?;
            let candidates = candidates.choice(&predictor)?;
            let name = match known {
                Some(known) => graph.relation_name(known).to_owned(),
                None => graph.full_name(&relation),
            };
            let direction = Direction::Tails;
            let request =
                RelationRequest { relation: known, support, rejected, candidates, direction, include_known };
            let learned = Arc::new(predictor.learn(request)?);
            Ok(Relation::new(name, predictor.clone(), learned, threads))
        })
    }

    /// Entities by what people call them: names, labels, their beginnings, and what is misspelt.
    #[pyo3(signature = (text: "str", k: "int" = 10) -> "Table")]
    fn find(&self, py: Python<'_>, text: String, k: usize) -> PyResult<Table> {
        let predictor = self.opened(py)?;
        run(py, self.way(), move |_| {
            let graph = predictor.graph();
            let names: &NameIndex = predictor.names();
            let found = names.find(graph, &text, k);
            let name: StringArray = found.iter().map(|of| Some(graph.entity_name(of.entity))).collect();
            let label: StringArray = found.iter().map(|of| graph.entity_label(of.entity)).collect();
            Ok(Table::new(vec![("entity", Arc::new(name)), ("label", Arc::new(label))])?)
        })
    }

    /// The vectors of the run.
    #[pyo3(signature = () -> "Embeddings")]
    fn embeddings(&self, py: Python<'_>) -> PyResult<Embeddings> {
        let predictor = self.opened(py)?;
        run(py, self.way(), move |_| {
            let run = predictor.run();
            let path = run.manifest.vectors_at(&run.path, &predictor.store().path);
            Embeddings::of(&path, predictor.graph())
        })
    }

    /// What learning measured on relations that it left out: how good answers on a new relation are. None if the run is not of
    /// `rana.learn`, or no relation could be left out.
    #[pyo3(signature = () -> "Table | None")]
    fn quality(&self, py: Python<'_>) -> PyResult<Option<Table>> {
        let Some(quality) = rana::Quality::read(&self.path) else { return Ok(None) };
        let rows = &quality.rows;
        let name: StringArray = rows.iter().map(|row| Some(row.name.as_str())).collect();
        let number = |of: fn(&rana::QualityRow) -> Option<f64>| -> Float32Array {
            rows.iter().map(|row| of(row).map(|value| value as f32)).collect()
        };
        let table = Table::new(vec![
            ("model", Arc::new(name)),
            ("mrr", Arc::new(number(|row| Some(row.mrr)))),
            ("mrr_error", Arc::new(number(|row| row.mrr_error))),
            ("hits_at_10", Arc::new(number(|row| Some(row.hits_at_10)))),
        ]);
        table.map(Some).map_err(|error| Failure::from(error).into_exception(py))
    }

    /// Gives the run back; whatever is asked of it later raises `ClosedError`. Relations that were learned stay.
    fn close(&self) {
        self.opened.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    #[pyo3(signature = () -> "Predictor")]
    fn __enter__(of: Py<Self>) -> Py<Self> {
        of
    }

    #[pyo3(signature = (*_exception: "object") -> "None")]
    fn __exit__(&self, _exception: &Bound<'_, PyTuple>) {
        self.close();
    }

    #[pyo3(signature = () -> "tuple[type, tuple[str, str | None, int | None]]")]
    fn __reduce__<'py>(of: &Bound<'py, Self>) -> PyResult<Bound<'py, PyTuple>> {
        let Self { path, moved_graph, threads, .. } = of.get();
        let absolute = std::path::absolute(path)?;
        let graph = moved_graph.as_ref().map(std::path::absolute).transpose()?;
        let arguments = (absolute, graph, *threads).into_pyobject(of.py())?;
        PyTuple::new(of.py(), [of.get_type().into_any(), arguments.into_any()])
    }

    fn __repr__(&self) -> String {
        format!("Predictor({})", self.path.display())
    }

    fn _repr_html_(&self, py: Python<'_>) -> PyResult<String> {
        let predictor = self.opened(py)?;
        let quality = rana::Quality::read(&self.path);
        let rows = quality.iter().flat_map(|of| &of.rows).map(|row| {
            let number = |value: f64, error: Option<f64>| match error {
                Some(error) => format!("{value:.3} ± {error:.3}"),
                None => format!("{value:.3}"),
            };
            vec![
                row.name.clone(),
                number(row.mrr, row.mrr_error),
                number(row.hits_at_10, row.hits_at_10_error),
            ]
        });
        let measured = quality.as_ref().map_or_else(String::new, |of| {
            format!(
                ", measured on {} relations that were left out, {} known pairs each",
                of.relations.len(),
                of.shots
            )
        });
        let graph = predictor.graph();
        let below = format!("{} entities, {} facts{measured}", graph.entity_count(), graph.facts().len());
        Ok(html::table(&[predictor.model_name(), "MRR", "Hits@10"], rows, &below))
    }
}
