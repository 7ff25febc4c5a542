//! [`Table`]: a result as an Arrow table.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Int64Type};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, DataType};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyList};

use crate::arrow_capsules;
use crate::failure::Failure;
use crate::html;

/// Rows that are shown of a long table.
const SHOWN: usize = 20;

/// A table in memory. Anything that takes `__arrow_c_stream__` reads it without a copy: `polars.DataFrame(table)`,
/// `pyarrow.table(table)`, `pandas.DataFrame.from_arrow(table)`.
#[pyclass(frozen, module = "rana")]
pub(crate) struct Table {
    batch: RecordBatch,
}

impl Table {
    /// A table of columns with these names.
    pub(crate) fn new(columns: Vec<(&str, ArrayRef)>) -> Result<Self, ArrowError> {
        // A column of labels may have nulls though this one has none.
        let nullable = columns.into_iter().map(|(name, column)| (name, column, true));
        Ok(Self { batch: RecordBatch::try_from_iter_with_nullable(nullable)? })
    }
}

#[pymethods]
impl Table {
    /// The names of the columns.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.batch.schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    /// A row as a dictionary.
    fn __getitem__<'py>(&self, py: Python<'py>, row: isize) -> PyResult<Bound<'py, PyDict>> {
        let rows = self.batch.num_rows();
        let at = if row < 0 { row + rows as isize } else { row };
        let at = usize::try_from(at).ok().filter(|&at| at < rows);
        let at = at.ok_or_else(|| PyIndexError::new_err(format!("row {row} of a table of {rows} rows")))?;
        self.row(py, at)
    }

    /// All rows as dictionaries.
    #[pyo3(signature = () -> "list[dict[str, typing.Any]]")]
    fn to_pylist<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let rows = (0..self.batch.num_rows()).map(|at| self.row(py, at)).collect::<PyResult<Vec<_>>>()?;
        PyList::new(py, rows)
    }

    /// The column of a name, as a list.
    #[pyo3(signature = (name: "str") -> "list[typing.Any]")]
    fn column<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyList>> {
        let column = self.batch.column_by_name(name).ok_or_else(|| {
            let columns = self.columns().join(", ");
            Failure::data(format!("there is no column `{name}`; the columns are {columns}"))
                .into_exception(py)
        })?;
        let values = (0..column.len()).map(|at| value(py, column, at)).collect::<PyResult<Vec<_>>>()?;
        PyList::new(py, values)
    }

    /// The table as an Arrow stream, by the PyCapsule interface. A consumer that asks for another schema gets this one, and
    /// may cast it.
    #[pyo3(signature = (requested_schema: "object | None" = None) -> "typing.Any")]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        arrow_capsules::export(py, &self.batch)
    }

    fn __repr__(&self) -> String {
        let schema = self.batch.schema();
        let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
        let mut text = format!("Table of {} rows: {}", self.batch.num_rows(), names.join(", "));
        for at in 0..self.batch.num_rows().min(SHOWN) {
            text += &format!("\n  {}", self.texts(at).join("  "));
        }
        if self.batch.num_rows() > SHOWN {
            text += "\n  …";
        }
        text
    }

    fn _repr_html_(&self) -> String {
        let schema = self.batch.schema();
        let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
        let rows = self.batch.num_rows();
        let below = if rows > SHOWN { format!("{SHOWN} of {rows} rows") } else { format!("{rows} rows") };
        html::table(&names, (0..rows.min(SHOWN)).map(|at| self.texts(at)), &below)
    }
}

impl Table {
    fn row<'py>(&self, py: Python<'py>, at: usize) -> PyResult<Bound<'py, PyDict>> {
        let row = PyDict::new(py);
        for (field, column) in self.batch.schema().fields().iter().zip(self.batch.columns()) {
            row.set_item(field.name(), value(py, column, at)?)?;
        }
        Ok(row)
    }

    /// A row as it is shown.
    fn texts(&self, at: usize) -> Vec<String> {
        self.batch.columns().iter().map(|column| text(column, at)).collect()
    }
}

/// A value as Python has it.
fn value<'py>(py: Python<'py>, column: &ArrayRef, at: usize) -> PyResult<Bound<'py, PyAny>> {
    if column.is_null(at) {
        return Ok(py.None().into_bound(py));
    }
    Ok(match column.data_type() {
        DataType::Utf8 => column.as_string::<i32>().value(at).into_pyobject(py)?.into_any(),
        DataType::Int64 => column.as_primitive::<Int64Type>().value(at).into_pyobject(py)?.into_any(),
        DataType::Float32 => column.as_primitive::<Float32Type>().value(at).into_pyobject(py)?.into_any(),
        DataType::Boolean => column.as_boolean().value(at).into_pyobject(py)?.to_owned().into_any(),
        _ => {
            let list = column.as_list::<i32>().value(at);
            let values = (0..list.len()).map(|at| value(py, &list, at)).collect::<PyResult<Vec<_>>>()?;
            PyList::new(py, values)?.into_any()
        }
    })
}

/// A value as it is shown.
fn text(column: &ArrayRef, at: usize) -> String {
    if column.is_null(at) {
        return String::new();
    }
    match column.data_type() {
        DataType::Utf8 => column.as_string::<i32>().value(at).to_owned(),
        DataType::Int64 => column.as_primitive::<Int64Type>().value(at).to_string(),
        DataType::Float32 => format!("{:.3}", column.as_primitive::<Float32Type>().value(at)),
        DataType::Boolean => column.as_boolean().value(at).to_string(),
        _ => {
            let list = column.as_list::<i32>().value(at);
            let texts: Vec<String> = (0..list.len()).map(|at| text(&list, at)).collect();
            texts.join("; ")
        }
    }
}
