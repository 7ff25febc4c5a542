//! [`Embeddings`]: vectors as NumPy sees them.

use std::path::{Path, PathBuf};

use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rana::embed::{EmbeddingSet, Table as Rows};

use crate::failure::Outcome;
use crate::graph::Graph;
use crate::progress::Shown;
use crate::work::{Way, run};

/// The vectors of a graph: of its entities and of its relations.
#[pyclass(frozen, module = "rana")]
pub(crate) struct Embeddings {
    set: EmbeddingSet,
}

impl Embeddings {
    /// The vectors in a directory, which must be of the graph.
    pub(crate) fn of(path: &Path, graph: &rana::graph::Graph) -> Outcome<Self> {
        Ok(Self { set: EmbeddingSet::open(path, graph)? })
    }
}

#[pymethods]
impl Embeddings {
    /// Opens vectors of a graph, such as those of `rana embed`.
    #[staticmethod]
    #[pyo3(signature = (path: "str | os.PathLike[str]", graph: "Graph") -> "Embeddings")]
    fn open(py: Python<'_>, path: PathBuf, graph: &Bound<'_, Graph>) -> PyResult<Self> {
        let data = graph.get().data().map_err(|failure| failure.into_exception(py))?;
        let way = Way { threads: None, shown: Shown::silent() };
        run(py, way, move |_| Self::of(&path, &data.graph))
    }

    /// The name of the model that trained them.
    #[getter]
    fn model(&self) -> String {
        self.set.metadata.model.to_string()
    }

    /// How many numbers a vector has.
    #[getter]
    fn dim(&self) -> usize {
        self.set.entities.dim()
    }

    /// The vectors of the entities, in the order of `Graph.entities()`.
    #[getter]
    fn entities(&self) -> VectorTable {
        VectorTable { rows: self.set.entities.clone() }
    }

    /// The vectors of the relations, in the order of `Graph.relations()`; some models have two rows for each: the relation and
    /// its inverse.
    #[getter]
    fn relations(&self) -> VectorTable {
        VectorTable { rows: self.set.relations.clone() }
    }

    fn __repr__(&self) -> String {
        let Self { set } = self;
        format!(
            "Embeddings of {} entities by {}, {} numbers each",
            set.entities.rows(),
            self.model(),
            self.dim()
        )
    }
}

/// Vectors as an array of two dimensions. `numpy.asarray(table)` reads them in place: nothing is copied, and the array keeps
/// this object alive. They cannot be written.
#[pyclass(frozen, module = "rana")]
pub(crate) struct VectorTable {
    rows: Rows,
}

#[pymethods]
impl VectorTable {
    /// How many vectors there are, and how many numbers each has.
    #[getter]
    fn shape(&self) -> (usize, usize) {
        (self.rows.rows(), self.rows.dim())
    }

    fn __len__(&self) -> usize {
        self.rows.rows()
    }

    /// A vector as a list.
    fn __getitem__(&self, row: usize) -> PyResult<Vec<f32>> {
        match row < self.rows.rows() {
            true => Ok(self.rows.row(row).to_vec()),
            false => Err(PyIndexError::new_err(format!("row {row} of {}", self.rows.rows()))),
        }
    }

    /// Where the numbers are, for NumPy. The memory is mapped or owned by this object, which NumPy keeps alive.
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let interface = PyDict::new(py);
        interface.set_item("version", 3)?;
        interface.set_item("shape", self.shape())?;
        interface.set_item("typestr", if cfg!(target_endian = "little") { "<f4" } else { ">f4" })?;
        let is_read_only = true;
        interface.set_item("data", (self.rows.values().as_ptr() as usize, is_read_only))?;
        Ok(interface)
    }

    /// The vectors as a NumPy array, without a copy.
    #[pyo3(signature = () -> "numpy.typing.NDArray[numpy.float32]")]
    fn to_numpy<'py>(of: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        of.py().import("numpy")?.call_method1("asarray", (of,))
    }

    fn __repr__(&self) -> String {
        let (rows, numbers) = self.shape();
        format!("VectorTable of {rows} × {numbers}")
    }
}
